// Writes pictures, sounds, texts and tensors for test_media.py: write_media DIR DATA. The run DIR/direct is
// written by FileWriter alone, DIR/graph and DIR/ranged by summary ops in a session. Data are files that the
// test made: pixels (bytes, 3 x 5 x 7 x 3), values (floats, 2 x 6 x 4 x 1), samples (floats, 500 x 2),
// photo.jpg, drawing.png.
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/io/file_system.h"
#include "ops/ops.h"
#include "summary/summary.h"

using namespace runnel;

namespace {

struct Data {
  explicit Data(const std::string& folder) : folder(folder) {}

  std::string file(const std::string& name) const {
    return read_file(real_file_system(), join_path(folder, name));
  }
  template <class T>
  std::vector<T> numbers(const std::string& name) const {
    const std::string bytes = file(name);
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }

  std::string folder;
};

void write_directly(const std::string& directory, const Data& data) {
  FileWriter writer(directory);
  const auto pixels = data.numbers<std::uint8_t>("pixels");
  const auto values = data.numbers<float>("values"), samples = data.numbers<float>("samples");
  const ImageOptions size = {.height = 5, .width = 7, .channels = 3};
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.image("one",
                 std::span<const std::uint8_t>(pixels).subspan(static_cast<std::size_t>(step) * 105, 105),
                 size, step);
    writer.image("batch", pixels, {.height = 5, .width = 7, .channels = 3, .images = 3}, step);
    writer.image("ranged", values, {.height = 6, .width = 4, .images = 2, .range = PixelRange{-1, 3}}, step);
    writer.image("stretched", values, {.height = 6, .width = 4, .images = 2, .range = std::nullopt}, step);
    writer.encoded_image("photo", data.file("photo.jpg"), step);
    writer.encoded_image("drawing", data.file("drawing.png"), step);
    writer.audio("sound", samples, {.sample_rate = 8000, .channels = 2}, step);
    writer.text("words", "**step** " + std::to_string(step), step, {.description = "what was said"});
    writer.text("table", Tensor::matrix<std::string>({{"a", "b"}, {"c", "d"}}), step);
    writer.tensor("numbers", Tensor::vector({1.5f, 2.5f}), step,
                  {.plugin_name = "unheard_of", .display_name = "Numbers", .data_class = DataClass::kTensor});
  }
}

void write_from_graph(const std::string& directory, const Data& data) {
  Graph g;
  const Output pixels = placeholder<std::uint8_t>(g, {3, 5, 7, 3}, "pixels");
  const Output values = placeholder<float>(g, {2, 6, 4, 1}, "values");
  const Output samples = placeholder<float>(g, {1, 500, 2}, "samples");
  const Output words = placeholder(g, DType::kString, {2}, "words");
  {
    const NameScope scope(g, "sc");
    summary::image("two of three", pixels, {.max_outputs = 2, .family = "fam"});
    summary::image("grey", values, {.max_outputs = 1});
    summary::audio("sound", samples, 8000.0f);
  }
  summary::audio("sound", samples, constant(g, Tensor::scalar(44100.7f), {.name = "rate"}));
  summary::text("words", words);
  summary::tensor("values", values,
                  {.summary_description = "*all*", .family = "fam", .display_name = "Values"});
  const Output merged = summary::merge_all(g);
  FileWriter writer(directory, g);
  Session session(g);
  const Tensor fed = Tensor::from<std::uint8_t>({3, 5, 7, 3}, data.numbers<std::uint8_t>("pixels"));
  for (std::int64_t step = 0; step < 2; ++step)
    writer.add_summary(
        session.run(merged, {{pixels, fed},
                             {values, Tensor::from<float>({2, 6, 4, 1}, data.numbers<float>("values"))},
                             {samples, Tensor::from<float>({1, 500, 2}, data.numbers<float>("samples"))},
                             {words, Tensor::vector<std::string>({"one", "*two*"})}}),
        step);
}

// One picture by a range, which TensorFlow passes over.
void write_ranged(const std::string& directory, const Data& data) {
  Graph g;
  const Tensor values = Tensor::from<float>({2, 6, 4, 1}, data.numbers<float>("values"));
  const Output ranged = summary::image("ranged", constant(g, values), {.range = PixelRange{-1, 3}});
  FileWriter(directory, g).add_summary(Session(g).run(ranged));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_media DIR DATA\n");
    return 2;
  }
  const std::string directory = argv[1];
  write_directly(join_path(directory, "direct"), Data(argv[2]));
  write_from_graph(join_path(directory, "graph"), Data(argv[2]));
  write_ranged(join_path(directory, "ranged"), Data(argv[2]));
}
