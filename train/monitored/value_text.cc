// Scalars are written as NumPy writes them, so that a log line looks like TensorFlow's; arrays without its
// columns and line ends.
#include "train/monitored/value_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string_view>

#include "graph/float16.h"

namespace runnel {
namespace {

constexpr std::int64_t kShownWhole = 1000;  // elements; of more, each dimension shows its ends
constexpr std::int64_t kEnd = 3;            // so many at each end

template <std::floating_point T>
std::string element_text(T value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const T size = std::abs(value);
  const bool plain = size == 0 || (size >= T{1e-4} && size < T{1e16});
  std::array<char, 64> room{};
  const auto end = std::to_chars(room.data(), room.data() + room.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(room.data(), end.ptr);
  if (plain && text.find('.') == text.npos) text += ".0";
  return text;
}
template <std::integral T>
std::string element_text(T value) {
  return std::to_string(value);
}
std::string element_text(bool value) { return value ? "True" : "False"; }
std::string element_text(Half value) { return element_text(static_cast<float>(value_of(value))); }
std::string element_text(Bfloat16 value) { return element_text(static_cast<float>(value_of(value))); }
template <class T>
std::string element_text(std::complex<T> value) {
  const std::string imaginary = element_text(value.imag());
  return cat("(", element_text(value.real()), imaginary.front() == '-' ? "" : "+", imaginary, "j)");
}
std::string element_text(const std::string& value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      text += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      text.append("\\x").append({kHex[byte >> 4], kHex[byte & 15]});
    else
      text += c;
  }
  return text;
}

template <class T>
class Writer {
 public:
  explicit Writer(const Tensor& tensor)
      : shape_(tensor.shape()), values_(tensor.values<T>()), whole_(tensor.elements() <= kShownWhole) {}

  std::string text() {
    write(0);
    return std::move(out_);
  }

 private:
  void write(int dimension) {
    if (dimension == shape_.rank()) {
      out_ += element_text(values_[at_++]);
      return;
    }
    const std::int64_t size = shape_[dimension];
    out_ += '[';
    for (std::int64_t i = 0; i < size; ++i) {
      if (i > 0) out_ += ' ';
      if (!whole_ && i == kEnd && size > 2 * kEnd) {
        out_ += "... ";
        at_ += static_cast<std::size_t>((size - 2 * kEnd) * inner(dimension));
        i = size - kEnd;
      }
      write(dimension + 1);
    }
    out_ += ']';
  }
  // Elements below one index of the dimension.
  std::int64_t inner(int dimension) const {
    std::int64_t count = 1;
    for (int d = dimension + 1; d < shape_.rank(); ++d) count *= shape_[d];
    return count;
  }

  const Shape shape_;
  const std::span<const T> values_;
  const bool whole_;
  std::size_t at_ = 0;
  std::string out_;
};

template <class T>
std::string text_of(const Tensor& tensor) {
  return Writer<T>(tensor).text();
}

}  // namespace

std::string value_text(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat: return text_of<float>(tensor);
    case DType::kDouble: return text_of<double>(tensor);
    case DType::kHalf: return text_of<Half>(tensor);
    case DType::kBfloat16: return text_of<Bfloat16>(tensor);
    case DType::kInt8: return text_of<std::int8_t>(tensor);
    case DType::kInt16: return text_of<std::int16_t>(tensor);
    case DType::kInt32: return text_of<std::int32_t>(tensor);
    case DType::kInt64: return text_of<std::int64_t>(tensor);
    case DType::kUint8: return text_of<std::uint8_t>(tensor);
    case DType::kUint16: return text_of<std::uint16_t>(tensor);
    case DType::kUint32: return text_of<std::uint32_t>(tensor);
    case DType::kUint64: return text_of<std::uint64_t>(tensor);
    case DType::kBool: return text_of<bool>(tensor);
    case DType::kComplex64: return text_of<std::complex<float>>(tensor);
    case DType::kComplex128: return text_of<std::complex<double>>(tensor);
    case DType::kString: return text_of<std::string>(tensor);
    default: return tensor.text();
  }
}

}  // namespace runnel
