// Fill, ZerosLike, OnesLike and Range: tensors made from next to nothing.
#include <algorithm>
#include <complex>

#include "kernels/array/strided_copy.h"

namespace runnel {
namespace {

const KernelRegistration kFill{"Fill", any, [](Bind& b) {
                                 const std::int64_t n = b.output("output").shape.elements();
                                 bind_copy(b, "value", "output", {b.output("output").dtype, {{n, 0, 1}}});
                               }};

const KernelRegistration kZerosLike{
    "ZerosLike", any, [](Bind& b) {
      const DType type = b.output("y").dtype;
      const std::int64_t n = b.output("y").shape.elements();
      // A pattern checks that the type is one whose elements may be cleared.
      const StridedCopy checked(type, {{n, 0, 1}});
      b.run([type, n, y = b.out<std::byte>("y")](Context& c) { clear_elements(type, c[y], n); });
    }};

template <class T>
T one() {
  if constexpr (std::is_same_v<T, Half>)
    return {0x3c00};
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return {0x3f80};
  else
    return T(1);
}

const KernelRegistration kOnesLike{
    "OnesLike",
    on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
       std::uint32_t, std::uint64_t, bool, Half, Bfloat16, std::complex<float>, std::complex<double>>,
    []<class T>(Bind& b) {
      b.run([n = b.output("y").shape.elements(), y = b.out<T>("y")](Context& c) {
        std::fill_n(c[y], n, one<T>());
      });
    }};

// Integers wrap on the way: a range may be longer than half of what its type holds.
template <class T>
T element(T start, T delta, std::int64_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(start) +
                          static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta));
  else
    return start + static_cast<T>(i) * delta;
}

const KernelRegistration kRange{
    "Range",
    on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t,
       std::uint64_t>("Tidx"),
    []<class T>(Bind& b) {
      const T start = b.value("start").scalar<T>(), delta = b.value("delta").scalar<T>();
      b.run([n = b.output("output").shape.elements(), start, delta, y = b.out<T>("output")](Context& c) {
        T* out = c[y];
        for (std::int64_t i = 0; i < n; ++i) out[i] = element(start, delta, i);
      });
    }};

}  // namespace
}  // namespace runnel
