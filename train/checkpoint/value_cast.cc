// Each element goes through the widest type of its kind (int64, uint64, double) and is checked on the way
// out.
#include "train/checkpoint/value_cast.h"

#include <cmath>
#include <complex>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include "graph/float16.h"
#include "train/checkpoint/bundle_entry.h"

namespace runnel {
namespace {

double widest(Half value) { return value_of(value); }
double widest(Bfloat16 value) { return value_of(value); }
double widest(std::floating_point auto value) { return value; }
std::int64_t widest(std::signed_integral auto value) { return value; }
std::uint64_t widest(std::unsigned_integral auto value) { return value; }

template <class To>
To nearest(double value) {
  if constexpr (std::is_same_v<To, Half>) {
    return nearest_half(value);
  } else if constexpr (std::is_same_v<To, Bfloat16>) {
    return nearest_bfloat16(value);
  } else {
    return static_cast<To>(value);
  }
}

// True if an Integer holds the number exactly.
template <std::integral Integer>
bool holds(double value) {
  const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return value >= static_cast<double>(std::numeric_limits<Integer>::min()) && value < end &&
         std::trunc(value) == value;
}

// Sets `to` to the number; false if it cannot be.
template <class To, class Wide>
bool convert(Wide value, To& to) {
  if constexpr (std::integral<To> && std::integral<Wide>) {
    to = static_cast<To>(value);
    return std::in_range<To>(value);
  } else if constexpr (std::integral<To>) {
    if (!holds<To>(value)) return false;
    to = static_cast<To>(value);
    return true;
  } else if constexpr (std::integral<Wide>) {
    const double exact = static_cast<double>(value);
    to = nearest<To>(exact);
    return widest(to) == exact && holds<Wide>(exact) && static_cast<Wide>(exact) == value;
  } else {
    to = nearest<To>(value);
    return !std::isfinite(value) || std::isfinite(widest(to));
  }
}

template <class To, class From>
bool convert(std::complex<From> value, std::complex<To>& to) {
  To real = 0, imaginary = 0;
  const bool done = convert(static_cast<double>(value.real()), real) &&
                    convert(static_cast<double>(value.imag()), imaginary);
  to = {real, imaginary};
  return done;
}

template <class T>
struct Type {
  using type = T;
};

// Calls `call` with the C++ type of a dtype, of the numbers if `type` is one, else of the complex ones.
template <class Call>
void with_real(DType type, Call call) {
  switch (type) {
    case DType::kFloat: return call(Type<float>());
    case DType::kDouble: return call(Type<double>());
    case DType::kHalf: return call(Type<Half>());
    case DType::kBfloat16: return call(Type<Bfloat16>());
    case DType::kInt8: return call(Type<std::int8_t>());
    case DType::kInt16: return call(Type<std::int16_t>());
    case DType::kInt32: return call(Type<std::int32_t>());
    case DType::kInt64: return call(Type<std::int64_t>());
    case DType::kUint8: return call(Type<std::uint8_t>());
    case DType::kUint16: return call(Type<std::uint16_t>());
    case DType::kUint32: return call(Type<std::uint32_t>());
    case DType::kUint64: return call(Type<std::uint64_t>());
    default: throw Internal(cat("no number type: ", type));
  }
}
template <class Call>
void with_complex(DType type, Call call) {
  if (type == DType::kComplex64) return call(Type<std::complex<float>>());
  call(Type<std::complex<double>>());
}

template <class From, class To, class Widen>
void fill(const Tensor& value, Tensor& out, const std::string& name, Widen widen) {
  const auto from = value.values<From>();
  const auto to = out.mutable_values<To>();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!convert(widen(from[i]), to[i]))
      throw InvalidArgument(cat(quoted(name), " is stored as ", value.dtype(), value.shape(),
                                " and cannot be cast: ", out.dtype(), " cannot hold its element ", i, ", ",
                                widen(from[i])));
}

bool is_real(DType type) { return is_floating(type) || is_integer(type); }

}  // namespace

bool can_cast(DType from, DType to) {
  return from == to || (is_real(from) && is_real(to)) || (is_complex(from) && is_complex(to));
}

Tensor cast_value(const Tensor& value, DType to, const std::string& name) {
  if (value.dtype() == to) return value;
  Tensor out(to, value.shape());
  const auto with = [&](auto pick, auto widen) {
    pick(value.dtype(), [&]<class From>(Type<From>) {
      pick(to, [&]<class To>(Type<To>) { fill<From, To>(value, out, name, widen); });
    });
  };
  if (is_complex(to)) {
    with([](DType type, auto call) { with_complex(type, call); }, [](auto number) { return number; });
  } else {
    with([](DType type, auto call) { with_real(type, call); }, [](auto number) { return widest(number); });
  }
  return out;
}

}  // namespace runnel
