// Tensors: making, copy on write, comparing and printing.
#include "graph/tensor.h"

#include <cstring>
#include <ostream>

namespace runnel {
namespace {

constexpr std::int64_t kShown = 8;  // elements that text() prints before it cuts

template <class T>
void print(std::ostream& out, const void* data, std::int64_t i) {
  const T value = static_cast<const T*>(data)[i];
  if constexpr (sizeof(T) == 1) {
    out << static_cast<int>(value);
  } else {
    out << value;
  }
}

void print_element(std::ostream& out, DType type, const void* data, std::int64_t i) {
  switch (type) {
    case DType::kFloat: return print<float>(out, data, i);
    case DType::kDouble: return print<double>(out, data, i);
    case DType::kInt8: return print<std::int8_t>(out, data, i);
    case DType::kInt16: return print<std::int16_t>(out, data, i);
    case DType::kInt32: return print<std::int32_t>(out, data, i);
    case DType::kInt64: return print<std::int64_t>(out, data, i);
    case DType::kUint8: return print<std::uint8_t>(out, data, i);
    case DType::kUint16: return print<std::uint16_t>(out, data, i);
    case DType::kUint32: return print<std::uint32_t>(out, data, i);
    case DType::kUint64: return print<std::uint64_t>(out, data, i);
    case DType::kBool: out << (static_cast<const bool*>(data)[i] ? "true" : "false"); return;
    case DType::kString: out << '"' << static_cast<const std::string*>(data)[i] << '"'; return;
    case DType::kComplex64: return print<std::complex<float>>(out, data, i);
    case DType::kComplex128: return print<std::complex<double>>(out, data, i);
    default: break;
  }
  static const char* kHex = "0123456789abcdef";
  const auto* bytes = static_cast<const unsigned char*>(data) + static_cast<std::size_t>(i) * size_of(type);
  out << "0x";
  for (std::size_t k = size_of(type); k-- > 0;) out << kHex[bytes[k] >> 4] << kHex[bytes[k] & 15];
}

}  // namespace

Tensor::Tensor(DType type, const Shape& shape) : dtype_(type), shape_(shape) {
  if (!shape.is_known()) throw InvalidArgument(cat("a tensor needs a known shape, not ", shape));
  elements_ = shape.elements();
  buffer_ = BufferRef::adopt(Buffer::make(type, elements_));
}

Tensor::Tensor(DType type, const Shape& shape, BufferRef buffer)
    : dtype_(type), shape_(shape), elements_(shape.elements()), buffer_(std::move(buffer)) {
  if (!buffer_ || buffer_->count() < elements_) throw Internal(cat("a buffer too small for ", type, shape));
}

Tensor Tensor::zeros(DType type, const Shape& shape) {
  Tensor out(type, shape);
  if (type != DType::kString) std::memset(out.mutable_data(), 0, out.bytes());
  return out;
}

std::size_t Tensor::bytes() const {
  const std::size_t element = dtype_ == DType::kString ? sizeof(std::string) : size_of(dtype_);
  return static_cast<std::size_t>(elements()) * element;
}

void* Tensor::mutable_data() {
  if (!buffer_) return nullptr;
  if (buffer_->shared()) {
    BufferRef own = BufferRef::adopt(Buffer::make(dtype_, elements_));
    if (dtype_ == DType::kString) {
      const auto* from = static_cast<const std::string*>(buffer_->data());
      std::copy(from, from + elements_, static_cast<std::string*>(own->data()));
    } else {
      std::memcpy(own->data(), buffer_->data(), bytes());
    }
    buffer_ = std::move(own);
  }
  return buffer_->data();
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.elements() != elements())
    throw InvalidArgument(cat("a tensor of shape ", shape_, " has not the elements of ", shape));
  return Tensor(dtype_, shape, buffer_);
}

bool Tensor::operator==(const Tensor& other) const {
  if (dtype_ != other.dtype_ || !(shape_ == other.shape_)) return false;
  if (elements() == 0 || data() == other.data()) return true;
  if (dtype_ == DType::kString) return std::ranges::equal(values<std::string>(), other.values<std::string>());
  return std::memcmp(data(), other.data(), bytes()) == 0;
}

std::string Tensor::text() const {
  if (!*this) return "no value";
  std::ostringstream out;
  out << dtype_ << shape_ << " [";
  for (std::int64_t i = 0; i < std::min(elements(), kShown); ++i) {
    if (i > 0) out << ", ";
    print_element(out, dtype_, data(), i);
  }
  if (elements() > kShown) out << ", ...";
  out << "]";
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.text(); }

void Tensor::require(DType wanted) const {
  if (dtype_ != wanted)
    throw InvalidArgument(
        *this ? cat("asked for ", wanted, " elements of a tensor that is ", dtype_, shape_, ": read them as ",
                    dtype_)
              : cat("asked for ", wanted, " elements of an empty Tensor, as fetching an operation gives"));
}

void Tensor::require_one() const {
  if (elements() != 1)
    throw InvalidArgument(cat("asked for the only element of a tensor that is ", dtype_, shape_,
                              ": read its values, or reduce it in the graph"));
}

std::vector<std::int64_t> integers(const Tensor& tensor) {
  const auto widen = [](const auto& values) {
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  if (tensor.dtype() == DType::kInt32) return widen(tensor.values<std::int32_t>());
  if (tensor.dtype() == DType::kInt64) return widen(tensor.values<std::int64_t>());
  throw InvalidArgument(cat("wanted int32 or int64, got ", tensor.dtype(), tensor.shape()));
}

}  // namespace runnel
