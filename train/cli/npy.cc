// Values lie row after row behind the header; everything else than little-endian C order is turned into that.
#include "train/cli/npy.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "train/cli/npy_header.h"

namespace runnel {
namespace {

DType type_of(const NpyHeader& header) {
  const auto is = [&](char kind, std::size_t item) { return header.kind == kind && header.item == item; };
  if (header.kind == 'S') return DType::kString;
  if (is('b', 1)) return DType::kBool;
  if (is('f', 2)) return DType::kHalf;
  if (is('f', 4)) return DType::kFloat;
  if (is('f', 8)) return DType::kDouble;
  if (is('c', 8)) return DType::kComplex64;
  if (is('c', 16)) return DType::kComplex128;
  if (is('i', 1)) return DType::kInt8;
  if (is('i', 2)) return DType::kInt16;
  if (is('i', 4)) return DType::kInt32;
  if (is('i', 8)) return DType::kInt64;
  if (is('u', 1)) return DType::kUint8;
  if (is('u', 2)) return DType::kUint16;
  if (is('u', 4)) return DType::kUint32;
  if (is('u', 8)) return DType::kUint64;
  throw Unimplemented(cat("no tensor holds values of NumPy's dtype '", header.kind, header.item, "'"));
}

// The type that a .npy file gives to values of `type`.
DType stored_type(DType type) {
  switch (type) {
    case DType::kBfloat16:
    case DType::kQuint16: return DType::kUint16;
    case DType::kQint16: return DType::kInt16;
    case DType::kQint32: return DType::kInt32;
    case DType::kQint8:
    case DType::kInt4:
    case DType::kInt2: return DType::kInt8;
    default: break;
  }
  const bool plain = is_floating(type) || is_integer(type) || is_complex(type) || type == DType::kBool ||
                     type == DType::kString;
  return plain ? type : DType::kUint8;
}

char kind_of(DType type) {
  if (type == DType::kString) return 'S';
  if (type == DType::kBool) return 'b';
  if (is_floating(type)) return 'f';
  if (is_complex(type)) return 'c';
  return type == DType::kInt8 || type == DType::kInt16 || type == DType::kInt32 || type == DType::kInt64
             ? 'i'
             : 'u';
}

// The elements in C order, of items whose first index runs fastest.
std::string in_c_order(std::string_view values, const NpyHeader& header, std::size_t elements) {
  std::string out(values.size(), '\0');
  std::vector<std::int64_t> index(header.shape.size(), 0);
  for (std::size_t i = 0; i < elements; ++i) {
    std::size_t from = 0;
    for (std::size_t d = index.size(); d-- > 0;)
      from = from * static_cast<std::size_t>(header.shape[d]) + static_cast<std::size_t>(index[d]);
    std::memcpy(&out[i * header.item], &values[from * header.item], header.item);
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == header.shape[d];) index[d] = 0;
  }
  return out;
}

void swap_bytes(std::string& values, const NpyHeader& header) {
  const std::size_t word = header.kind == 'c' ? header.item / 2 : header.item;
  if (header.kind == 'S' || word < 2) return;
  for (std::size_t at = 0; at + word <= values.size(); at += word)
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(at),
                 values.begin() + static_cast<std::ptrdiff_t>(at + word));
}

void fill(Tensor& out, std::string_view values, const NpyHeader& header) {
  if (out.dtype() != DType::kString) {
    if (out.dtype() == DType::kBool && std::ranges::any_of(values, [](char c) { return c != 0 && c != 1; }))
      throw DataLoss("not a .npy file: its bool values are not all 0 or 1");
    std::memcpy(out.mutable_data(), values.data(), values.size());
    return;
  }
  std::size_t at = 0;
  for (std::string& text : out.mutable_values<std::string>()) {
    text.assign(values.substr(at, header.item));
    text.erase(text.find_last_not_of('\0') + 1);
    at += header.item;
  }
}

std::size_t longest(std::span<const std::string> values) {
  std::size_t out = 1;
  for (const std::string& text : values) out = std::max(out, text.size());
  return out;
}

}  // namespace

Tensor npy_tensor(std::string_view bytes) {
  constexpr std::size_t kMostEmptyStrings = 1 << 20;
  const NpyHeader header = take_npy_header(bytes);
  const DType type = type_of(header);
  const Shape shape(header.shape);
  const auto elements = static_cast<std::uint64_t>(shape.elements());
  const bool fits = header.item == 0
                        ? bytes.empty() && elements <= kMostEmptyStrings
                        : elements == bytes.size() / header.item && bytes.size() % header.item == 0;
  if (!fits)
    throw DataLoss(cat("not a sound .npy file: ", bytes.size(), " bytes follow the header, but ", elements,
                       " values of ", header.item, " bytes are announced"));
  Tensor out(type, shape);
  if (elements == 0) return out;
  if (!header.big_endian && !header.fortran_order) {
    fill(out, bytes, header);
    return out;
  }
  std::string values = header.fortran_order ? in_c_order(bytes, header, elements) : std::string(bytes);
  if (header.big_endian) swap_bytes(values, header);
  fill(out, values, header);
  return out;
}

std::string npy_bytes(const Tensor& tensor) {
  const DType type = stored_type(tensor.dtype());
  NpyHeader header;
  header.kind = kind_of(type);
  header.shape.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  if (type != DType::kString) {
    header.item = size_of(type);
    return npy_header_bytes(header).append(static_cast<const char*>(tensor.data()), tensor.bytes());
  }
  const auto values = tensor.values<std::string>();
  header.item = longest(values);
  if (values.size() > std::numeric_limits<std::int32_t>::max() / header.item)
    throw ResourceExhausted(
        cat(values.size(), " strings of up to ", header.item, " bytes are too much for an 'S' array"));
  std::string out = npy_header_bytes(header);
  for (const std::string& text : values) out.append(text).append(header.item - text.size(), '\0');
  return out;
}

std::string npy_loss(const Tensor& tensor) {
  if (stored_type(tensor.dtype()) != tensor.dtype())
    return cat("the .npy file holds ", tensor.dtype(), " as ", stored_type(tensor.dtype()));
  if (tensor.dtype() != DType::kString) return "";
  for (const std::string& text : tensor.values<std::string>())
    if (text.ends_with('\0')) return "the .npy file drops zero bytes at the end of strings";
  return "";
}

Tensor npy_restored(const Tensor& tensor, DType wanted) {
  if (tensor.dtype() == wanted || stored_type(wanted) != tensor.dtype()) return tensor;
  return Tensor(wanted, tensor.shape(), tensor.buffer());
}

}  // namespace runnel
