// Every bit of a small checkpoint turned, every length that a cut can leave, and indexes that claim sizes no
// file has. Answers: DataLoss, or the values that were saved where the bytes tell nothing; never others.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>

#include "graph/io/crc32c.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_writer.h"
#include "train/checkpoint/index_table.h"

using namespace runnel;

namespace {

constexpr const char* kIndex = "m.index";
constexpr const char* kData = "m.data-00000-of-00001";

using Values = std::map<std::string, Tensor>;

// One by one as a program reads, or all at once as a restore does.
Values read_all(MemoryFileSystem& files, bool together = false) {
  const CheckpointReader reader("m", {.file_system = &files});
  Values values;
  std::vector<TensorRequest> wanted;
  for (const auto& variable : reader.variables()) {
    wanted.push_back({variable.name});
    if (!together) values[variable.name] = reader.read(variable.name);
  }
  if (!together) return values;
  const std::vector<Tensor> read = reader.read(wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) values[wanted[i].name] = read[i];
  return values;
}

// Numbers, strings, a tensor without elements and one in two parts.
void save_small(MemoryFileSystem& files) {
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("empty", Tensor::zeros(DType::kFloat, {0, 3}));
  writer.add("flags", Tensor::from<bool>({2}, std::span<const bool>({true, false})));
  const Shape rows{3, 2};
  writer.add("rows", {rows, {{{0, 1}, {0, 2}}}}, Tensor::matrix<float>({{1, 2}}));
  writer.add("rows", {rows, {{{1, 2}, {0, 2}}}}, Tensor::matrix<float>({{3, 4}, {5, 6}}));
  writer.add("step", Tensor::scalar<std::int64_t>(7));
  writer.add("text", Tensor::vector<std::string>({"a", "", "long enough to be elsewhere"}));
  writer.finish();
}

// True for the right values, false for DataLoss. Any other error and any other value fail the test.
bool right_or_refused(MemoryFileSystem& files, const Values& right, bool together) {
  try {
    CHECK(read_all(files, together) == right);
    return true;
  } catch (const DataLoss&) {
    return false;
  } catch (const std::exception& e) {
    FAIL_CHECK(e.what());
    return false;
  }
}

// The same with `bytes` under `path`.
bool right_or_refused(MemoryFileSystem& files, const std::string& path, const std::string& bytes,
                      const Values& right) {
  put_file(files, path, bytes);
  const bool came_back = right_or_refused(files, right, false);
  CHECK(right_or_refused(files, right, true) == came_back);
  return came_back;
}

struct Small {
  Small() {
    save_small(files);
    right = read_all(files);
  }
  std::string bytes(const std::string& path) { return read_file(files, path); }
  MemoryFileSystem files;
  Values right;
};

// The message of the DataLoss with which a checkpoint of this index and 64 bytes of data is refused.
std::string refusal(const std::string& index) {
  MemoryFileSystem files;
  put_file(files, kIndex, index);
  put_file(files, kData, std::string(64, '\0'));
  const std::string together = message_of<DataLoss>([&] { read_all(files, true); });
  CHECK(message_of<DataLoss>([&] { read_all(files); }) == together);
  return together;
}

std::string refusal(const IndexEntries& entries) { return refusal(index_bytes(entries)); }

IndexEntries with_header(const std::string& key, const BundleEntry& entry) {
  return {{"", header_bytes(1)}, {key, entry.bytes()}};
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

constexpr std::int64_t kHuge = std::int64_t{1} << 50;  // bytes that no machine has: taking them would fail

}  // namespace

TEST_CASE("a turned bit of the data is DataLoss, wherever it is") {
  Small small;
  const std::string good = small.bytes(kData);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    CAPTURE(bit);
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    CHECK(!right_or_refused(small.files, kData, bad, small.right));
  }
}

TEST_CASE("a turned bit of the index is DataLoss, or in bytes that tell nothing") {
  Small small;
  const std::string good = small.bytes(kIndex);
  std::size_t harmless = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    CAPTURE(bit);
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    if (right_or_refused(small.files, kIndex, bad, small.right)) ++harmless;
  }
  CHECK(harmless <= 8 * (48 + 8 + 5));  // the footer's padding and the metaindex block, which nobody reads
}

TEST_CASE("data that is cut anywhere is DataLoss") {
  Small small;
  const std::string good = small.bytes(kData);
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK(!right_or_refused(small.files, kData, good.substr(0, length), small.right));
  }
  CHECK(right_or_refused(small.files, kData, good + "more", small.right));
}

TEST_CASE("an index that is cut anywhere is DataLoss") {
  Small small;
  const std::string good = small.bytes(kIndex);
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK(!right_or_refused(small.files, kIndex, good.substr(0, length), small.right));
  }
}

TEST_CASE("what TensorFlow wrote is as safe: a bit of every byte, and every cut") {
  for (const char* name : {"linear_ref/linear.ckpt-100", "merged/merged.ckpt"}) {
    CAPTURE(name);
    MemoryFileSystem files;
    const bool one = std::string(name).starts_with("linear");
    const std::string index = golden_bytes(cat(name, ".index"));
    put_file(files, kIndex, index);
    for (int i = 0; i < (one ? 1 : 2); ++i) {
      const std::string suffix = cat(".data-0000", i, "-of-0000", one ? 1 : 2);
      put_file(files, "m" + suffix, golden_bytes(name + suffix));
    }
    const Values right = read_all(files);
    for (std::size_t at = 0; at < index.size(); ++at) {
      CAPTURE(at);
      std::string bad = index;
      bad[at] ^= static_cast<char>(1 << at % 8);
      right_or_refused(files, kIndex, bad, right);
      CHECK(!right_or_refused(files, kIndex, index.substr(0, at), right));
    }
  }
}

TEST_CASE("an entry that claims more bytes than the file has is refused before memory is taken") {
  for (const DType type : {DType::kFloat, DType::kString, DType::kInt8}) {
    CAPTURE(type);
    const auto width = static_cast<std::int64_t>(type == DType::kString ? 1 : size_of(type));
    BundleEntry entry{.dtype = type, .shape = {kHuge}, .size = static_cast<std::uint64_t>(kHuge * width)};
    CHECK(contains(refusal(with_header("v", entry)), "are wanted and the file has 64"));
    entry.offset = static_cast<std::uint64_t>(kHuge);
    CHECK(contains(refusal(with_header("v", entry)), "are wanted and the file has 64"));
    entry.offset = 0;
    entry.size = 64;
    CHECK(refusal(with_header("v", entry)) != "no error of this class");
  }
}

TEST_CASE("a string that claims more bytes than its value has is refused before memory is taken") {
  MemoryFileSystem files;
  BundleEntry entry{.dtype = DType::kString, .shape = {1}, .size = 13};
  put_file(files, kIndex, index_bytes(with_header("v", entry)));
  put_file(files, kData, "\xff\xff\xff\xff\xff\xff\xff\x7f" + std::string(5, '\0'));
  CHECK(contains(message_of<DataLoss>([&] { read_all(files); }), "its strings go past its bytes"));
}

TEST_CASE("parts that claim a larger tensor than the files hold are refused before memory is taken") {
  const TensorSlice slice{{{0, 1}}};
  BundleEntry whole{.dtype = DType::kFloat, .shape = {kHuge}, .slices = {slice}};
  const BundleEntry part{.dtype = DType::kFloat, .shape = {1}, .size = 4};
  IndexEntries entries = with_header("v", whole);
  entries[slice_key("v", slice)] = part.bytes();
  CHECK(contains(refusal(entries), "but the data files have 64 bytes"));
  whole.slices = {TensorSlice{{{0, kHuge}}}};
  entries["v"] = whole.bytes();
  CHECK(refusal(entries) != "no error of this class");
}
