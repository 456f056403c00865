// Data is streamed to its temporary file as it is added; the index is made at the end.
#include "train/checkpoint/checkpoint_writer.h"

#include <algorithm>
#include <map>

#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_recovery.h"
#include "train/checkpoint/index_table.h"
#include "train/checkpoint/neighbours.h"
#include "train/checkpoint/value_codec.h"

namespace runnel {
namespace {

constexpr std::size_t kBuffer =
    1 << 18;  // small values are gathered to this many bytes before they are written
constexpr std::size_t kLarge = 1 << 16;  // pieces from this size on are written from where they lie

void require_name(const std::string& name) {
  if (name.empty()) throw InvalidArgument("a tensor without a name cannot be saved");
  if (name[0] == '\0') throw InvalidArgument("a tensor's name in a checkpoint cannot begin with a zero byte");
}

}  // namespace

class CheckpointWriter::State {
 public:
  State(FileSystem& files, const std::string& prefix_given)
      : files_(files),
        prefix_(require_prefix(prefix_given)),
        data_path_(data_path(prefix_, 0, 1)),
        data_temporary_(temporary_name(data_path_)),
        index_temporary_(temporary_name(index_path(prefix_))) {
    make_directories(files_, parent_of(prefix_));
    lock_ = lock_for_saving(files_, parent_of(prefix_));
    clean_up_interrupted_saves(files_, parent_of(prefix_), base_name_of(prefix_) + ".");
    data_ = files_.open_for_writing(data_temporary_, WriteMode::kExclusive);
  }
  ~State() { discard(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void add(const std::string& name, const Tensor& value) {
    require_open();
    require_name(name);
    put(name, name, value);
  }

  void add_part(const std::string& name, const SliceSpec& spec, const Tensor& value) {
    require_open();
    require_name(name);
    const Shape shape = spec.slice.within(spec.full).shape();
    if (!(shape == value.shape()))
      throw InvalidArgument(cat("slice ", spec.slice.text(), " of ", quoted(name), " has shape ", shape,
                                ", the value ", value.shape()));
    if (shape == spec.full) return add(name, value);
    BundleEntry whole{.dtype = value.dtype(), .shape = spec.full};
    const auto known = entries_.find(name);
    if (known != entries_.end()) whole = known->second;
    if (whole.slices.empty() != (known == entries_.end()) || whole.dtype != value.dtype() ||
        !(whole.shape == spec.full))
      throw InvalidArgument(cat(quoted(name), " was added as ", whole.dtype, whole.shape,
                                " before, now as a part of ", value.dtype(), spec.full));
    put(slice_key(name, spec.slice), name, value);
    whole.slices.push_back(spec.slice);
    entries_.insert_or_assign(name, std::move(whole));
  }

  void finish() {
    require_open();
    try {
      write_out();
      put_in_place();
    } catch (...) {
      discard();
      throw;
    }
    data_.reset();
    remove_what_is_replaced();
    lock_.reset();
  }

 private:
  enum class Placed { kNothing, kData, kBoth };

  void require_open() const {
    if (!data_) throw FailedPrecondition(cat("the checkpoint '", prefix_, "' is finished or failed before"));
  }

  void put(const std::string& key, const std::string& name, const Tensor& value) {
    if (!is_storable(value.dtype()))
      throw Unimplemented(cat(quoted(name), " of type ", value.dtype(), " cannot be saved"));
    const auto at = place_of(key);
    if (at != entries_.end() && at->first == key)
      throw InvalidArgument(cat(quoted(name), " is added twice to checkpoint '", prefix_, "'"));
    EncodedValue encoded;
    try {
      encoded = encode_value(value, [this](std::string_view bytes) { append(bytes); });
    } catch (const ResourceExhausted& error) {  // speaks of one piece
      discard();
      throw ResourceExhausted(cat(error.message(), "; ", quoted(name), " takes ", value.bytes(),
                                  " bytes, and ", files_.free_bytes(parent_of(prefix_)),
                                  " are free now that what was written is removed"));
    } catch (...) {
      discard();
      throw;
    }
    entries_.emplace_hint(at, key,
                          BundleEntry{.dtype = value.dtype(),
                                      .shape = value.shape(),
                                      .offset = written_,
                                      .size = encoded.size,
                                      .crc = encoded.crc});
    written_ += encoded.size;
  }

  // Where the key is or would be, found at once if it goes behind all, as names mostly come sorted.
  std::map<std::string, BundleEntry>::iterator place_of(const std::string& key) {
    return entries_.empty() || entries_.rbegin()->first < key ? entries_.end() : entries_.lower_bound(key);
  }

  void append(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) flush();
    if (bytes.size() >= kLarge) {
      flush();
      return data_->append(bytes);
    }
    buffer_ += bytes;
  }
  void flush() {
    if (!buffer_.empty()) data_->append(buffer_);
    buffer_.clear();
  }

  void write_out() {
    flush();
    data_->sync();
    data_->close();
    const auto file = files_.open_for_writing(index_temporary_, WriteMode::kExclusive);
    file->append(index_bytes([this](const TakeEntry& take) { give_index(take); }));
    file->sync();
    file->close();
    // New data may not be stored under its name unless the new index can be found, if only by its temporary
    // one.
    files_.sync_directory(parent_of(prefix_));
  }

  void give_index(const TakeEntry& take) const {
    BundleEntryCodec codec;
    take("", header_bytes(1));
    for (const auto& [key, entry] : entries_) take(key, codec.bytes(entry));
  }

  void put_in_place() {
    const std::string directory = parent_of(prefix_);
    replaces_ = files_.exists(index_path(prefix_));
    rename_temporary(files_, data_temporary_, data_path_);
    placed_ = Placed::kData;
    if (replaces_) files_.sync_directory(directory);  // the new index may not be stored before the new data
    rename_temporary(files_, index_temporary_, index_path(prefix_));
    placed_ = Placed::kBoth;
    files_.sync_directory(directory);
  }

  // An older checkpoint of this prefix may have been in several data files, and a save that failed in this
  // process may have left its index. They belong to nothing now; the new checkpoint is safe whether or not
  // they go.
  void remove_what_is_replaced() noexcept {
    try {
      const std::string directory = parent_of(prefix_);
      for (const std::string& name : files_.list(directory)) {
        const bool data = is_data_file(name, base_name_of(prefix_)) && name != base_name_of(data_path_);
        const bool index = target_of_temporary(name) == base_name_of(index_path(prefix_));
        if (data || index) remove_quietly(files_, join_path(directory, name));
      }
    } catch (...) {
      // A directory that cannot be listed keeps them.
    }
  }

  // Takes back what can be taken back. Once the data is in place over an older checkpoint, the new index
  // stays under its temporary name: it is the one that fits, and readers find it.
  void discard() noexcept {
    if (!data_) return;
    data_.reset();
    if (placed_ == Placed::kNothing) remove_quietly(files_, data_temporary_);
    if (placed_ == Placed::kData && !replaces_) remove_quietly(files_, data_path_);
    if (placed_ == Placed::kNothing || !replaces_) remove_quietly(files_, index_temporary_);
  }

  FileSystem& files_;
  std::string prefix_;
  std::string data_path_;
  std::string data_temporary_;
  std::string index_temporary_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<WritableFile> data_;  // none once finished or failed
  std::string buffer_;
  std::uint64_t written_ = 0;
  std::map<std::string, BundleEntry> entries_;
  Placed placed_ = Placed::kNothing;
  bool replaces_ = false;  // an older checkpoint of the same prefix
};

CheckpointWriter::CheckpointWriter(const std::string& prefix, CheckpointWriterOptions options)
    : state_(
          std::make_unique<State>(options.file_system ? *options.file_system : real_file_system(), prefix)) {}
CheckpointWriter::~CheckpointWriter() = default;
CheckpointWriter::CheckpointWriter(CheckpointWriter&&) noexcept = default;

void CheckpointWriter::add(const std::string& name, const Tensor& value) { state_->add(name, value); }

void CheckpointWriter::add(const std::string& name, const SliceSpec& spec, const Tensor& value) {
  state_->add_part(name, spec, value);
}

void CheckpointWriter::finish() { state_->finish(); }

}  // namespace runnel
