// Slices: text, key, and copying between boxes.
#include "train/checkpoint/tensor_slice.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace runnel {
namespace {

// Numbers in keys sort as bytes do. An unsigned one is its length in bytes and the bytes, highest first.
void put_unsigned(std::string& key, std::uint64_t value) {
  const int bytes = (64 - std::countl_zero(value) + 7) / 8;
  key += static_cast<char>(bytes);
  for (int i = bytes - 1; i >= 0; --i) key += static_cast<char>(value >> (8 * i));
}

// A signed number v >= 0 takes the fewest bytes n with v < 2^(7n-1) and holds n ones, a zero and v, highest
// bit first; a negative one is ~v with all bits turned over.
void put_signed(std::string& key, std::int64_t value) {
  const bool negative = value < 0;
  const std::uint64_t magnitude = static_cast<std::uint64_t>(negative ? ~value : value);
  const int bits = 64 - std::countl_zero(magnitude);
  const int length = bits / 7 + 1;
  unsigned char out[10] = {};
  for (int i = 0; i < length && i < 8; ++i) out[9 - i] = static_cast<unsigned char>(magnitude >> (8 * i));
  unsigned char* const first = out + 10 - length;
  for (int i = 0; i < length; ++i) first[i / 8] |= static_cast<unsigned char>(0x80 >> (i % 8));
  for (int i = 0; i < length; ++i) key += static_cast<char>(negative ? ~first[i] : first[i]);
}

// The name with 00 and ff made two bytes, so that its end, 00 01, is found.
void put_name(std::string& key, const std::string& name) {
  for (const char c : name) {
    key += c;
    if (c == '\0') key += '\xff';
    if (c == '\xff') key += '\0';
  }
  key += '\0';
  key += '\1';
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(mark, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::optional<TensorSlice::Extent> parse_extent(std::string_view text) {
  if (text == "-") return TensorSlice::Extent{};
  const auto parts = split(text, ',');
  if (parts.size() != 2) return std::nullopt;
  const auto start = number(parts[0]), length = number(parts[1]);
  if (!start || !length) return std::nullopt;
  return TensorSlice::Extent{*start, *length};
}

// Elements between neighbours along each dimension of a box.
std::vector<std::int64_t> strides(const Shape& shape) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d) out[d] = out[d + 1] * shape[d + 1];
  return out;
}

std::int64_t offset_in(const TensorSlice& box, const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& place) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < place.size(); ++d) offset += (place[d] - box.extents[d].start) * strides[d];
  return offset;
}

void copy_run(const Tensor& from, std::int64_t from_at, void* to, std::int64_t to_at, std::int64_t count) {
  if (from.dtype() == DType::kString) {
    const auto* source = static_cast<const std::string*>(from.data());
    std::copy_n(source + from_at, count, static_cast<std::string*>(to) + to_at);
    return;
  }
  const std::size_t size = size_of(from.dtype());
  std::memcpy(static_cast<char*>(to) + static_cast<std::size_t>(to_at) * size,
              static_cast<const char*>(from.data()) + static_cast<std::size_t>(from_at) * size,
              static_cast<std::size_t>(count) * size);
}

}  // namespace

TensorSlice TensorSlice::within(const Shape& full) const {
  if (static_cast<int>(extents.size()) != full.rank())
    throw InvalidArgument(cat("slice ", text(), " has not the rank of shape ", full));
  TensorSlice out = *this;
  for (int d = 0; d < full.rank(); ++d) {
    auto& extent = out.extents[static_cast<std::size_t>(d)];
    if (extent.length == Extent::kWhole && extent.start == 0) extent.length = full[d];
    if (extent.start < 0 || extent.length < 0 || extent.start > full[d] ||
        extent.length > full[d] - extent.start)
      throw InvalidArgument(cat("slice ", text(), " does not lie within shape ", full));
  }
  return out;
}

Shape TensorSlice::shape() const {
  std::vector<std::int64_t> dims;
  for (const auto& extent : extents) dims.push_back(extent.length);
  return Shape(dims);
}

std::string TensorSlice::text() const {
  std::string out;
  for (const auto& extent : extents) {
    if (!out.empty()) out += ':';
    out += extent.length == Extent::kWhole ? "-" : cat(extent.start, ",", extent.length);
  }
  return out;
}

std::optional<SliceSpec> parse_slice_spec(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto refuse = [&]() -> InvalidArgument {
    return InvalidArgument(cat("'", text,
                               "' is no slice; write it like \"10 2 4,3:0,2\": the full shape, then ",
                               "start,length or - for each dimension"));
  };
  auto words = split(text, ' ');
  const auto extents = split(words.back(), ':');
  words.pop_back();
  if (words.size() != extents.size()) throw refuse();
  SliceSpec spec;
  for (std::size_t d = 0; d < words.size(); ++d) {
    const auto dim = number(words[d]);
    const auto extent = parse_extent(extents[d]);
    if (!dim || !extent) throw refuse();
    spec.full.push_back(*dim);
    spec.slice.extents.push_back(*extent);
  }
  if (spec.slice.within(spec.full).shape() == spec.full) return std::nullopt;
  return spec;
}

std::string slice_key(const std::string& name, const TensorSlice& slice) {
  std::string key;
  put_unsigned(key, 0);
  put_name(key, name);
  put_unsigned(key, slice.extents.size());
  for (const auto& extent : slice.extents) {
    put_signed(key, extent.start);
    put_signed(key, extent.length);
  }
  return key;
}

bool overlap(const TensorSlice& a, const TensorSlice& b) {
  for (std::size_t d = 0; d < a.extents.size(); ++d) {
    const auto &x = a.extents[d], &y = b.extents[d];
    if (std::max(x.start, y.start) >= std::min(x.start + x.length, y.start + y.length)) return false;
  }
  return true;
}

std::optional<TensorSlice> intersection(const TensorSlice& a, const TensorSlice& b) {
  if (!overlap(a, b)) return std::nullopt;
  TensorSlice out;
  for (std::size_t d = 0; d < a.extents.size(); ++d) {
    const auto &x = a.extents[d], &y = b.extents[d];
    const std::int64_t start = std::max(x.start, y.start);
    out.extents.push_back({start, std::min(x.start + x.length, y.start + y.length) - start});
  }
  return out;
}

std::int64_t copy_shared(const Tensor& from, const TensorSlice& from_slice, Tensor& to,
                         const TensorSlice& to_slice) {
  const auto shared = intersection(from_slice, to_slice);
  if (!shared) return 0;
  const auto from_strides = strides(from.shape()), to_strides = strides(to.shape());
  const int rank = from.shape().rank();
  void* const target = to.mutable_data();
  // Runs along the last dimension, in row-major order of the others.
  const std::int64_t run = rank == 0 ? 1 : shared->extents.back().length;
  const std::int64_t total = shared->shape().elements();
  std::vector<std::int64_t> place;
  for (const auto& extent : shared->extents) place.push_back(extent.start);
  for (std::int64_t done = 0; done < total; done += run) {
    copy_run(from, offset_in(from_slice, from_strides, place), target, offset_in(to_slice, to_strides, place),
             run);
    for (int d = rank - 2; d >= 0; --d) {
      const auto& extent = shared->extents[static_cast<std::size_t>(d)];
      if (++place[static_cast<std::size_t>(d)] < extent.start + extent.length) break;
      place[static_cast<std::size_t>(d)] = extent.start;
    }
  }
  return total;
}

}  // namespace runnel
