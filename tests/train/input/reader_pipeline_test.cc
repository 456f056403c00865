// The classic programs: files named by a producer, read, parsed and batched by threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/graph/scratch_directory.h"
#include "tests/train/input/drained.h"
#include "train/input/batch.h"
#include "train/input/input_producer.h"

using namespace runnel;

namespace {

std::vector<float> joined(const std::vector<Tensor>& batches) {
  std::vector<float> out;
  for (const Tensor& batch : batches)
    out.insert(out.end(), batch.values<float>().begin(), batch.values<float>().end());
  return out;
}

}  // namespace

TEST_CASE("lines of CSV files come out in batches, in order") {
  const ScratchDirectory folder;
  std::vector<std::string> paths;
  float next = 0;
  for (const char* name : {"a.csv", "b.csv"}) {
    std::string text = "x,y\n";
    for (int i = 0; i < 5; ++i, ++next) text += cat(next, ",", 2 * next, "\n");
    paths.push_back(join_path(folder.path(), name));
    write_file_atomically(real_file_system(), paths.back(), text);
  }
  Graph g;
  const FIFOQueue names = string_input_producer(g, paths, {.num_epochs = 1, .shuffle = false});
  const Output line = TextLineReader(g, {.skip_header_lines = 1}).read(names).value;
  const Outputs columns = decode_csv(line, {Tensor(DType::kFloat, {0}), Tensor::scalar(0.f)});
  const Outputs both = batch(columns, 4, {.allow_smaller_final_batch = true});
  CHECK(joined(drained(both[1])) == std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18});
}

TEST_CASE("Examples of compressed TFRecord files come out shuffled, each once an epoch") {
  const ScratchDirectory folder;
  const std::string path = join_path(folder.path(), "train.tfrecord");
  TFRecordWriter writer(path, {.compression = Compression::kGzip});
  for (int i = 0; i < 20; ++i)
    writer.write(Example{{{"x", std::vector<float>{static_cast<float>(i)}}}}.serialize());
  writer.close();
  Graph g;
  const FIFOQueue names = string_input_producer(g, {path}, {.num_epochs = 2});
  const Output record = TFRecordReader(g, {.compression = Compression::kGzip}).read(names).value;
  const Output x = parse_single_example(record, {{"x", FixedLenFeature{}}})["x"];
  const Outputs batches =
      shuffle_batch({x}, 5, {.capacity = 16, .min_after_dequeue = 8, .num_threads = 2, .seed = 1});
  std::vector<float> all = joined(drained(batches[0]));
  CHECK(!std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == 40);
  for (int i = 0; i < 40; ++i) CHECK(all[static_cast<std::size_t>(i)] == static_cast<float>(i / 2));
}
