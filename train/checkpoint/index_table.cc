// LevelDB tables over our files and strings.
#include "train/checkpoint/index_table.h"

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>
#include <snappy-c.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>

namespace runnel {
namespace {

constexpr std::uint64_t kFooter = 48;         // two handles, padding, magic
constexpr std::uint64_t kTrailer = 5;         // kind and checksum after each block
constexpr std::uint64_t kSmallestBlock = 4;   // the number of restarts
constexpr char kSnappy = 1;                   // the kind of a compressed block
constexpr std::uint64_t kMostExpansion = 22;  // Snappy makes at most 64 bytes of 3
constexpr std::uint64_t kLongestVarint = 10;
constexpr std::string_view kMagic("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
constexpr std::size_t kBlockSize = 262144;  // TensorFlow's; LevelDB's own would be 4096
// Keys share prefixes and blocks may be compressed, so entries may be larger than the file - within reason.
constexpr std::uint64_t kMostGrowth = 256;
constexpr std::uint64_t kAlwaysAllowed = 1 << 20;

// What LevelDB reads. It asks for a block's size plus its trailer, a sum that wraps for a hostile handle:
// such a read is refused here, before LevelDB would look past its buffer.
class TableInput final : public leveldb::RandomAccessFile {
 public:
  explicit TableInput(const ReadableFile& file) : file_(file) {}
  leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice* result,
                       char* scratch) const override {
    if (n < kSmallestBlock + kTrailer) return leveldb::Status::Corruption("impossible block size");
    try {
      *result = leveldb::Slice(scratch, file_.read_at(offset, std::span<char>(scratch, n)));
      return leveldb::Status::OK();
    } catch (...) {
      error_ = std::current_exception();
      return leveldb::Status::IOError("unreadable");
    }
  }
  // Throws what a read threw; LevelDB, which frees nothing when an exception passes, was told of a failure
  // instead.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const ReadableFile& file_;
  mutable std::exception_ptr error_;
};

class StringOutput final : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    bytes.append(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }

  std::string bytes;
};

[[noreturn]] void damaged(const ReadableFile& file, const std::string& what) {
  throw DataLoss(
      cat("'", file.path(), "' is damaged: ", what, "; restore an older checkpoint or copy it again"));
}

// Takes a varint off the front of `bytes`; false if there is none.
bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

// Where a block lies; the trailer follows it.
struct Handle {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

bool take_handle(std::string_view& bytes, Handle& handle) {
  return take_varint(bytes, handle.offset) && take_varint(bytes, handle.length);
}

void require_inside(const ReadableFile& file, const char* block, const Handle& at) {
  const std::uint64_t size = file.size();
  if (at.offset > size || at.length > size - at.offset || size - at.offset - at.length < kFooter + kTrailer)
    damaged(file, cat("it places its ", block, " block at ", at.offset, " with ", at.length,
                      " bytes, outside of the file's ", size));
}

// The block as it is before compression; nothing if it is unsound, which LevelDB reports itself. `at` lies
// inside.
std::optional<std::string> plain_block(const ReadableFile& file, const Handle& at) {
  std::string block = file.read_at(at.offset, at.length + 1);
  if (block.size() != at.length + 1) return {};
  const char kind = block.back();
  block.pop_back();
  if (kind != kSnappy) return block;
  std::size_t length = 0;
  if (snappy_uncompressed_length(block.data(), block.size(), &length) != SNAPPY_OK) return {};
  std::string plain(length, '\0');
  if (snappy_uncompress(block.data(), block.size(), plain.data(), &length) != SNAPPY_OK) return {};
  return plain;
}

// LevelDB takes memory for a block before it reads it, and for what a compressed one says it holds, so both
// are looked at first.
void check_block(const ReadableFile& file, const char* block, const Handle& at) {
  require_inside(file, block, at);
  const std::string kind = file.read_at(at.offset + at.length, 1);
  if (kind.empty() || kind[0] != kSnappy) return;
  const std::string head = file.read_at(at.offset, std::min(at.length, kLongestVarint));
  std::string_view rest = head;
  std::uint64_t length = 0;
  if (!take_varint(rest, length) || length > kMostExpansion * at.length)
    damaged(file,
            cat("its ", block, " block at ", at.offset, " claims to hold ", length, " bytes in ", at.length));
}

void check_data_blocks(const ReadableFile& file, const Handle& index) {
  const std::optional<std::string> block = plain_block(file, index);
  std::uint32_t restarts = 0;
  if (!block || block->size() < sizeof restarts) return;
  std::memcpy(&restarts, block->data() + block->size() - sizeof restarts, sizeof restarts);
  if (restarts > block->size() / sizeof restarts - 1) return;
  std::string_view rest(block->data(), block->size() - sizeof restarts * (std::uint64_t{restarts} + 1));
  std::uint64_t shared = 0, own = 0, length = 0;
  while (take_varint(rest, shared) && take_varint(rest, own) && take_varint(rest, length)) {
    if (own > rest.size() || length > rest.size() - own) return;
    std::string_view value = rest.substr(own, length);
    rest.remove_prefix(own + length);
    Handle data;
    if (take_handle(value, data)) check_block(file, "data", data);
  }
}

void check_handles(const ReadableFile& file) {
  if (!ends_like_table(file))
    damaged(file, "it does not end as an index does, so it was cut or is another kind of file");
  const std::string footer = file.read_at(file.size() - kFooter, kFooter);
  std::string_view rest = footer;
  Handle metaindex, index;
  if (!take_handle(rest, metaindex) || !take_handle(rest, index)) damaged(file, "its footer is unreadable");
  require_inside(file, "metaindex", metaindex);
  check_block(file, "index", index);
  check_data_blocks(file, index);
}

std::string_view view_of(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

void read_entries(const ReadableFile& file, const TableInput& input, leveldb::Table& table,
                  const TakeEntry& take) {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  const std::unique_ptr<leveldb::Iterator> it(table.NewIterator(options));
  std::uint64_t left = kAlwaysAllowed + kMostGrowth * file.size();
  std::string before;
  bool first = true;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string_view key = view_of(it->key()), value = view_of(it->value());
    const std::uint64_t bytes = key.size() + value.size() + sizeof(IndexEntries::value_type);
    if (bytes > left) damaged(file, cat("its entries take over ", kMostGrowth, " times the file's size"));
    left -= bytes;
    if (!first && before >= key) damaged(file, "its keys are out of order");
    take(key, value);
    before = key;
    first = false;
  }
  input.rethrow();
  if (!it->status().ok()) damaged(file, it->status().ToString());
}

}  // namespace

bool ends_like_table(const ReadableFile& file) {
  const std::uint64_t size = file.size();
  return size >= kFooter && file.read_at(size - kMagic.size(), kMagic.size()) == kMagic;
}

void read_index(const ReadableFile& file, const TakeEntry& take) {
  check_handles(file);
  leveldb::Options options;
  options.paranoid_checks = true;
  TableInput input(file);
  try {
    leveldb::Table* opened = nullptr;
    const leveldb::Status status = leveldb::Table::Open(options, &input, file.size(), &opened);
    const std::unique_ptr<leveldb::Table> table(opened);
    input.rethrow();
    if (!status.ok()) damaged(file, status.ToString());
    read_entries(file, input, *table, take);
  } catch (const std::bad_alloc&) {
    damaged(file, "a block of it claims more bytes than there is memory");
  }
}

IndexEntries read_index(const ReadableFile& file) {
  IndexEntries entries;
  read_index(file, [&](std::string_view key, std::string_view value) {
    entries.emplace_hint(entries.end(), key, value);
  });
  return entries;
}

std::string index_bytes(const std::function<void(const TakeEntry& take)>& give) {
  leveldb::Options options;
  options.block_size = kBlockSize;
  options.block_restart_interval = 16;
  options.compression = leveldb::kNoCompression;
  StringOutput output;
  leveldb::TableBuilder builder(options, &output);
  try {
    give([&builder](std::string_view key, std::string_view value) {
      builder.Add({key.data(), key.size()}, {value.data(), value.size()});
    });
  } catch (...) {
    builder.Abandon();  // LevelDB wants to be told
    throw;
  }
  const leveldb::Status status = builder.Finish();
  if (!status.ok()) throw Internal(cat("cannot make an index: ", status.ToString()));
  return std::move(output.bytes);
}

std::string index_bytes(const IndexEntries& entries) {
  return index_bytes([&entries](const TakeEntry& take) {
    for (const auto& [key, value] : entries) take(key, value);
  });
}

}  // namespace runnel
