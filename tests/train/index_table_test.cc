// Tables made by hand, with good checksums and hostile contents.
#include "train/checkpoint/index_table.h"

#include <doctest/doctest.h>

#include <cstring>
#include <optional>

#include "graph/io/crc32c.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"

using namespace runnel;

namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out += static_cast<char>(value);
}

// An entry that shares `shared` bytes with the key before.
std::string entry(std::uint64_t shared, const std::string& key, const std::string& value) {
  return varint(shared) + varint(key.size()) + varint(value.size()) + key + value;
}

// A block with its trailer.
std::string sealed(std::string bytes, char kind) {
  bytes += kind;
  const std::uint32_t crc = mask_crc(crc32c(bytes));
  return bytes.append(reinterpret_cast<const char*>(&crc), sizeof crc);
}

std::string with_restart(const std::string& entries) { return entries + std::string("\0\0\0\0\1\0\0\0", 8); }
std::string block(const std::string& entries) { return sealed(with_restart(entries), 0); }

// The same as Snappy would write it, as one literal, with a length that may lie. Requires: at most 60 bytes.
std::string packed_block(const std::string& entries, std::optional<std::uint64_t> claimed = {}) {
  const std::string plain = with_restart(entries);
  return sealed(varint(claimed.value_or(plain.size())) + static_cast<char>((plain.size() - 1) << 2) + plain,
                1);
}

std::string place(std::uint64_t offset, std::uint64_t size) { return varint(offset) + varint(size); }

// A table of one data block whose index block says that it lies at `data`.
std::string table(const std::string& entries, std::string data = "", std::string index = "") {
  const std::string data_block = block(entries), meta = block("");
  if (data.empty()) data = place(0, data_block.size() - 5);
  const std::string index_block = block(entry(0, "\xff", data));
  const std::uint64_t meta_at = data_block.size(), index_at = meta_at + meta.size();
  if (index.empty()) index = place(index_at, index_block.size() - 5);
  std::string footer = place(meta_at, meta.size() - 5) + index;
  footer.resize(40);
  return data_block + meta + index_block + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
}

std::string table_of(const std::string& data_block, const std::string& index_block) {
  const std::string meta = block("");
  std::string footer = place(data_block.size(), meta.size() - 5) +
                       place(data_block.size() + meta.size(), index_block.size() - 5);
  footer.resize(40);
  return data_block + meta + index_block + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
}

IndexEntries read(const std::string& bytes) {
  MemoryFileSystem files;
  put_file(files, "i", bytes);
  return read_index(*files.open_for_reading("i"));
}

}  // namespace

TEST_CASE("a table made by hand is read, shared key bytes and all") {
  CHECK(read(table(entry(0, "", "h") + entry(0, "abc", "1") + entry(2, "d", "2"))) ==
        IndexEntries{{"", "h"}, {"abc", "1"}, {"abd", "2"}});
}

TEST_CASE("places outside of the file are refused before memory is taken for them") {
  for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{1} << 33, std::uint64_t{1} << 62,
                                   UINT64_MAX, UINT64_MAX - 4, UINT64_MAX - 5})
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{10}, UINT64_MAX}) {
      CAPTURE(size);
      CAPTURE(offset);
      const auto refused = [&](const std::string& bytes) {
        return message_of<DataLoss>([&] { read(bytes); }).find("outside of the file's") != std::string::npos;
      };
      CHECK(refused(table(entry(0, "a", "1"), place(offset, size))));
      CHECK(refused(table(entry(0, "a", "1"), "", place(offset, size))));
    }
}

TEST_CASE("blocks that Snappy packed are read, the index block too") {
  const std::string data = packed_block(entry(0, "abc", "1"));
  const IndexEntries wanted{{"abc", "1"}};
  CHECK(read(table_of(data, packed_block(entry(0, "\xff", place(0, data.size() - 5))))) == wanted);
}

TEST_CASE("packed blocks that claim more than their bytes can hold are refused before memory is taken") {
  const std::string data = block(entry(0, "a", "1")), at = place(0, data.size() - 5);
  for (const std::uint64_t claimed : {std::uint64_t{600}, std::uint64_t{1} << 31, UINT64_MAX}) {
    CAPTURE(claimed);
    const auto refused = [&](const std::string& bytes, const char* why) {
      return message_of<DataLoss>([&] { read(bytes); }).find(why) != std::string::npos;
    };
    const std::string lying = packed_block(entry(0, "a", "1"), claimed);
    CHECK(refused(table_of(lying, block(entry(0, "\xff", place(0, lying.size() - 5)))), "claims to hold"));
    CHECK(refused(table_of(data, packed_block(entry(0, "\xff", at), claimed)), "claims to hold"));
    CHECK(
        refused(table_of(data, packed_block(entry(0, "\xff", place(0, claimed)))), "outside of the file's"));
  }
}

TEST_CASE("keys that do not rise are refused") {
  CHECK_THROWS_AS(read(table(entry(0, "b", "1") + entry(0, "a", "2"))), DataLoss);
  CHECK_THROWS_AS(read(table(entry(0, "a", "1") + entry(0, "a", "2"))), DataLoss);
}

TEST_CASE("a table whose keys unfold to far more than the file is refused") {
  std::string entries = entry(0, std::string(99'998, 'k'), "");
  for (int i = 0; i < 20'000; ++i)
    entries += entry(99'998, {static_cast<char>(i / 200), static_cast<char>(i % 200)}, "");
  CHECK(message_of<DataLoss>([&] { read(table(entries)); }).find("256 times the file's size") !=
        std::string::npos);
}
