// Reading goes by dtype to one of four forms: raw content, a list of numbers, a list of pairs, a list of
// strings. A list that is too short repeats its last value, an empty one means zeros, surplus values are
// ignored (formats 1.3).
#include "graph/tensor_proto.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>

#include "graph/error.h"
#include "runnel/types.pb.h"

namespace runnel {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor_content is little-endian");

constexpr std::size_t kWorthRepeating = 1024;  // bytes; equal values that take more are written once
constexpr int kMostDims = 254;                 // TensorFlow's limit

template <class T, class List>
void fill_numbers(Tensor& out, const List& list) {
  T* to = static_cast<T*>(out.mutable_data());
  const auto n = static_cast<std::size_t>(out.elements());
  const std::size_t given = std::min(n, static_cast<std::size_t>(list.size()));
  for (std::size_t i = 0; i < given; ++i) to[i] = static_cast<T>(list[static_cast<int>(i)]);
  std::fill(to + given, to + n, given == 0 ? T{} : to[given - 1]);
}

template <class T, class List>
void fill_pairs(Tensor& out, const List& list) {
  auto* to = static_cast<std::complex<T>*>(out.mutable_data());
  const auto n = static_cast<std::size_t>(out.elements());
  const std::size_t given = std::min(n, static_cast<std::size_t>(list.size()) / 2);
  for (std::size_t i = 0; i < given; ++i)
    to[i] = {list[static_cast<int>(2 * i)], list[static_cast<int>(2 * i + 1)]};
  std::fill(to + given, to + n, given == 0 ? std::complex<T>{} : to[given - 1]);
}

void fill_bytes(Tensor& out, const std::string& list) {
  char* to = static_cast<char*>(out.mutable_data());
  const auto n = static_cast<std::size_t>(out.elements());
  const std::size_t given = std::min(n, list.size());
  std::memcpy(to, list.data(), given);
  std::memset(to + given, given == 0 ? 0 : to[given - 1], n - given);
}

void fill_strings(Tensor& out, const pb::TensorProto& proto, TensorBudget& budget) {
  const std::span<std::string> to = out.mutable_values<std::string>();
  const std::size_t given = std::min(to.size(), static_cast<std::size_t>(proto.string_val_size()));
  for (std::size_t i = 0; i < given; ++i) to[i] = proto.string_val(static_cast<int>(i));
  if (given == to.size() || given == 0) return;
  budget.take(to[given - 1].size(), to.size() - given, "a string repeated");
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(given), to.end(), to[given - 1]);
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  throw InvalidArgument("tensor_content of strings is cut short");
}

// One varint length an element, then the bytes of all elements.
void fill_strings_from_content(Tensor& out, std::string_view content) {
  const std::span<std::string> to = out.mutable_values<std::string>();
  std::vector<std::uint64_t> lengths(to.size());
  for (std::uint64_t& length : lengths) length = take_varint(content);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (lengths[i] > content.size()) throw InvalidArgument("tensor_content of strings is cut short");
    to[i].assign(content.substr(0, lengths[i]));
    content.remove_prefix(lengths[i]);
  }
  if (!content.empty())
    throw InvalidArgument(cat("tensor_content of strings has ", content.size(), " bytes too many"));
}

void fill_from_content(Tensor& out, const std::string& content) {
  if (content.size() != out.bytes())
    throw InvalidArgument(cat("tensor_content has ", content.size(), " bytes, but ", out.dtype(), out.shape(),
                              " takes ", out.bytes()));
  if (out.dtype() == DType::kBool)
    for (const char c : content)
      if (c != 0 && c != 1)
        throw InvalidArgument(cat("tensor_content of bool holds a byte of ", int{c}, ", not 0 or 1"));
  std::memcpy(out.mutable_data(), content.data(), content.size());
}

void fill_from_list(Tensor& out, const pb::TensorProto& proto, TensorBudget& budget) {
  switch (out.dtype()) {
    case DType::kFloat: return fill_numbers<float>(out, proto.float_val());
    case DType::kDouble: return fill_numbers<double>(out, proto.double_val());
    case DType::kInt32:
    case DType::kQint32: return fill_numbers<std::int32_t>(out, proto.int_val());
    case DType::kInt16:
    case DType::kQint16: return fill_numbers<std::int16_t>(out, proto.int_val());
    case DType::kUint16:
    case DType::kQuint16: return fill_numbers<std::uint16_t>(out, proto.int_val());
    case DType::kInt8:
    case DType::kQint8:
    case DType::kInt4:
    case DType::kInt2: return fill_numbers<std::int8_t>(out, proto.int_val());
    case DType::kUint8:
    case DType::kQuint8:
    case DType::kUint4:
    case DType::kUint2: return fill_numbers<std::uint8_t>(out, proto.int_val());
    case DType::kInt64: return fill_numbers<std::int64_t>(out, proto.int64_val());
    case DType::kUint32: return fill_numbers<std::uint32_t>(out, proto.uint32_val());
    case DType::kUint64: return fill_numbers<std::uint64_t>(out, proto.uint64_val());
    case DType::kBool: return fill_numbers<bool>(out, proto.bool_val());
    case DType::kHalf:
    case DType::kBfloat16: return fill_numbers<std::uint16_t>(out, proto.half_val());
    case DType::kComplex64: return fill_pairs<float>(out, proto.scomplex_val());
    case DType::kComplex128: return fill_pairs<double>(out, proto.dcomplex_val());
    case DType::kString: return fill_strings(out, proto, budget);
    default: return fill_bytes(out, proto.float8_val());
  }
}

// tf.constant writes more than one element of these as a list, of all others as raw content.
bool is_listed(DType type) {
  return type == DType::kBool || type == DType::kUint16 || type == DType::kString || is_complex(type);
}

bool all_equal(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) {
    const auto values = tensor.values<std::string>();
    return std::ranges::all_of(values, [&](const std::string& value) { return value == values[0]; });
  }
  const char* bytes = static_cast<const char*>(tensor.data());
  const std::size_t element = size_of(tensor.dtype());
  return std::memcmp(bytes, bytes + element, tensor.bytes() - element) == 0;
}

template <class T, class List>
void append(const Tensor& tensor, std::int64_t n, List* list) {
  const T* from = static_cast<const T*>(tensor.data());
  list->Reserve(static_cast<int>(n));
  for (std::int64_t i = 0; i < n; ++i) list->Add(from[i]);
}

void write_list(const Tensor& tensor, std::int64_t n, pb::TensorProto& proto) {
  switch (tensor.dtype()) {
    case DType::kFloat: return append<float>(tensor, n, proto.mutable_float_val());
    case DType::kDouble: return append<double>(tensor, n, proto.mutable_double_val());
    case DType::kInt32:
    case DType::kQint32: return append<std::int32_t>(tensor, n, proto.mutable_int_val());
    case DType::kInt16:
    case DType::kQint16: return append<std::int16_t>(tensor, n, proto.mutable_int_val());
    case DType::kUint16:
    case DType::kQuint16: return append<std::uint16_t>(tensor, n, proto.mutable_int_val());
    case DType::kInt8:
    case DType::kQint8:
    case DType::kInt4:
    case DType::kInt2: return append<std::int8_t>(tensor, n, proto.mutable_int_val());
    case DType::kUint8:
    case DType::kQuint8:
    case DType::kUint4:
    case DType::kUint2: return append<std::uint8_t>(tensor, n, proto.mutable_int_val());
    case DType::kInt64: return append<std::int64_t>(tensor, n, proto.mutable_int64_val());
    case DType::kUint32: return append<std::uint32_t>(tensor, n, proto.mutable_uint32_val());
    case DType::kUint64: return append<std::uint64_t>(tensor, n, proto.mutable_uint64_val());
    case DType::kBool: return append<bool>(tensor, n, proto.mutable_bool_val());
    case DType::kHalf:
    case DType::kBfloat16: return append<std::uint16_t>(tensor, n, proto.mutable_half_val());
    case DType::kComplex64: return append<float>(tensor, 2 * n, proto.mutable_scomplex_val());
    case DType::kComplex128: return append<double>(tensor, 2 * n, proto.mutable_dcomplex_val());
    case DType::kString:
      for (std::int64_t i = 0; i < n; ++i)
        proto.add_string_val(tensor.values<std::string>()[static_cast<std::size_t>(i)]);
      return;
    default: proto.set_float8_val(tensor.data(), static_cast<std::size_t>(n)); return;
  }
}

}  // namespace

void TensorBudget::take(std::uint64_t size, std::uint64_t count, std::string_view what) {
  if (size > 0 && count > left_ / size)
    throw ResourceExhausted(cat(what, ": ", count, " times ", size,
                                " bytes do not fit; the tensors of one file may take ", kLimit >> 30,
                                " GiB together"));
  left_ -= size * count;
}

bool can_hold(int dtype) {
  const auto type = static_cast<DType>(dtype);
  return is_known(type) && !is_ref(type) && (type == DType::kString || size_of(type) > 0);
}

Tensor tensor_of(const pb::TensorProto& proto, TensorBudget& budget) {
  if (!can_hold(proto.dtype()))
    throw Unimplemented(
        cat("a tensor of dtype ", static_cast<DType>(proto.dtype()), " holds no values here"));
  const auto type = static_cast<DType>(proto.dtype());
  const Shape shape = proto.tensor_shape().unknown_rank() ? Shape{} : shape_of(proto.tensor_shape());
  if (!shape.is_known())
    throw InvalidArgument(cat("a tensor value has the shape ", shape, ", which is not known in full"));
  // Each string of raw content takes a byte at least, so a count that is too high is refused before memory is
  // taken.
  const std::string& content = proto.tensor_content();
  if (type == DType::kString && !content.empty() &&
      static_cast<std::uint64_t>(shape.elements()) > content.size())
    throw InvalidArgument("tensor_content of strings is cut short");
  budget.take(type == DType::kString ? sizeof(std::string) : size_of(type),
              static_cast<std::uint64_t>(shape.elements()), cat("a tensor ", type, shape));
  Tensor out(type, shape);
  if (out.elements() == 0) return out;
  if (content.empty()) {
    fill_from_list(out, proto, budget);
  } else if (type == DType::kString) {
    fill_strings_from_content(out, content);
  } else {
    fill_from_content(out, content);
  }
  return out;
}

std::uint64_t least_written_bytes(const Tensor& tensor) {
  if (tensor.elements() < 2 || (tensor.bytes() > kWorthRepeating && all_equal(tensor))) return 0;
  if (tensor.dtype() == DType::kUint16) return static_cast<std::uint64_t>(tensor.elements());  // varints
  if (tensor.dtype() != DType::kString) return tensor.bytes();
  std::uint64_t bytes = 0;
  for (const std::string& value : tensor.values<std::string>()) bytes += value.size();
  return bytes;
}

void write_tensor(const Tensor& tensor, pb::TensorProto& proto) {
  proto.set_dtype(static_cast<pb::DataType>(tensor.dtype()));
  write_shape(tensor.shape(), *proto.mutable_tensor_shape());
  const std::int64_t n = tensor.elements();
  if (n == 0) return;
  if (n == 1 || (tensor.bytes() > kWorthRepeating && all_equal(tensor))) return write_list(tensor, 1, proto);
  if (is_listed(tensor.dtype())) return write_list(tensor, n, proto);
  proto.set_tensor_content(tensor.data(), tensor.bytes());
}

Shape shape_of(const pb::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return Shape::unknown();
  if (proto.dim_size() > kMostDims)
    throw InvalidArgument(cat("a shape has ", proto.dim_size(), " dimensions; the most are ", kMostDims));
  std::vector<std::int64_t> dims;
  for (const auto& dim : proto.dim()) dims.push_back(dim.size());
  return Shape(dims);
}

void write_shape(const Shape& shape, pb::TensorShapeProto& proto) {
  if (!shape.has_rank()) proto.set_unknown_rank(true);
  for (const std::int64_t dim : shape.dims()) proto.add_dim()->set_size(dim);
}

}  // namespace runnel
