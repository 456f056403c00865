// Writes TFRecord files of Examples as a C++ program does, writes others' again, and a graph that reads both
// and text. usage: write_records FOLDER: reads FOLDER/theirs{,.zlib,.gzip}, writes FOLDER/ours{,.zlib,.gzip},
// FOLDER/again{,.zlib,.gzip} and FOLDER/graph.pb
#include <cstdio>
#include <string>

#include "graph/graph.h"
#include "ops/ops.h"

using namespace runnel;

namespace {

struct Kind {
  const char* suffix;
  Compression compression;
};
constexpr Kind kKinds[] = {
    {"", Compression::kNone}, {".zlib", Compression::kZlib}, {".gzip", Compression::kGzip}};

void write(const std::string& path, Compression compression) {
  TFRecordWriter writer(path, {.compression = compression});
  for (int i = 0; i < 100; ++i) {
    Example example;
    example.features["x"] = std::vector<float>{static_cast<float>(i), -0.5f};
    example.features["n"] = std::vector<std::int64_t>(static_cast<std::size_t>(i % 3), -i);
    example.features["s"] = std::vector<std::string>{std::string(static_cast<std::size_t>(i) * 100, 's'), ""};
    example.features["none"] = Feature();
    writer.write(example.serialize());
    if (i == 50) writer.flush();
  }
  writer.close();
}

// The same bytes as were read, if every one of them was kept.
void rewrite(const std::string& from, const std::string& to, Compression compression) {
  TFRecordIterator records(from, {.compression = compression});
  TFRecordWriter writer(to, {.compression = compression});
  while (const std::optional<std::string> record = records.next())
    writer.write(Example::parse(*record).serialize());
  writer.close();
}

// What TensorFlow is to run: names go into `names` first, then what is called so is fetched.
std::string graph_bytes() {
  Graph g;
  const FIFOQueue names(g, 9, {DType::kString}, {.shapes = {Shape{}}, .name = "names"});
  const Output paths = placeholder<std::string>(g, {kUnknown}, "paths");
  names.enqueue_many({paths}, {.name = "add"});
  const TFRecordReader records(g, {.compression = Compression::kGzip});
  const KeyValue batch = records.read_up_to(names, 3, {.name = "batch"});
  const ParsedFeatures features = parse_example(
      batch.value, {{"x", FixedLenFeature{{2}}},
                    {"n", VarLenFeature{DType::kInt64}},
                    {"s", FixedLenSequenceFeature{{}, DType::kString}},
                    {"other", FixedLenFeature{{}, DType::kInt64, Tensor::scalar<std::int64_t>(7)}}});
  identity(features["x"], {.name = "x"});
  identity(features["other"], {.name = "other"});
  identity(features.sparse("n").values, {.name = "n"});
  const KeyValue one = records.read(names, {.name = "one"});
  identity(parse_single_example(one.value, {{"x", FixedLenFeature{{2}}}})["x"], {.name = "single"});
  const Output line = TextLineReader(g, {.skip_header_lines = 1}).read(names, {.name = "line"}).value;
  identity(decode_csv(line, {Tensor::scalar(0.f), Tensor::scalar("-")}, {.select_cols = {0, 2}})[1],
           {.name = "column"});
  FixedLengthRecordReader(g, 4, {.hop_bytes = 2}).read(names, {.name = "fixed"});
  identity(string_split(identity(paths), "/").values, {.name = "parts"});
  return g.to_graph_def();
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  for (const Kind& kind : kKinds) {
    write(folder + "/ours" + kind.suffix, kind.compression);
    rewrite(folder + "/theirs" + kind.suffix, folder + "/again" + kind.suffix, kind.compression);
  }
  write_file_atomically(real_file_system(), folder + "/graph.pb", graph_bytes());
} catch (const Error& error) {
  std::fprintf(stderr, "write_records: %s\n", error.what());
  return 1;
}
