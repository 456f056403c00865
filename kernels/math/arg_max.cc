// ArgMax and ArgMin along one dimension: outer x dimension x inner.
#include <cstdint>
#include <functional>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

// An element takes the place of the best one only if it is truly better, so the first of equal ones wins and
// NaN never does, unless it comes first.
template <class T, class Better>
std::int64_t best_of(const T* x, std::int64_t n, std::int64_t stride, Better better) {
  std::int64_t best = 0;
  T value = x[0];
  for (std::int64_t i = 1; i < n; ++i) {
    const T other = x[i * stride];
    if (better(other, value) || (value != value && other == other)) {
      best = i;
      value = other;
    }
  }
  return best;
}

template <class T, class Index, class Better>
void bind_arg(Bind& b, Better better) {
  const Shape& shape = b.input("input").shape;
  const std::int64_t given = integers(b.value("dimension"))[0];
  const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= shape[i];
  const std::int64_t n = shape[axis];
  if (n == 0 && outer * inner != 0)
    throw InvalidArgument(
        cat("dimension ", axis, " of the input ", shape, " is empty: it has no largest element"));
  b.run([=, in = b.in<T>("input"), out = b.out<Index>("output")](Context& c) {
    const T* x = c[in];
    Index* y = c[out];
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i)
        *y++ = static_cast<Index>(best_of(x + o * n * inner + i, n, inner, better));
  });
}

template <class T, class Better>
void bind_index(Bind& b, Better better) {
  const DType index = b.type("output_type");
  if (index == DType::kInt32) return bind_arg<T, std::int32_t>(b, better);
  if (index == DType::kInt64) return bind_arg<T, std::int64_t>(b, better);
  throw Unimplemented(cat("output_type ", index, " has no kernel: take int32 or int64"));
}

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint8_t;
constexpr auto kTypes = on<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, bool>;
const KernelRegistration kArgMax{"ArgMax", kTypes,
                                 []<class T>(Bind& b) { bind_index<T>(b, std::greater<T>()); }};
const KernelRegistration kArgMin{"ArgMin", kTypes,
                                 []<class T>(Bind& b) { bind_index<T>(b, std::less<T>()); }};

}  // namespace
}  // namespace runnel
