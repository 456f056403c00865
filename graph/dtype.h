// Element types under TensorFlow's numbers (formats: DataType), and the C++ type that holds one element of
// each. A ref type (the edge out of a ref variable) is the base type plus 100. Types with fewer than eight
// bits take one byte an element, as in TensorFlow's files.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace runnel {

enum class DType : std::int32_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
  kFloat8E4m3fnuz = 26,
  kFloat8E4m3b11fnuz = 27,
  kFloat8E5m2fnuz = 28,
  kInt4 = 29,
  kUint4 = 30,
  kInt2 = 31,
  kUint2 = 32,
  kFloat4E2m1fn = 33,
};

// Sixteen-bit floats are stored, copied and saved; only some kernels compute with them.
struct Half {
  std::uint16_t bits = 0;
  bool operator==(const Half&) const = default;
};
struct Bfloat16 {
  std::uint16_t bits = 0;
  bool operator==(const Bfloat16&) const = default;
};

bool is_ref(DType type);
DType ref_of(DType type);   // kFloat -> the type of an edge out of a float ref variable
DType base_of(DType type);  // the same without the ref
bool is_known(DType type);  // one of the above, or the ref of one

// Bytes an element takes; 0 for string, resource and variant, whose size varies.
std::size_t size_of(DType type);

// TensorFlow's name as OpDefs spell it: "float", "int32", "float_ref". Unknown numbers give "dtype(57)".
std::string name_of(DType type);
// The type of that name ("float32" and "float64" are understood too); kInvalid if there is none.
DType dtype_named(std::string_view name);
std::ostream& operator<<(std::ostream& out, DType type);

bool is_floating(DType type);  // half, bfloat16, float, double
bool is_integer(DType type);   // plain integers, not quantised, not bool
bool is_complex(DType type);
// Types through which gradients flow.
inline bool is_trainable(DType type) { return is_floating(base_of(type)) || is_complex(base_of(type)); }

// The DType of a C++ element type; does not compile for others.
template <class T>
inline constexpr DType kDTypeOf = DType::kInvalid;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat;
template <>
inline constexpr DType kDTypeOf<double> = DType::kDouble;
template <>
inline constexpr DType kDTypeOf<std::int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<std::int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<std::uint8_t> = DType::kUint8;
template <>
inline constexpr DType kDTypeOf<std::uint16_t> = DType::kUint16;
template <>
inline constexpr DType kDTypeOf<std::uint32_t> = DType::kUint32;
template <>
inline constexpr DType kDTypeOf<std::uint64_t> = DType::kUint64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<std::string> = DType::kString;
template <>
inline constexpr DType kDTypeOf<std::complex<float>> = DType::kComplex64;
template <>
inline constexpr DType kDTypeOf<std::complex<double>> = DType::kComplex128;
template <>
inline constexpr DType kDTypeOf<Half> = DType::kHalf;
template <>
inline constexpr DType kDTypeOf<Bfloat16> = DType::kBfloat16;

template <class T>
constexpr DType dtype_of() {
  static_assert(kDTypeOf<T> != DType::kInvalid,
                "no tensor element type: use float, double, an intN_t, bool or std::string");
  return kDTypeOf<T>;
}

}  // namespace runnel
