// Reading checkpoints that TensorFlow wrote, and refusing what is none.
#include "train/checkpoint/checkpoint_reader.h"

#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <set>

#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/checkpoint/checkpoint_writer.h"

using namespace runnel;

namespace {

google::protobuf::Struct json(const std::string& name) {
  google::protobuf::Struct out;
  REQUIRE(google::protobuf::util::JsonStringToMessage(golden_bytes(name), &out).ok());
  return out;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const unsigned char c : bytes) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

Shape shape_of(const google::protobuf::Value& dims) {
  Shape shape;
  for (const auto& dim : dims.list_value().values())
    shape.push_back(static_cast<std::int64_t>(dim.number_value()));
  return shape;
}

// A reader over bytes in memory.
CheckpointReader reader_of(MemoryFileSystem& files, const std::string& index, const std::string& data) {
  put_file(files, "m.index", index);
  put_file(files, "m.data-00000-of-00001", data);
  return CheckpointReader("m", {.file_system = &files});
}

constexpr const char* kLinear = "linear_ref/linear.ckpt-100";

}  // namespace

TEST_CASE("the linear regression's checkpoint lists and gives its two variables") {
  const CheckpointReader reader(golden(kLinear));
  REQUIRE(reader.variables().size() == 2);
  CHECK(reader.variables()[0] == VariableInfo{"biase", DType::kFloat, {1}});
  CHECK(reader.info("weight") == VariableInfo{"weight", DType::kFloat, {1}});
  CHECK(reader.read("weight") == Tensor::vector<float>({0x1.9bf902p-4f}));  // final_W of linear.json
  CHECK(reader.read("biase") == Tensor::vector<float>({0x1.32e38ep-2f}));
}

TEST_CASE("every type that TensorFlow saves is read with its bytes, scalars and empty ones too") {
  const CheckpointReader reader(golden("dtypes/all.ckpt"));
  const auto tensors = json("dtypes/dtypes.json").fields().at("tensors").struct_value().fields();
  CHECK(reader.variables().size() == tensors.size());
  for (const auto& [name, wanted] : tensors) {
    const auto& this_name = name;  // clang 14 captures no structured binding
    CAPTURE(this_name);
    const auto& fields = wanted.struct_value().fields();
    CHECK(static_cast<int>(reader.info(name).dtype) == fields.at("enum").number_value());
    if (name.starts_with("variant")) {
      CHECK_THROWS_AS(reader.read(name), Unimplemented);
      continue;
    }
    const Tensor got = reader.read(name);
    CHECK(got.shape() == shape_of(fields.at("shape")));
    if (got.dtype() != DType::kString) {
      CHECK(hex({static_cast<const char*>(got.data()), got.bytes()}) == fields.at("bytes").string_value());
      continue;
    }
    std::size_t i = 0;
    for (const auto& text : fields.at("strings_hex").list_value().values())
      CHECK(hex(got.values<std::string>()[i++]) == text.string_value());
  }
}

TEST_CASE("an index of several blocks is read whole") {
  const CheckpointReader reader(golden("many/many.ckpt"));
  CHECK(reader.variables().size() == 3000);
  std::set<int> layers;
  for (const auto& variable : reader.variables()) {
    const auto at = variable.name.find("/model/layer_");
    if (variable.dtype != DType::kFloat) continue;
    const int layer = std::stoi(variable.name.substr(at + 13, 4));
    layers.insert(layer);
    REQUIRE(reader.read(variable.name).scalar<float>() == 3.0f * static_cast<float>(layer));
  }
  CHECK(layers.size() == 1000);
}

TEST_CASE("parts of partitioned variables are joined") {
  const CheckpointReader reader(golden("partitioned/part.ckpt"));
  CHECK(reader.info("by3") == VariableInfo{"by3", DType::kFloat, {10, 2}});
  const Tensor by3 = reader.read("by3");
  // Each part counts up from 100 times its first row.
  for (int row = 0; row < 10; ++row) {
    const int first = row < 4 ? 0 : row < 7 ? 4 : 7;
    CHECK(by3.values<float>()[2 * row] == static_cast<float>(100 * first + 2 * (row - first)));
  }
  CHECK(reader.read("col").values<float>()[200 + 100] == 10000 + 100);
  CHECK(reader.read("scope/long") == Tensor::zeros(DType::kInt8, {20000}));
  CHECK(reader.read("res/r").shape() == Shape{5, 3});
}

TEST_CASE("parts, bytes and data files are told without reading a value") {
  const CheckpointReader reader(golden("partitioned/part.ckpt"));
  CHECK(reader.parts("by3") ==
        std::vector<TensorSlice>{{{{0, 4}, {0, 2}}}, {{{4, 3}, {0, 2}}}, {{{7, 3}, {0, 2}}}});
  CHECK(reader.parts("whole").empty());
  CHECK(reader.stored_bytes("by3") == 80);
  CHECK(reader.stored_bytes("whole") == 16);
  CHECK_THROWS_AS(reader.parts("none"), NotFound);
  CHECK_THROWS_AS(reader.stored_bytes("none"), NotFound);
  CHECK(CheckpointReader(golden("sharded/shard.ckpt-7")).data_files() == 2);
}

TEST_CASE("all damage is found, in parts too, and what is sound is not named") {
  for (const char* name : {kLinear, "partitioned/part.ckpt"}) {
    MemoryFileSystem files;
    std::string data = golden_bytes(cat(name, ".data-00000-of-00001"));
    CHECK(reader_of(files, golden_bytes(cat(name, ".index")), data).find_damage().empty());
    data[0] ^= 1;
    data.pop_back();
    const CheckpointReader reader = reader_of(files, golden_bytes(cat(name, ".index")), data);
    const auto damage = reader.find_damage();
    REQUIRE(damage.size() == 2);
    CHECK(damage[0].name == reader.variables().front().name);
    CHECK(damage[1].name == reader.variables().back().name);
    CHECK(damage[1].why.find("wanted and the file has") != std::string::npos);
    CHECK_THROWS_AS(reader.verify(), DataLoss);
  }
}

TEST_CASE("a region is read across parts, and from a tensor that is whole") {
  const CheckpointReader reader(golden("partitioned/part.ckpt"));
  CHECK(reader.read("by3", TensorSlice{{{3, 2}, {0, 2}}}) == Tensor::matrix<float>({{6, 7}, {400, 401}}));
  CHECK(reader.read("whole", TensorSlice{{{1, 2}}}) == Tensor::vector<float>({1, 2}));
  CHECK_THROWS_AS(reader.read("whole", TensorSlice{{{3, 2}}}), InvalidArgument);
  CHECK_THROWS_AS(reader.read("whole", TensorSlice{}), InvalidArgument);
}

TEST_CASE("odd slice keys are found and parts that do not cover the tensor are refused") {
  const CheckpointReader reader(golden("partitioned/odd.ckpt"));
  const std::string nul("nul\0name", 8);
  CHECK(reader.read(nul, TensorSlice{{{0, 2}}}) == Tensor::zeros(DType::kInt8, {2}));
  CHECK(message_of<DataLoss>([&] { reader.read(nul); }).find("'nul\\x00name'") != std::string::npos);
  CHECK(reader.read("all") == Tensor::zeros(DType::kInt8, {2, 2}));
  CHECK(message_of<DataLoss>([&] { reader.read("part"); }).find("hold 6 of the 12 elements") !=
        std::string::npos);
  CHECK(reader.read("part", TensorSlice{{{0, 3}, {1, 2}}}) == Tensor::zeros(DType::kInt8, {3, 2}));
  CHECK(reader.read("giant7", TensorSlice{{{1125899906842622, 2}}}).elements() == 2);
  CHECK_THROWS_AS(reader.read("giant"), InvalidArgument);  // of 2^62+1 elements
  CHECK_THROWS_AS(reader.read("giant7"), DataLoss);
}

TEST_CASE("several data files are read, parts across them too") {
  const CheckpointReader sharded(golden("sharded/shard.ckpt-7"));
  CHECK(sharded.read("a") == Tensor::vector<float>({1, 2}));
  CHECK(sharded.read("b") == Tensor::vector<float>({5}));
  CHECK(sharded.read("c") == Tensor::matrix<std::int32_t>({{3, 4}}));
  CHECK(sharded.read("d") == Tensor::scalar(6.0f));
  const CheckpointReader merged(golden("merged/merged.ckpt"));
  CHECK(merged.read("s") == Tensor::vector<std::string>({"a", ""}));
  CHECK(merged.read("w") == Tensor::vector<std::int32_t>({1, 2, 3, 4}));
  CHECK(merged.read("y") == Tensor::vector<std::int64_t>({7}));
}

TEST_CASE("indexes that TensorFlow reads but never writes are read") {
  for (const char* name : {"block4k", "snappy", "interval1", "norestart"}) {
    CAPTURE(name);
    const CheckpointReader reader(golden(cat("foreign/", name)));
    REQUIRE(reader.variables().size() == 600);
    for (int i = 0; i < 600; ++i)
      REQUIRE(reader.read(reader.variables()[i].name).values<std::int16_t>()[0] == i);
  }
}

TEST_CASE("names are bytes: long, with shared prefixes, not UTF-8") {
  const CheckpointReader reader(golden("names/names.ckpt"));
  const std::vector<std::string> names = {
      "a",        "a/b", "a/b/c", std::string(300, 'a'),          "A",
      "\xc3\xa9", "~",   " ",     "_CHECKPOINTABLE_OBJECT_GRAPH", "raw\x80\xff"};
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(reader.read(names[i]).scalar<std::uint8_t>() == i);
  CHECK_FALSE(reader.has("a/"));
  CHECK_FALSE(reader.has(""));
  CHECK(message_of<NotFound>([&] { reader.read("b"); }).find("no 'b' in checkpoint") == 0);
}

TEST_CASE("one file of a checkpoint given for its prefix is answered with the prefix") {
  for (const char* suffix : {".index", ".data-00000-of-00001", ".meta"}) {
    const std::string given = golden(kLinear) + suffix;
    CHECK(message_of<InvalidArgument>([&] { CheckpointReader reader(given); }) ==
          cat("'", given, "' is one file of a checkpoint: pass '", golden(kLinear), "'"));
  }
  CHECK(message_of<InvalidArgument>([&] { CheckpointReader reader(golden("many")); }) ==
        cat("'", golden("many"), "' is a directory: pass a checkpoint's prefix; there is '",
            golden("many/many.ckpt"), "'"));
}

TEST_CASE("files of other kinds given for a prefix are named") {
  MemoryFileSystem files;
  std::string tar(600, '\0');
  tar.replace(257, 5, "ustar");
  const std::pair<std::string, std::string> kinds[] = {
      {"", "empty"},
      {"version https://git-lfs.github.com/spec/v1\n", "git-lfs"},
      {tar, "tar archive"},
      {"hello", "a text file"},
      {"\x1f\x8b\x08", "gzip"},
      {"\x01\x02", "no checkpoint"}};
  for (const auto& [bytes, kind] : kinds) {
    const auto& this_kind = kind;  // clang 14 captures no structured binding
    CAPTURE(this_kind);
    put_file(files, "given", bytes);
    put_file(files, "model.ckpt-7.index", "x");
    const std::string message =
        message_of<InvalidArgument>([&] { CheckpointReader("given", {.file_system = &files}); });
    CHECK(message.find(kind) != std::string::npos);
    CHECK(message.find("'model.ckpt-7'") != std::string::npos);
  }
  put_file(files, "given", golden_bytes(std::string(kLinear) + ".index"));
  CHECK(message_of<Unimplemented>([&] { CheckpointReader("given", {.file_system = &files}); }).find("V1") !=
        std::string::npos);
}

TEST_CASE("an index that is a pointer, a text or empty is named as that") {
  for (const std::string bytes : {"", "version https://git-lfs.github.com/spec/v1\n", "hello"}) {
    MemoryFileSystem files;
    CHECK(message_of<DataLoss>([&] { reader_of(files, bytes, ""); }).find("is no checkpoint index: it is ") !=
          std::string::npos);
  }
}

TEST_CASE("a prefix without files and a checkpoint without its data are NotFound with what to do") {
  MemoryFileSystem files;
  CHECK(message_of<NotFound>([&] { CheckpointReader("d/m-9", {.file_system = &files}); }) ==
        "no checkpoint 'd/m-9': there is no 'd/m-9.index'");
  put_file(files, "m.index", golden_bytes(std::string(kLinear) + ".index"));
  CHECK(message_of<NotFound>([&] { CheckpointReader("m", {.file_system = &files}); }) ==
        "the checkpoint is incomplete: 'm.data-00000-of-00001' is missing; copy it here too");
}

TEST_CASE("every truncation and every flipped bit of an index is an error or the same values") {
  const std::string index = golden_bytes(std::string(kLinear) + ".index");
  const std::string data = golden_bytes(std::string(kLinear) + ".data-00000-of-00001");
  MemoryFileSystem whole;
  const CheckpointReader good = reader_of(whole, index, data);
  const auto check = [&](const std::string& damaged) {
    MemoryFileSystem files;
    try {
      const CheckpointReader reader = reader_of(files, damaged, data);
      REQUIRE(reader.variables() == good.variables());
      for (const auto& v : good.variables()) REQUIRE(reader.read(v.name) == good.read(v.name));
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  for (std::size_t length = 0; length < index.size(); ++length) REQUIRE(check(index.substr(0, length)));
  int errors = 0;
  for (std::size_t bit = 0; bit < 8 * index.size(); ++bit) {
    std::string flipped = index;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    errors += check(flipped);
  }
  CHECK(errors >= 800);  // the rest lies in the empty metaindex block and the footer's padding
}

TEST_CASE("every truncation and every flipped bit of the data is DataLoss") {
  const std::string index = golden_bytes("merged/merged.ckpt.index");
  for (const char* shard : {".data-00000-of-00002", ".data-00001-of-00002"}) {
    const std::string data = golden_bytes(std::string("merged/merged.ckpt") + shard);
    for (std::size_t bit = 0; bit < 16 * data.size(); ++bit) {
      MemoryFileSystem files;
      put_file(files, "m.index", index);
      for (const char* each : {".data-00000-of-00002", ".data-00001-of-00002"})
        put_file(files, std::string("m") + each, golden_bytes(std::string("merged/merged.ckpt") + each));
      std::string damaged = data;
      if (bit < 8 * data.size())
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      else
        damaged.resize(bit / 8 - data.size());
      put_file(files, std::string("m") + shard, damaged);
      const CheckpointReader reader("m", {.file_system = &files});
      REQUIRE_THROWS_AS(reader.verify(), DataLoss);
    }
  }
}
