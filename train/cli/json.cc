// No tree is built: every part is text that its caller puts together.
#include "train/cli/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "graph/utf8.h"

namespace runnel {
namespace {

std::string escaped_byte(unsigned char byte) {
  static const char* kHex = "0123456789abcdef";
  return {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
}

template <class T>
std::string number(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(value)) return std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

template <class T>
std::vector<std::string> listed(const Tensor& tensor, std::int64_t first, std::int64_t most) {
  std::vector<std::string> parts;
  first = std::min(first, tensor.elements());
  for (const T& value :
       tensor.values<T>().subspan(static_cast<std::size_t>(first),
                                  static_cast<std::size_t>(std::min(most, tensor.elements() - first)))) {
    if constexpr (std::is_same_v<T, std::string>) {
      parts.push_back(json_text(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      parts.emplace_back(value ? "true" : "false");
    } else if constexpr (std::is_arithmetic_v<T>) {
      parts.push_back(number(value));
    } else {
      parts.push_back(json_list({number(value.real()), number(value.imag())}));
    }
  }
  return parts;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text), 1);
    if (byte == '"' || byte == '\\') {
      out += {'\\', static_cast<char>(byte)};
    } else if (byte < ' ' || byte == 0x7f || utf8_sequence_length(text) == 0) {
      out += escaped_byte(byte);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + "\"";
}

std::string json_list(const std::vector<std::string>& parts) {
  std::string out = "[";
  for (const std::string& part : parts) out += (out.size() > 1 ? ", " : "") + part;
  return out + "]";
}

std::string json_shape(const Shape& shape) {
  if (!shape.has_rank()) return "null";
  std::vector<std::string> dims;
  for (const std::int64_t dim : shape.dims()) dims.push_back(dim < 0 ? "null" : std::to_string(dim));
  return json_list(dims);
}

std::vector<std::string> json_elements(const Tensor& tensor, std::int64_t first, std::int64_t most) {
  switch (tensor.dtype()) {
    case DType::kFloat: return listed<float>(tensor, first, most);
    case DType::kDouble: return listed<double>(tensor, first, most);
    case DType::kInt8: return listed<std::int8_t>(tensor, first, most);
    case DType::kInt16: return listed<std::int16_t>(tensor, first, most);
    case DType::kInt32: return listed<std::int32_t>(tensor, first, most);
    case DType::kInt64: return listed<std::int64_t>(tensor, first, most);
    case DType::kUint8: return listed<std::uint8_t>(tensor, first, most);
    case DType::kUint16: return listed<std::uint16_t>(tensor, first, most);
    case DType::kUint32: return listed<std::uint32_t>(tensor, first, most);
    case DType::kUint64: return listed<std::uint64_t>(tensor, first, most);
    case DType::kBool: return listed<bool>(tensor, first, most);
    case DType::kString: return listed<std::string>(tensor, first, most);
    case DType::kComplex64: return listed<std::complex<float>>(tensor, first, most);
    case DType::kComplex128: return listed<std::complex<double>>(tensor, first, most);
    default: return {};
  }
}

std::string json_values(const Tensor& tensor, std::int64_t most) {
  const std::vector<std::string> parts = json_elements(tensor, 0, most);
  if (parts.empty() && tensor.elements() > 0 && most > 0) return "null";
  return json_list(parts);
}

}  // namespace runnel
