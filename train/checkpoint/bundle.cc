// Opening an index with its data files, and joining the parts of partitioned tensors.
#include "train/checkpoint/bundle.h"

#include <algorithm>

#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/index_table.h"

namespace runnel {
namespace {

constexpr char kPartMark = '\0';  // keys of parts begin with it

bool is_part(const std::string& key) { return !key.empty() && key[0] == kPartMark; }

std::unique_ptr<ReadableFile> open_index(FileSystem& files, const std::string& path) {
  auto file = files.open_for_reading(path);
  const std::string kind = kind_of_file(*file);
  if (!kind.empty() && !ends_like_table(*file))
    throw DataLoss(cat("'", path, "' is no checkpoint index: it is ", kind));
  return file;
}

std::unique_ptr<ReadableFile> open_data(FileSystem& files, const std::string& path) {
  try {
    return files.open_for_reading(path);
  } catch (const NotFound&) {
    throw NotFound(cat("the checkpoint is incomplete: '", path, "' is missing; copy it here too"));
  }
}

TensorSlice whole_of(const Shape& shape) {
  return TensorSlice{std::vector<TensorSlice::Extent>(static_cast<std::size_t>(shape.rank()))}.within(shape);
}

void require_disjoint(const std::string& name, const std::vector<TensorSlice>& slices) {
  for (std::size_t i = 0; i < slices.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (overlap(slices[i], slices[k]))
        throw DataLoss(
            cat("the parts ", slices[k].text(), " and ", slices[i].text(), " of ", quoted(name), " overlap"));
}

[[noreturn]] void refuse_headless(const std::string& path) {
  throw DataLoss(cat("'", path, "' is a table but no checkpoint index: it has no header"));
}

}  // namespace

Bundle::Bundle(FileSystem& files, const std::string& prefix, const std::string& index_path) {
  read_entries(*open_index(files, index_path), index_path);
  open_data_files(files, prefix);
}

void Bundle::read_entries(const ReadableFile& index, const std::string& path) {
  constexpr std::size_t kUsualEntry = 40, kMostExpected = 1 << 16;  // bytes in the file; entries
  const std::size_t expected = std::min<std::size_t>(index.size() / kUsualEntry, kMostExpected);
  entries_.reserve(expected);
  variables_.reserve(expected);
  BundleEntryCodec codec;
  std::optional<int> shards;
  const auto take = [&](std::string_view key, std::string_view value) {
    if (!shards && !key.empty()) refuse_headless(path);
    try {
      if (!shards) {
        shards = parse_header(value);
        return;
      }
      std::string name(key);
      BundleEntry entry = codec.parse(value, is_part(name) ? "a part" : name, *shards);
      if (!is_part(name)) variables_.push_back({name, entry.dtype, entry.shape});
      entries_.push_back({std::move(name), std::move(entry)});
    } catch (const Error& e) {
      throw_error(e.code(), cat("'", path, "': ", e.message()));
    }
  };
  read_index(index, take);
  if (!shards) refuse_headless(path);
  data_.resize(static_cast<std::size_t>(*shards));
  sizes_.resize(data_.size());
}

void Bundle::open_data_files(FileSystem& files, const std::string& prefix) {
  for (const auto& [key, entry] : entries_) {
    auto& file = data_[static_cast<std::size_t>(entry.shard)];
    if (!entry.slices.empty() || file) continue;
    file = open_data(files, data_path(prefix, entry.shard, shards()));
    sizes_[static_cast<std::size_t>(entry.shard)] = file->size();
  }
}

const Bundle::Keyed* Bundle::keyed(const std::string& key) const {
  const auto at = std::ranges::lower_bound(entries_, key, {}, &Keyed::key);
  return at == entries_.end() || at->key != key ? nullptr : &*at;
}

const BundleEntry* Bundle::find(const std::string& name) const {
  std::size_t nowhere = entries_.size();
  return find(name, nowhere);
}

const BundleEntry* Bundle::find(const std::string& name, std::size_t& place) const {
  if (place < entries_.size() && entries_[place].key == name && !is_part(name))
    return &entries_[place++].entry;
  const Keyed* found = is_part(name) ? nullptr : keyed(name);
  if (!found) return nullptr;
  place = static_cast<std::size_t>(found - entries_.data()) + 1;
  return &found->entry;
}

Tensor Bundle::read(const std::string& name, const BundleEntry& entry) const {
  if (entry.slices.empty()) return decode_value(entry, name, data_of(entry));
  return read(name, entry, whole_of(entry.shape));
}

Tensor Bundle::read(const std::string& name, const BundleEntry& entry, const TensorSlice& slice) const {
  const TensorSlice wanted = slice.within(entry.shape);
  if (!is_storable(entry.dtype)) throw Unimplemented(cat(quoted(name), " is of type ", entry.dtype));
  const std::int64_t elements = wanted.shape().elements();
  require_room(name, entry, elements);
  std::vector<TensorSlice> parts;
  for (const auto& part : entry.slices) parts.push_back(part.within(entry.shape));
  require_disjoint(name, parts);
  Tensor out(entry.dtype, wanted.shape());
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!overlap(parts[i], wanted)) continue;
    const BundleEntry& stored = part(name, entry, entry.slices[i]);
    covered += copy_shared(decode_value(stored, name, data_of(stored)), parts[i], out, wanted);
  }
  if (entry.slices.empty())
    covered = copy_shared(decode_value(entry, name, data_of(entry)), whole_of(entry.shape), out, wanted);
  if (covered != elements)
    throw DataLoss(
        cat("the parts of ", quoted(name), " hold ", covered, " of the ", elements, " elements asked for"));
  return out;
}

std::uint64_t Bundle::stored_bytes(const std::string& name, const BundleEntry& entry) const {
  std::uint64_t bytes = entry.size;
  for (const auto& slice : entry.slices) bytes += part(name, entry, slice).size;
  return bytes;
}

void Bundle::verify() const {
  for (const auto& variable : variables_) verify(variable.name);
}

void Bundle::verify(const std::string& name) const {
  const BundleEntry& entry = *find(name);
  if (!is_storable(entry.dtype)) return;
  if (entry.slices.empty()) decode_value(entry, name, data_of(entry));
  for (const auto& slice : entry.slices) {
    const BundleEntry& stored = part(name, entry, slice);
    decode_value(stored, name, data_of(stored));
  }
}

// The entry of a part, which must look as the whole one says.
const BundleEntry& Bundle::part(const std::string& name, const BundleEntry& whole,
                                const TensorSlice& slice) const {
  const Keyed* found = keyed(slice_key(name, slice));
  if (!found) throw DataLoss(cat("the part ", slice.text(), " of ", quoted(name), " is missing"));
  const BundleEntry& entry = found->entry;
  if (entry.dtype != whole.dtype || !(entry.shape == slice.within(whole.shape).shape()) ||
      !entry.slices.empty())
    throw DataLoss(cat("the part ", slice.text(), " of ", quoted(name), " is ", entry.dtype, entry.shape,
                       " and does not fit ", whole.dtype, whole.shape));
  return entry;
}

// Every element takes a byte of some data file at least, so that a lying shape takes no memory.
void Bundle::require_room(const std::string& name, const BundleEntry& entry, std::int64_t elements) const {
  std::uint64_t bytes = 0;
  for (const auto& file : data_)
    if (file) bytes += file->size();
  if (static_cast<std::uint64_t>(elements) > bytes)
    throw DataLoss(cat(quoted(name), " is said to be ", entry.dtype, entry.shape, " but the data files have ",
                       bytes, " bytes"));
}

}  // namespace runnel
