// Assert: an error that shows tensors, written as TensorFlow writes them: the first elements in row-major
// order, rows in brackets, "..." where the rest is left out, floats with as many digits as tell them from
// their neighbours (6 or 9, 15 or 17).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/float16.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

template <class T>
std::string float_text(T value, int few, int enough) {
  if (std::isnan(value)) return "nan";
  char digits[40];
  auto end = std::to_chars(digits, std::end(digits), value, std::chars_format::general, few).ptr;
  T again{};
  (void)std::from_chars(digits, end, again);
  if (again != value)
    end = std::to_chars(digits, std::end(digits), value, std::chars_format::general, enough).ptr;
  return std::string(digits, end);
}

// Control characters, quotes and backslashes escaped as in C; other bytes as they are.
std::string escaped(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t') {
      out.append({'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'});
    } else if (code < 0x20 || code == 0x7f) {
      out.append({'\\', static_cast<char>('0' + code / 64), static_cast<char>('0' + code / 8 % 8),
                  static_cast<char>('0' + code % 8)});
    } else {
      if (c == '"' || c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string text_of(float value) { return float_text(value, 6, 9); }
std::string text_of(double value) { return float_text(value, 15, 17); }
std::string text_of(Half value) { return text_of(static_cast<float>(value_of(value))); }
std::string text_of(Bfloat16 value) { return text_of(static_cast<float>(value_of(value))); }
std::string text_of(const std::string& value) { return escaped(value); }
template <class T>
requires std::is_integral_v<T> std::string text_of(T value) { return std::to_string(value); }

template <class T>
std::string element_text(const void* elements, std::int64_t i) {
  return text_of(static_cast<const T*>(elements)[i]);
}

// How an element of this dtype is written; null if it has no text.
std::string (*writer_of(DType type))(const void*, std::int64_t) {
  switch (type) {
    case DType::kFloat: return element_text<float>;
    case DType::kDouble: return element_text<double>;
    case DType::kHalf: return element_text<Half>;
    case DType::kBfloat16: return element_text<Bfloat16>;
    case DType::kInt8: return element_text<std::int8_t>;
    case DType::kInt16: return element_text<std::int16_t>;
    case DType::kInt32: return element_text<std::int32_t>;
    case DType::kInt64: return element_text<std::int64_t>;
    case DType::kUint8: return element_text<std::uint8_t>;
    case DType::kUint16: return element_text<std::uint16_t>;
    case DType::kUint32: return element_text<std::uint32_t>;
    case DType::kUint64: return element_text<std::uint64_t>;
    case DType::kBool: return element_text<bool>;
    case DType::kString: return element_text<std::string>;
    default: return nullptr;
  }
}

class Summary {
 public:
  Summary(Tensor tensor, std::int64_t limit)
      : tensor_(std::move(tensor)),
        limit_(limit < 0 ? tensor_.elements() : std::min(limit, tensor_.elements())) {}

  std::string text() {
    const auto write = writer_of(tensor_.dtype());
    if (!write) return "?";
    if (tensor_.elements() > 0 && limit_ > 0) write_dimension(0, write);
    if (limit_ < tensor_.elements()) out_ += "...";
    return out_;
  }

 private:
  using Write = std::string (*)(const void*, std::int64_t);

  void write_dimension(int d, Write write) {
    const Shape& shape = tensor_.shape();
    if (d >= shape.rank() - 1) {
      write_row(shape.rank() == 0 ? 1 : shape[d], d > 0, write);
      return;
    }
    for (std::int64_t i = 0; i < shape[d] && next_ < limit_; ++i) {
      out_ += '[';
      write_dimension(d + 1, write);
      out_ += ']';
    }
  }

  void write_row(std::int64_t n, bool inner, Write write) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (next_ >= limit_) {
        if (inner) out_ += "...";
        return;
      }
      if (i > 0) out_ += ' ';
      out_ += write(tensor_.data(), next_++);
    }
  }

  Tensor tensor_;
  std::int64_t limit_, next_ = 0;
  std::string out_ = "";
};

const KernelRegistration kAssert{
    "Assert", any, [](Bind& b) {
      std::vector<int> data;
      for (int k = 0; k < b.count("data"); ++k) data.push_back(b.in<std::byte>("data", k).slot);
      b.run([holds = b.in<bool>("condition"), data, limit = b.integer("summarize")](Context& c) {
        if (*c[holds]) return;
        std::string text = "assertion failed:";
        for (const int slot : data)
          text.append(" [").append(Summary(c.tensor(slot), limit).text()).append("]");
        throw InvalidArgument(text);
      });
    }};

}  // namespace
}  // namespace runnel
