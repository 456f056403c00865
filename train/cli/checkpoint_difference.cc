// `runnel checkpoint diff`: two checkpoints, tensor by tensor. Values are the same if their bits are; numbers
// that differ are subtracted as long doubles, which hold every 64-bit integer.
#include <algorithm>
#include <cmath>
#include <complex>
#include <iostream>
#include <optional>
#include <set>

#include "graph/graph.h"
#include "train/cli/checkpoint_jobs.h"
#include "train/cli/json.h"
#include "train/cli/plain_values.h"
#include "train/train.h"

namespace runnel {
namespace {

struct Difference {
  std::string name;
  const char* kind = "";       // only_a, only_b, dtype, shape, values
  std::string a = {}, b = {};  // types with shapes
  std::int64_t elements = 0, differing = 0;
  std::optional<long double> largest = {};  // between numbers; NaN if one of a pair is not a number
  std::int64_t at = 0;                      // where it is
};

template <class T>
constexpr bool kNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template <class T>
bool same_bits(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string>)
    return a == b;
  else
    return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
std::optional<long double> distance(const T& a, const T& b) {
  if constexpr (kNumber<T>) {
    return std::abs(static_cast<long double>(a) - static_cast<long double>(b));
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return std::abs(std::complex<long double>(a) - std::complex<long double>(b));
  } else {
    return std::nullopt;
  }
}

// A distance that is not a number is larger than any.
bool exceeds(long double a, const std::optional<long double>& b) {
  return !b || (!std::isnan(*b) && (std::isnan(a) || a > *b));
}

template <class T>
void compare(const Tensor& a, const Tensor& b, Difference& out) {
  const auto left = a.values<T>(), right = b.values<T>();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (same_bits(left[i], right[i])) continue;
    ++out.differing;
    const auto apart = distance(left[i], right[i]);
    if (apart && exceeds(*apart, out.largest)) {
      out.largest = apart;
      out.at = static_cast<std::int64_t>(i);
    } else if (!apart && out.differing == 1) {
      out.at = static_cast<std::int64_t>(i);
    }
  }
}

void compare_any(const Tensor& a, const Tensor& b, Difference& out) {
  switch (a.dtype()) {
    case DType::kFloat: return compare<float>(a, b, out);
    case DType::kDouble: return compare<double>(a, b, out);
    case DType::kInt8: return compare<std::int8_t>(a, b, out);
    case DType::kInt16: return compare<std::int16_t>(a, b, out);
    case DType::kInt32: return compare<std::int32_t>(a, b, out);
    case DType::kInt64: return compare<std::int64_t>(a, b, out);
    case DType::kUint8: return compare<std::uint8_t>(a, b, out);
    case DType::kUint16: return compare<std::uint16_t>(a, b, out);
    case DType::kUint32: return compare<std::uint32_t>(a, b, out);
    case DType::kUint64: return compare<std::uint64_t>(a, b, out);
    case DType::kBool: return compare<bool>(a, b, out);
    case DType::kString: return compare<std::string>(a, b, out);
    case DType::kComplex64: return compare<std::complex<float>>(a, b, out);
    case DType::kComplex128: return compare<std::complex<double>>(a, b, out);
    default: out.differing = a.elements();  // a type without numbers, whose bits differ somewhere
  }
}

std::vector<std::int64_t> index_of(std::int64_t at, const Shape& shape) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(shape.rank()));
  for (std::size_t d = out.size(); d-- > 0; at /= shape[static_cast<int>(d)])
    out[d] = at % shape[static_cast<int>(d)];
  return out;
}

std::string type_of(const VariableInfo& variable) { return cat(variable.dtype, variable.shape); }

// Nothing if it is the same in both. Its values are read only where type and shape are the same.
std::optional<Difference> difference(const CheckpointReader& a, const CheckpointReader& b,
                                     const std::string& name) {
  if (!b.has(name)) return Difference{.name = name, .kind = "only_a", .a = type_of(a.info(name))};
  if (!a.has(name)) return Difference{.name = name, .kind = "only_b", .b = type_of(b.info(name))};
  Difference out{.name = name, .a = type_of(a.info(name)), .b = type_of(b.info(name))};
  out.kind = a.info(name).dtype != b.info(name).dtype ? "dtype" : out.a != out.b ? "shape" : "values";
  if (out.a != out.b) return out;
  const Tensor left = a.read(name), right = b.read(name);
  if (left == right) return std::nullopt;
  out.elements = left.elements();
  compare_any(plain_values(left), plain_values(right), out);
  return out;
}

std::string number(long double value) {
  return json_elements(Tensor::scalar(static_cast<double>(value)), 0, 1)[0];
}

std::string index_text(const std::vector<std::int64_t>& at) {
  return json_values(Tensor::vector(at), static_cast<std::int64_t>(at.size()));
}

std::string difference_json(const Difference& d, const std::vector<std::int64_t>& at) {
  std::string out = cat("{\"name\": ", json_text(d.name), ", \"kind\": \"", d.kind, "\"");
  if (!d.a.empty()) out += cat(", \"a\": ", json_text(d.a));
  if (!d.b.empty()) out += cat(", \"b\": ", json_text(d.b));
  if (d.differing > 0) {
    out += cat(", \"elements\": ", d.elements, ", \"differing\": ", d.differing,
               ", \"largest\": ", d.largest ? number(*d.largest) : "null", ", \"at\": ", index_text(at));
  }
  return out + "}";
}

std::string difference_line(const Difference& d, const std::vector<std::int64_t>& at) {
  const std::string name = shown_name(d.name);
  const std::string kind = d.kind;
  if (kind == "only_a") return cat(name, "  only in the first: ", d.a);
  if (kind == "only_b") return cat(name, "  only in the second: ", d.b);
  if (kind != "values") return cat(name, "  another ", kind, ": ", d.a, " and ", d.b);
  std::string out = cat(name, "  ", d.a, ": ", d.differing, " of ", d.elements, " values differ");
  if (d.largest) out += cat(", by ", number(*d.largest), " at most, at ", index_text(at));
  return out;
}

}  // namespace

void compare_checkpoints(const std::string& prefix_a, const std::string& prefix_b, bool json) {
  const CheckpointReader a(prefix_a), b(prefix_b);
  std::set<std::string> names;
  for (const CheckpointReader* reader : {&a, &b})
    for (const VariableInfo& variable : reader->variables()) names.insert(variable.name);
  std::vector<std::string> parts;
  std::size_t different = 0;
  for (const std::string& name : names) {
    const auto found = difference(a, b, name);
    if (!found) continue;
    ++different;
    std::vector<std::int64_t> at;
    if (found->differing > 0) at = index_of(found->at, a.info(name).shape);
    if (json)
      parts.push_back(difference_json(*found, at));
    else
      std::cout << difference_line(*found, at) << "\n";
  }
  const std::size_t same = names.size() - different;
  if (json)
    std::cout << "{\"a\": " << json_text(prefix_a) << ", \"b\": " << json_text(prefix_b)
              << ", \"same\": " << same << ", \"differences\": " << json_list(parts) << "}\n";
  else
    std::cout << same << " of " << names.size() << " tensors are the same\n";
  if (different > 0)
    throw FailedPrecondition(
        cat("'", prefix_a, "' and '", prefix_b, "' differ in ", different, " of ", names.size(), " tensors"));
}

}  // namespace runnel
