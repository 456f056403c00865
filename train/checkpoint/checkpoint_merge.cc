// Indexes are joined in memory, data files renamed, and the new index renamed last. Over an older checkpoint
// the data files get names that it does not use - another number of data files - so that one rename is the
// step from old to new.
#include "train/checkpoint/checkpoint_merge.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_recovery.h"
#include "train/checkpoint/index_table.h"
#include "train/checkpoint/neighbours.h"

namespace runnel {
namespace {

// The entries of several checkpoints, and their data files in the order in which entries name them.
class JoinedIndex {
 public:
  void add(FileSystem& files, const std::string& prefix) {
    const IndexEntries index = read_index(*files.open_for_reading(index_path(prefix)));
    if (index.empty() || !index.begin()->first.empty())
      throw DataLoss(cat("'", index_path(prefix), "' is a table but no checkpoint index: it has no header"));
    const int shards = parse_header(index.begin()->second);
    for (auto it = std::next(index.begin()); it != index.end(); ++it)
      add(prefix, it->first, BundleEntry::parse(it->second, it->first, shards), shards);
  }

  const std::vector<std::string>& data_files() const { return data_files_; }

  std::string bytes(int shards) const {
    IndexEntries index{{"", header_bytes(shards)}};
    for (const auto& [key, entry] : entries_) {
      const std::string value = entry.bytes();
      BundleEntry::parse(value, key, shards);  // parts that were joined may be too many to be read
      index.emplace_hint(index.end(), key, value);
    }
    return index_bytes(index);
  }

 private:
  void add(const std::string& prefix, const std::string& key, BundleEntry entry, int shards) {
    const auto known = entries_.find(key);
    if (known == entries_.end()) {
      entry.shard = number_of(data_path(prefix, entry.shard, shards));
      entries_.emplace(key, std::move(entry));
      return;
    }
    BundleEntry& whole = known->second;
    if (whole.slices.empty() || entry.slices.empty())
      throw InvalidArgument(cat(quoted(key), " of '", prefix, "' is in a checkpoint merged before, too"));
    if (whole.dtype != entry.dtype || !(whole.shape == entry.shape))
      throw InvalidArgument(cat(quoted(key), " has parts of ", whole.dtype, whole.shape, " and, in '", prefix,
                                "', of ", entry.dtype, entry.shape));
    whole.slices.insert(whole.slices.end(), entry.slices.begin(), entry.slices.end());
  }

  int number_of(const std::string& data_file) {
    const auto [it, fresh] = numbers_.emplace(data_file, static_cast<int>(data_files_.size()));
    if (fresh) data_files_.push_back(data_file);
    if (data_files_.size() > static_cast<std::size_t>(kMostShards))
      throw InvalidArgument("the checkpoints have too many data files");
    return it->second;
  }

  std::map<std::string, BundleEntry> entries_;
  std::map<std::string, int> numbers_;
  std::vector<std::string> data_files_;
};

class Merge {
 public:
  Merge(FileSystem& files, std::span<const std::string> prefixes, const std::string& destination)
      : files_(files),
        prefixes_(prefixes.begin(), prefixes.end()),
        destination_(destination),
        directory_(parent_of(destination)),
        base_(base_name_of(destination)),
        index_temporary_(temporary_name(index_path(destination))) {}

  void read(bool allow_missing) {
    for (const std::string& prefix : prefixes_) {
      if (files_.exists(index_path(prefix)))
        index_.add(files_, prefix);
      else if (!allow_missing)
        refuse_prefix(files_, prefix);
    }
    if (index_.data_files().empty()) throw InvalidArgument("there is nothing to merge: no checkpoint exists");
    for (const std::string& path : index_.data_files())
      if (!files_.exists(path)) throw NotFound(cat("the checkpoint is incomplete: '", path, "' is missing"));
  }

  void put_in_place() {
    make_directories(files_, directory_);
    lock_ = lock_for_saving(files_, directory_);
    clean_up_interrupted_saves(files_, directory_, base_ + ".");
    shards_ = free_count(static_cast<int>(index_.data_files().size()));
    try {
      write_index();
      move_data();
      files_.rename(index_temporary_, index_path(destination_));
    } catch (...) {
      put_back();
      throw;
    }
    files_.sync_directory(directory_);
  }

  // The new checkpoint is safe whether or not they go.
  void remove_what_is_left(bool directories) noexcept {
    try {
      for (const std::string& name : files_.list(directory_))
        if (is_data_file(name, base_) && !is_data_file(name, base_, shards_))
          remove_quietly(files_, join_path(directory_, name));
      std::set<std::string> sources;
      for (const std::string& prefix : prefixes_) {
        remove_quietly(files_, index_path(prefix));
        sources.insert(parent_of(prefix));
      }
      sources.erase(directory_);
      for (const std::string& source : sources)
        if (directories && files_.list(source).empty()) files_.remove_directory(source);
    } catch (const Error&) {
      // What cannot be removed stays.
    }
  }

 private:
  // The number of data files to speak of: the smallest that no file of an older checkpoint speaks of. More
  // than there are is no harm, as only those are opened that an entry names.
  int free_count(int count) {
    const std::vector<std::string> names = files_.list(directory_);
    const auto used = [&](int n) {
      return std::ranges::any_of(names, [&](const auto& name) { return is_data_file(name, base_, n); });
    };
    while (used(count)) ++count;
    return count;
  }

  // Its name is stored before any data file is moved, so that what a killed process moved can be told from
  // files of others.
  void write_index() {
    const auto file = files_.open_for_writing(index_temporary_, WriteMode::kExclusive);
    file->append(index_.bytes(shards_));
    file->sync();
    file->close();
    files_.sync_directory(directory_);
  }

  void move_data() {
    for (const std::string& from : index_.data_files()) {
      const std::string to = data_path(destination_, static_cast<int>(moved_.size()), shards_);
      files_.rename(from, to);
      moved_.emplace(to, from);
    }
    files_.sync_directory(directory_);
  }

  void put_back() noexcept {
    for (const auto& [to, from] : moved_) {
      try {
        files_.rename(to, from);
      } catch (...) {
        // The next save removes it.
      }
    }
    remove_quietly(files_, index_temporary_);
  }

  FileSystem& files_;
  const std::vector<std::string> prefixes_;
  const std::string destination_, directory_, base_, index_temporary_;
  std::unique_ptr<DirectoryLock> lock_;  // from put_in_place to the end
  JoinedIndex index_;
  int shards_ = 0;
  std::map<std::string, std::string> moved_;  // new path, old path; in order, as numbers have five digits
};

}  // namespace

void merge_checkpoints(std::span<const std::string> prefixes, const std::string& destination,
                       MergeCheckpointsOptions o) {
  require_prefix(destination);
  for (const std::string& prefix : prefixes)
    if (join_path(parent_of(prefix), base_name_of(prefix)) ==
        join_path(parent_of(destination), base_name_of(destination)))
      throw InvalidArgument(cat("'", prefix, "' cannot be merged into itself; merge into another name"));
  Merge merge(o.file_system ? *o.file_system : real_file_system(), prefixes, destination);
  merge.read(o.allow_missing_files);
  merge.put_in_place();
  merge.remove_what_is_left(o.delete_old_dirs);
}

}  // namespace runnel
