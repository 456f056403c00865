// SparseToDense: all places are checked before memory is taken, then the default and the values are written.
// Places in ascending order have ascending numbers, so one number a place tells order and repetition.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

template <class I>
struct Places {
  In<I> indices, dims;
  std::int64_t count, rank;
  bool ascending;

  Shape shape(Context& c) const {
    Shape out;
    for (std::int64_t d = 0; d < rank; ++d) {
      if (c[dims][d] < 0) throw InvalidArgument(cat("output_shape holds a dimension of ", c[dims][d]));
      out.push_back(c[dims][d]);
    }
    return out;
  }

  // The place of index i in the row-major result. Requires: check().
  std::int64_t number(Context& c, std::int64_t i) const {
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < rank; ++d) at = at * c[dims][d] + c[indices][i * rank + d];
    return at;
  }

  // Requires: a shape whose number of elements is a number.
  void check(Context& c) const {
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t d = 0; d < rank; ++d)
        if (const I index = c[indices][i * rank + d]; index < 0 || index >= c[dims][d])
          throw InvalidArgument(
              cat("sparse_indices[", i, "] is ", text(c, i), ", outside of the shape ", shape(c)));
      const std::int64_t at = number(c, i);
      if (ascending && at <= before)
        throw InvalidArgument(cat("sparse_indices[", i, "], ", text(c, i),
                                  at == before ? ", is repeated" : ", is out of order"));
      before = at;
    }
  }

  std::string text(Context& c, std::int64_t i) const {
    std::string out = "[";
    for (std::int64_t d = 0; d < rank; ++d) out += cat(d > 0 ? "," : "", c[indices][i * rank + d]);
    return out + "]";
  }
};

template <class T, class I>
void bind_places(Bind& b) {
  const Shape indices = b.input("sparse_indices").shape;
  const Places<I> places{b.in<I>("sparse_indices"), b.in<I>("output_shape"),
                         indices.rank() == 0 ? 1 : indices[0], b.input("output_shape").shape[0],
                         b.flag("validate_indices")};
  const std::int64_t step = b.input("sparse_values").shape.rank() == 0 ? 0 : 1;
  b.run([places, step, values = b.in<T>("sparse_values"), filling = b.in<T>("default_value"),
         dense = b.out<T>("dense")](Context& c) {
    const Shape shape = places.shape(c);
    const std::int64_t elements = shape.elements();
    places.check(c);
    T* const to = c.room(dense, shape);
    std::fill_n(to, elements, c[filling][0]);
    for (std::int64_t i = 0; i < places.count; ++i) to[places.number(c, i)] = c[values][i * step];
  });
}

const KernelRegistration kSparseToDense{
    "SparseToDense",
    on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
       std::uint32_t, std::uint64_t, bool, Half, Bfloat16, std::complex<float>, std::complex<double>,
       std::string>,
    []<class T>(Bind& b) {
      if (b.input("sparse_indices").dtype == DType::kInt64) return bind_places<T, std::int64_t>(b);
      bind_places<T, std::int32_t>(b);
    }};

}  // namespace
}  // namespace runnel
