// Writing checkpoints: TensorFlow's bytes, refusals, and what is left in the directory.
#include "train/checkpoint/checkpoint_writer.h"

#include <doctest/doctest.h>

#include "graph/io/fault_file_system.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/index_table.h"

using namespace runnel;

namespace {

// Names in the order in which their values lie in the data file need not be sorted; all golden ones but these
// are.
void copy(const std::string& from, FileSystem& files, const std::string& to) {
  const CheckpointReader reader(golden(from));
  CheckpointWriter writer(to, {.file_system = &files});
  for (const auto& variable : reader.variables()) writer.add(variable.name, reader.read(variable.name));
  writer.finish();
}

}  // namespace

TEST_CASE("two float scalars make the 8 and 134 bytes that TensorFlow makes") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("a", Tensor::scalar(0.5f));
  writer.add("b", Tensor::scalar(2.0f));
  writer.finish();
  const auto left = files.contents();
  CHECK(left.size() == 2);
  CHECK(left.at("m.data-00000-of-00001") == std::string("\0\0\0\x3f\0\0\0\x40", 8));
  const std::string& index = left.at("m.index");
  CHECK(index.size() == 134);
  CHECK(index.find(std::string("\x08\x01\x12\x00\x28\x04\x35\x06\x38\x27\x1f", 11)) != std::string::npos);
  CHECK(index.find("\x10\xfd\x78\x4f") != std::string::npos);
  CHECK(index.ends_with("\x57\xfb\x80\x8b\x24\x75\x47\xdb"));
}

TEST_CASE("what TensorFlow wrote is written again byte for byte") {
  MemoryFileSystem files;
  copy("linear_ref/linear.ckpt-100", files, "m");
  CHECK(files.contents().at("m.index") == golden_bytes("linear_ref/linear.ckpt-100.index"));
  CHECK(files.contents().at("m.data-00000-of-00001") ==
        golden_bytes("linear_ref/linear.ckpt-100.data-00000-of-00001"));
}

TEST_CASE("every index that TensorFlow wrote is made again from its entries byte for byte") {
  for (const char* name :
       {"linear_ref/linear.ckpt-100", "dtypes/all.ckpt", "many/many.ckpt", "partitioned/part.ckpt",
        "partitioned/odd.ckpt", "sharded/shard.ckpt-7", "merged/merged.ckpt", "names/names.ckpt"}) {
    CAPTURE(name);
    const std::string path = golden(std::string(name) + ".index");
    const auto file = real_file_system().open_for_reading(path);
    CHECK(index_bytes(read_index(*file)) == read_file(real_file_system(), path));
  }
}

TEST_CASE("parts of partitioned variables are written as TensorFlow writes them") {
  const CheckpointReader reader(golden("partitioned/part.ckpt"));
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  for (const char* part : {"by3 10 2 0,4:0,2", "by3 10 2 4,3:0,2", "by3 10 2 7,3:0,2", "col 2 200 0,2:0,100",
                           "col 2 200 0,2:100,100", "res/r 5 3 0,3:0,3", "res/r 5 3 3,2:0,3",
                           "scope/long 20000 0,10000", "scope/long 20000 10000,10000"}) {
    const std::string text = part, name = text.substr(0, text.find(' '));
    const auto spec = parse_slice_spec(text.substr(name.size() + 1));
    writer.add(name, *spec, reader.read(name, spec->slice));
  }
  writer.add("whole", reader.read("whole"));
  writer.finish();
  CHECK(files.contents().at("m.index") == golden_bytes("partitioned/part.ckpt.index"));
  CHECK(files.contents().at("m.data-00000-of-00001") ==
        golden_bytes("partitioned/part.ckpt.data-00000-of-00001"));
}

TEST_CASE("every storable type comes back as it was") {
  const CheckpointReader reader(golden("dtypes/all.ckpt"));
  MemoryFileSystem files;
  CheckpointWriter writer("sub/dir/m", {.file_system = &files});
  for (const auto& v : reader.variables())
    if (v.dtype != DType::kVariant) writer.add(v.name, reader.read(v.name));
  writer.finish();
  const CheckpointReader back("sub/dir/m", {.file_system = &files});
  back.verify();
  for (const auto& v : back.variables()) {
    CAPTURE(v.name);
    CHECK(back.info(v.name) == reader.info(v.name));
    CHECK(back.read(v.name) == reader.read(v.name));
  }
  CHECK(back.variables().size() == reader.variables().size() - 2);
}

TEST_CASE("large and small values mix in one file") {
  ScratchDirectory scratch;
  CheckpointWriter writer(scratch / "m");
  const Tensor large = Tensor::from<float>({300, 1000}, std::vector<float>(300000, 1.5f));
  for (int i = 0; i < 5; ++i) {
    writer.add(cat("large", i), large);
    writer.add(cat("small", i), Tensor::scalar(std::int64_t{i}));
  }
  writer.finish();
  const CheckpointReader reader(scratch / "m");
  for (int i = 0; i < 5; ++i) {
    CHECK(reader.read(cat("large", i)) == large);
    CHECK(reader.read(cat("small", i)).scalar<std::int64_t>() == i);
  }
}

TEST_CASE("a checkpoint without tensors is one that can be read") {
  MemoryFileSystem files;
  CheckpointWriter("m", {.file_system = &files}).finish();
  CHECK(CheckpointReader("m", {.file_system = &files}).variables().empty());
}

TEST_CASE("names and values that cannot be saved are refused, and the rest can still be written") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  const Tensor one = Tensor::scalar(1.0f);
  writer.add("a", one);
  CHECK_THROWS_AS(writer.add("a", one), InvalidArgument);
  CHECK_THROWS_AS(writer.add("", one), InvalidArgument);
  CHECK_THROWS_AS(writer.add(std::string("\0x", 2), one), InvalidArgument);
  CHECK_THROWS_AS(writer.add("none", Tensor()), Unimplemented);
  const SliceSpec part{.full = {4}, .slice = TensorSlice{{{0, 2}}}};
  CHECK_THROWS_AS(writer.add("a", part, Tensor::vector<float>({1, 2})), InvalidArgument);
  CHECK_THROWS_AS(writer.add("p", part, Tensor::vector<float>({1, 2, 3})), InvalidArgument);
  writer.add("p", part, Tensor::vector<float>({1, 2}));
  CHECK_THROWS_AS(writer.add("p", part, Tensor::vector<float>({1, 2})), InvalidArgument);
  CHECK_THROWS_AS(writer.add("p", part, Tensor::vector<double>({1, 2})), InvalidArgument);
  writer.finish();
  CHECK_THROWS_AS(writer.add("b", one), FailedPrecondition);
  CHECK_THROWS_AS(writer.finish(), FailedPrecondition);
  CHECK(CheckpointReader("m", {.file_system = &files}).read("a") == one);
  for (const char* prefix : {"", "dir/"})
    CHECK_THROWS_AS(CheckpointWriter(prefix, {.file_system = &files}), InvalidArgument);
}

TEST_CASE("a writer that is not finished leaves nothing") {
  MemoryFileSystem files;
  { CheckpointWriter("m", {.file_system = &files}).add("a", Tensor::scalar(1.0f)); }
  CHECK(files.contents().empty());
}

TEST_CASE("a full disk names the path, the bytes wanted and free, and leaves the directory as it was") {
  MemoryFileSystem files(1 << 20);
  put_file(files, "other", "x");
  const Tensor large = Tensor::zeros(DType::kFloat, {512, 1024});
  const auto save = [&] {
    CheckpointWriter writer("m", {.file_system = &files});
    writer.add("large", large);
    writer.finish();
  };
  const std::string message = message_of<ResourceExhausted>(save);
  CHECK(message.find("m.data-00000-of-00001") != std::string::npos);
  CHECK(message.find("No space left on device") != std::string::npos);
  CHECK(message.find("'large' takes 2097152 bytes, and 1048575 are free now") != std::string::npos);
  CHECK(files.contents().size() == 1);
}

TEST_CASE("prefixes are literal whatever characters they hold") {
  ScratchDirectory scratch;
  for (const char* name : {"a[1]", "a[b", "a*b", "a?b", "a{1,2}", "a b", "é漢", "a'b\"c", "a\nb", "-x",
                           "a\\b", "m.data", ".m"}) {
    CAPTURE(name);
    const std::string prefix = scratch / (std::string(name) + "/" + name);
    for (int value = 0; value < 2; ++value) {
      CheckpointWriter writer(prefix);
      writer.add("v", Tensor::scalar(value));
      writer.finish();
    }
    CHECK(CheckpointReader(prefix).read("v").scalar<int>() == 1);
    CHECK(real_file_system().list(scratch / name).size() == 2);
  }
}

TEST_CASE("saving over a checkpoint of several data files leaves one") {
  MemoryFileSystem files;
  for (const char* suffix : {".index", ".data-00000-of-00002", ".data-00001-of-00002"})
    put_file(files, std::string("m") + suffix, golden_bytes(std::string("sharded/shard.ckpt-7") + suffix));
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("a", Tensor::scalar(1.0f));
  writer.finish();
  CHECK(files.list(".") == std::vector<std::string>{"m.data-00000-of-00001", "m.index"});
}

TEST_CASE("a save whose temporary file someone else removed says that another process saves there") {
  MemoryFileSystem files;
  files.make_directory("d");
  CheckpointWriter writer("d/m", {.file_system = &files});
  writer.add("a", Tensor::scalar(0.5f));
  const std::string temporary = files.list("d").at(0);
  files.remove("d/" + temporary);
  CHECK_THROWS_WITH_AS(
      writer.finish(),
      cat("cannot write 'd/m.data-00000-of-00001': its temporary file '", temporary,
          "' was removed by someone else. Another process seems to be saving into the same directory 'd': "
          "give each process one of its own")
          .c_str(),
      Aborted);
  CHECK(files.list("d").empty());
}
