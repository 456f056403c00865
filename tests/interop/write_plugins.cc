// Writes events of TensorBoard's plugins for test_plugins.py: write_plugins DIR ARRAYS. Arrays are files of
// bare numbers, which the test made with NumPy: labels (bytes), predictions and weights (floats), vertices
// (floats, 2 x 5 x 3), faces (int32, 2 x 4 x 3), colors (bytes, 2 x 5 x 3).
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "summary/summary.h"

using namespace runnel;

namespace {

template <class T>
std::vector<T> numbers(const std::string& folder, const std::string& name) {
  const std::string bytes = read_file(real_file_system(), join_path(folder, name));
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

void write_curves(FileWriter& writer, const std::string& arrays) {
  std::vector<bool> labels;
  for (const std::uint8_t label : numbers<std::uint8_t>(arrays, "labels")) labels.push_back(label != 0);
  const auto predictions = numbers<float>(arrays, "predictions");
  const auto weights = numbers<float>(arrays, "weights");
  for (const int thresholds : {2, 11, 201, 1000}) {
    const std::string tag = "pr" + std::to_string(thresholds);
    writer.pr_curve(tag, labels, predictions, 1, {.num_thresholds = thresholds});
    writer.pr_curve(
        tag + "_weighted", labels, predictions, 2,
        {.num_thresholds = thresholds, .weights = weights, .display_name = "shown", .description = "*d*"});
  }
}

void write_hparams(FileWriter& writer) {
  writer.hparams_config({{.name = "rate",
                          .domain = hp::RealInterval{1e-4, 0.1},
                          .display_name = "Rate",
                          .description = "of learning"},
                         {.name = "layers", .domain = hp::IntInterval{1, 8}},
                         {.name = "optimizer", .domain = hp::Discrete{{"sgd", "adam"}}},
                         {.name = "bias", .domain = hp::Discrete{{true, false}}},
                         {.name = "free"}},
                        {{.tag = "loss", .display_name = "Loss"},
                         {.tag = "accuracy",
                          .group = "test",
                          .description = "of the rest",
                          .dataset_type = hp::DatasetType::kValidation}},
                        {.time_created_secs = 1.7e9});
  writer.hparams({{"rate", 0.01f}, {"layers", 3}, {"optimizer", "adam"}, {"bias", true}},
                 {.trial_id = "trial", .start_time_secs = 1700000001.5});
  writer.hparams_end(hp::Status::kFailure, {.end_time_secs = 1700000002.5});
}

void write_layout(FileWriter& writer) {
  writer.custom_scalars({{.title = "Losses",
                          .chart = {{.title = "both", .multiline = {"loss/.*", "^x$"}},
                                    {.title = "band",
                                     .margin = {{.value = "m", .lower = "lo", .upper = "hi"},
                                                {.value = "n", .lower = "l", .upper = "h"}}}}},
                         {.title = "Closed", .closed = true}});
}

void write_meshes(FileWriter& writer, const std::string& arrays) {
  const Tensor vertices = Tensor::from<float>({2, 5, 3}, numbers<float>(arrays, "vertices"));
  const Tensor faces = Tensor::from<std::int32_t>({2, 4, 3}, numbers<std::int32_t>(arrays, "faces"));
  const Tensor colors = Tensor::from<std::uint8_t>({2, 5, 3}, numbers<std::uint8_t>(arrays, "colors"));
  writer.mesh("cloud", vertices, 1);
  writer.mesh("colored", vertices, 2, {.colors = colors});
  writer.mesh("body", vertices, 3,
              {.faces = faces,
               .colors = colors,
               .config_dict = R"({"material": {"cls": "MeshBasicMaterial"}})",
               .description = "a *body*"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_plugins DIR ARRAYS\n");
    return 2;
  }
  FileWriter writer(argv[1]);
  write_curves(writer, argv[2]);
  write_hparams(writer);
  write_layout(writer);
  write_meshes(writer, argv[2]);
  const std::vector<float> points = numbers<float>(argv[2], "vertices");
  writer.embedding("words", Tensor::from<float>({10, 3}, points),
                   {.metadata = {{"label", {"a", "b", "", "d", "e", "f", "g", "h", "i", "\xc3\xa4"}},
                                 {"size", std::vector<std::string>(10, "1")}}});
  writer.embedding("scope/bare:0", Tensor::from<float>({15, 2}, points));
  writer.close();
}
