// An index and the data files it speaks of, opened together: what CheckpointReader shows, and what recovery
// compares after an interrupted save (several indexes may claim the same data file then).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "graph/variable_info.h"
#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/value_codec.h"

namespace runnel {

// What to read of an index.
struct NamedEntry {
  const TensorRequest* wanted = nullptr;
  const BundleEntry* entry = nullptr;
};

// Immutable once made; many threads may read.
class Bundle {
 public:
  // Throws NotFound if a data file is missing, DataLoss.
  Bundle(FileSystem& files, const std::string& prefix, const std::string& index_path);

  int shards() const { return static_cast<int>(data_.size()); }
  const std::vector<VariableInfo>& variables() const { return variables_; }
  // Null if there is none. Parts are not found by name.
  const BundleEntry* find(const std::string& name) const;
  // Looks at `place` first, and leaves there the place after it: for names that come in the index's order.
  const BundleEntry* find(const std::string& name, std::size_t& place) const;
  Tensor read(const std::string& name, const BundleEntry& entry) const;
  Tensor read(const std::string& name, const BundleEntry& entry, const TensorSlice& slice) const;
  // Bytes in the data files, of the parts too.
  std::uint64_t stored_bytes(const std::string& name, const BundleEntry& entry) const;
  std::vector<Tensor> read(std::span<const NamedEntry> wanted, const RunAll& run_all) const;
  void verify() const;
  // One tensor with its parts, which need not cover it. Requires: there is one.
  void verify(const std::string& name) const;

 private:
  class SideBySide;
  struct Keyed {
    std::string key;
    BundleEntry entry;
  };
  void read_entries(const ReadableFile& index, const std::string& path);
  void open_data_files(FileSystem& files, const std::string& prefix);
  const Keyed* keyed(const std::string& key) const;
  const ReadableFile& data_of(const BundleEntry& entry) const {
    return *data_[static_cast<std::size_t>(entry.shard)];
  }
  const BundleEntry& part(const std::string& name, const BundleEntry& whole, const TensorSlice& slice) const;
  void require_room(const std::string& name, const BundleEntry& entry, std::int64_t elements) const;

  std::vector<Keyed> entries_;  // sorted by key, parts too
  std::vector<VariableInfo> variables_;
  std::vector<std::unique_ptr<ReadableFile>> data_;  // null where no entry lies
  std::vector<std::uint64_t> sizes_;                 // of them, when they were opened
};

}  // namespace runnel
