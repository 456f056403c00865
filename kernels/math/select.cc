// Select and SelectV2: each element from one of two tensors. Select has one flag for all, for a row, or for
// an element; SelectV2 broadcasts all three. Elements are only moved, so those of one size share their code.
#include <algorithm>
#include <array>
#include <complex>
#include <vector>

#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

struct Slots {
  In<bool> condition;
  int t, e, out;
};

// Elements of type E, one flag for `row` of them.
template <class E>
void bind_select_of(Bind& b, const Slots& s) {
  const std::int64_t n = b.output("output").shape.elements();
  const std::int64_t flags = b.input("condition").shape.elements();
  const In<E> t{s.t}, e{s.e};
  const Out<E> out{s.out};
  if (n == 0) return b.run([](Context&) {});
  const std::int64_t row = n / flags;
  if (row == 1)
    return b.run([=, condition = s.condition](Context& c) {
      const bool* flag = c[condition];
      const E *yes = c[t], *no = c[e];
      E* to = c[out];
      for (std::int64_t i = 0; i < n; ++i) to[i] = flag[i] ? yes[i] : no[i];
    });
  b.run([=, condition = s.condition](Context& c) {
    for (std::int64_t i = 0; i < flags; ++i) {
      const E* from = (c[condition][i] ? c[t] : c[e]) + i * row;
      std::copy_n(from, row, c[out] + i * row);
    }
  });
}

// Strides of `shape` seen as one of rank `rank`: 0 along what is stretched.
std::vector<std::int64_t> strides_of(const Shape& shape, int rank) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(rank), 0);
  std::int64_t stride = 1;
  for (int i = 1; i <= shape.rank(); ++i) {
    const std::int64_t dim = shape[shape.rank() - i];
    if (dim != 1) strides[static_cast<std::size_t>(rank - i)] = stride;
    stride *= dim;
  }
  return strides;
}

// Where element i of the result lies in an input with these strides.
std::int64_t place(std::int64_t i, const Shape& shape, const std::vector<std::int64_t>& strides) {
  std::int64_t at = 0;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at += i % shape[d] * strides[static_cast<std::size_t>(d)];
    i /= shape[d];
  }
  return at;
}

template <class E>
void bind_stretched_select(Bind& b, const Slots& s) {
  const Shape shape = b.output("output").shape;
  if (b.input("condition").shape == shape && b.input("t").shape == shape && b.input("e").shape == shape)
    return bind_select_of<E>(b, s);
  const auto of_flag = strides_of(b.input("condition").shape, shape.rank());
  const auto of_t = strides_of(b.input("t").shape, shape.rank());
  const auto of_e = strides_of(b.input("e").shape, shape.rank());
  b.run([=, n = shape.elements(), t = In<E>{s.t}, e = In<E>{s.e}, out = Out<E>{s.out},
         condition = s.condition](Context& c) {
    for (std::int64_t i = 0; i < n; ++i)
      c[out][i] =
          c[condition][place(i, shape, of_flag)] ? c[t][place(i, shape, of_t)] : c[e][place(i, shape, of_e)];
  });
}

// What stands for an element of `size` bytes.
using Sixteen = std::array<std::uint64_t, 2>;

template <class T, bool stretched>
void bind_select(Bind& b) {
  const Slots s{b.in<bool>("condition"), b.in<T>("t").slot, b.in<T>("e").slot, b.out<T>("output").slot};
  const auto bind = [&]<class E>(const E&) {
    stretched ? bind_stretched_select<E>(b, s) : bind_select_of<E>(b, s);
  };
  if constexpr (std::is_same_v<T, std::string>)
    bind(std::string());
  else if constexpr (sizeof(T) == 1)
    bind(std::uint8_t{});
  else if constexpr (sizeof(T) == 2)
    bind(std::uint16_t{});
  else if constexpr (sizeof(T) == 4)
    bind(std::uint32_t{});
  else if constexpr (sizeof(T) == 8)
    bind(std::uint64_t{});
  else
    bind(Sixteen{});
}

constexpr auto kTypes = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                           std::uint16_t, std::uint32_t, std::uint64_t, bool, std::string, Half, Bfloat16,
                           std::complex<float>, std::complex<double>>;

const KernelRegistration kSelect{"Select", kTypes, []<class T>(Bind& b) { bind_select<T, false>(b); }};
const KernelRegistration kSelectV2{"SelectV2", kTypes, []<class T>(Bind& b) { bind_select<T, true>(b); }};

}  // namespace
}  // namespace runnel
