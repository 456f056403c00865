// Bits of sixteen-bit floats are moved to where a float has them.
#include "train/cli/plain_values.h"

#include <bit>
#include <cmath>

namespace runnel {
namespace {

float number(Bfloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

// Sign, 5 bits of exponent biased by 15, 10 of fraction (IEEE 754).
float number(Half value) {
  constexpr int kInfinite = 31;
  const int exponent = value.bits >> 10 & 31, fraction = value.bits & 1023;
  const float size = exponent == kInfinite ? (fraction == 0 ? HUGE_VALF : std::nanf(""))
                     : exponent == 0       ? std::ldexp(static_cast<float>(fraction), -24)
                                           : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (value.bits & 0x8000) != 0 ? -size : size;
}

template <class T>
Tensor as_floats(const Tensor& tensor) {
  Tensor out(DType::kFloat, tensor.shape());
  float* to = out.mutable_values<float>().data();
  for (const T value : tensor.values<T>()) *to++ = number(value);
  return out;
}

Tensor as_type(const Tensor& tensor, DType type) { return {type, tensor.shape(), tensor.buffer()}; }

}  // namespace

Tensor plain_values(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kHalf: return as_floats<Half>(tensor);
    case DType::kBfloat16: return as_floats<Bfloat16>(tensor);
    case DType::kQint8:
    case DType::kInt4:
    case DType::kInt2: return as_type(tensor, DType::kInt8);
    case DType::kQuint8:
    case DType::kUint4:
    case DType::kUint2: return as_type(tensor, DType::kUint8);
    case DType::kQint16: return as_type(tensor, DType::kInt16);
    case DType::kQuint16: return as_type(tensor, DType::kUint16);
    case DType::kQint32: return as_type(tensor, DType::kInt32);
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E4m3b11fnuz:
    case DType::kFloat8E5m2fnuz:
    case DType::kFloat4E2m1fn: return as_type(tensor, DType::kUint8);
    default: return tensor;
  }
}

}  // namespace runnel
