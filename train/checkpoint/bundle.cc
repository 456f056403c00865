// Opening an index with its data files, and joining the parts of partitioned tensors.
#include "train/checkpoint/bundle.h"

#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/index_table.h"

namespace runnel {
namespace {

constexpr char kPartMark = '\0';  // keys of parts begin with it

bool is_part(const std::string& key) { return !key.empty() && key[0] == kPartMark; }

IndexEntries open_index(FileSystem& files, const std::string& path) {
  const auto file = files.open_for_reading(path);
  const std::string kind = kind_of_file(*file);
  if (!kind.empty() && !ends_like_table(*file))
    throw DataLoss(cat("'", path, "' is no checkpoint index: it is ", kind));
  return read_index(*file);
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

}  // namespace

Bundle::Bundle(FileSystem& files, const std::string& prefix, const std::string& index_path) {
  const IndexEntries index = open_index(files, index_path);
  if (index.empty() || !index.begin()->first.empty())
    throw DataLoss(cat("'", index_path, "' is a table but no checkpoint index: it has no header"));
  int shards = 0;
  try {
    shards = parse_header(index.begin()->second);
    for (auto it = std::next(index.begin()); it != index.end(); ++it) add(it->first, it->second, shards);
  } catch (const Error& e) {
    throw_error(e.code(), cat("'", index_path, "': ", e.message()));
  }
  data_.resize(static_cast<std::size_t>(shards));
  sizes_.resize(data_.size());
  for (const auto& [key, entry] : entries_) {
    auto& file = data_[static_cast<std::size_t>(entry.shard)];
    if (!entry.slices.empty() || file) continue;
    file = open_data(files, data_path(prefix, entry.shard, shards));
    sizes_[static_cast<std::size_t>(entry.shard)] = file->size();
  }
}

void Bundle::add(const std::string& key, const std::string& value, int shards) {
  BundleEntry entry = BundleEntry::parse(value, is_part(key) ? "a part" : key, shards);
  if (!is_part(key)) variables_.push_back({key, entry.dtype, entry.shape});
  entries_.emplace_hint(entries_.end(), key, std::move(entry));
}

const BundleEntry* Bundle::find(const std::string& name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() || is_part(name) ? nullptr : &it->second;
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
  const BundleEntry& entry = entries_.at(name);
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
  const auto it = entries_.find(slice_key(name, slice));
  if (it == entries_.end())
    throw DataLoss(cat("the part ", slice.text(), " of ", quoted(name), " is missing"));
  const BundleEntry& entry = it->second;
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
