// Writes a log with something for every page of TensorBoard, for test_dashboards.py: write_dashboards DIR
// KIND.
//   pages    runs train (every kind), trial_0, trial_1, trial_2 (hyperparameters)
//   killed   run crashed: steps 0 to 150, of which the last are not flushed, and SIGKILL
//   resumed  goes on at step 101, up to 200
// What the test expects to see is worked out from the formulas here.
#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/train.h"

using namespace runnel;

namespace {

constexpr int kSteps = 51;

struct Model {
  Output loss, summaries;
  Operation step, init;
};

// Two scopes with a few nodes each, a gradient and an optimizer; one summary op of each kind.
Model build(Graph& g) {
  Model m;
  const Output x = constant(g, Tensor::matrix<float>({{0, 1}, {1, 0}, {1, 1}, {2, 1}}), {.name = "x"});
  Output y;
  {
    NameScope dense(g, "dense");
    const Variable weights = variable(g, Tensor::matrix<float>({{0.1f}, {0.2f}}), "weights");
    const Variable bias = variable(g, Tensor::vector<float>({0}), "bias");
    y = matmul(x, weights) + bias;
    summary::histogram("weights", weights);
  }
  {
    NameScope error(g, "error");
    m.loss = reduce_mean(square(y - Tensor::matrix<float>({{1}, {2}, {3}, {5}})), {.name = "mean"});
    summary::scalar("loss", m.loss);
  }
  summary::image("from_graph", reshape(x, {1, 4, 2, 1}), {.max_outputs = 1});
  summary::audio("tone", zeros<float>(g, Shape{1, 4000}), 8000.0f, {.max_outputs = 1});
  summary::text("note", constant(g, Tensor::scalar("from the *graph*"), {.name = "words"}));
  m.step = GradientDescent(0.05f).minimize(m.loss);
  m.init = initialize_global_variables(g);
  m.summaries = summary::merge_all(g);
  return m;
}

void write_numbers(FileWriter& writer, int step) {
  writer.scalar("direct/inverse", 1.0 / (1 + step), step);
  writer.scalar("direct/line", 2 * step - 1, step);
  const double middle = std::sin(step * 0.1);
  writer.scalar("band/value", middle, step);
  writer.scalar("band/lower", middle - 0.25, step);
  writer.scalar("band/upper", middle + 0.5, step);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(static_cast<float>(std::sin(i * 0.7) * std::cos(i * 0.013) + step * 0.1));
  writer.histogram("direct/values", std::span<const float>(values), step);
}

// The left half is red, as dark as the step; the right half is green; one picture of two is turned round.
void write_pictures(FileWriter& writer, int step) {
  std::vector<std::uint8_t> pixels;
  for (const bool turned : {false, true})
    for (int i = 0; i < 16 * 16; ++i) {
      const bool left = (i % 16 < 8) != turned;
      for (const int channel : {left ? 255 - step : 0, left ? 0 : 200, 7})
        pixels.push_back(static_cast<std::uint8_t>(channel));
    }
  const std::span<const std::uint8_t> both = pixels;
  writer.image("direct/one", both.first(both.size() / 2), {.height = 16, .width = 16, .channels = 3}, step);
  writer.image("direct/batch", both, {.height = 16, .width = 16, .channels = 3, .images = 2}, step);
  const std::vector<float> ramp = {0, 0.5f, 1, 2};
  writer.image("direct/ramp", std::span<const float>(ramp), {.height = 1, .width = 4}, step);
}

void write_media(FileWriter& writer, int step) {
  write_pictures(writer, step);
  std::vector<float> tone;
  for (int i = 0; i < 16000; ++i) tone.push_back(static_cast<float>(0.5 * std::sin(i * 0.002 * (50 + step))));
  writer.audio("direct/sound", tone, {.sample_rate = 8000}, step);
  writer.text("direct/text", "step **" + std::to_string(step) + "**: `done`", step);
  writer.text("direct/table",
              Tensor::from<std::string>({2, 2}, std::vector<std::string>{"name", "value", "x", "*1*"}), step);
}

// Better from step to step: predictions move to their labels.
void write_curve(FileWriter& writer, int step) {
  std::mt19937 random(1);
  std::vector<bool> labels;
  std::vector<float> predictions;
  for (int i = 0; i < 500; ++i) {
    const float noise = static_cast<float>(random() % 1000) / 1000;
    labels.push_back(random() % 3 == 0);
    const float weight = static_cast<float>(step) / 150;
    predictions.push_back((1 - weight) * noise + (labels.back() ? weight : 0));
  }
  writer.pr_curve("direct/pr", labels, predictions, step, {.num_thresholds = 51});
}

// A pyramid with a coloured corner each, growing.
void write_meshes(FileWriter& writer, int step) {
  const float size = 1 + static_cast<float>(step) / 50;
  std::vector<float> points = {-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1, 0, 1.5f, 0};
  for (float& x : points) x *= size;
  const std::vector<std::int32_t> faces = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 0, 2, 1, 0, 3, 2};
  const std::vector<std::uint8_t> colors = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0, 255, 255, 255};
  const Tensor vertices = Tensor::from<float>({5, 3}, points);
  writer.mesh("direct/pyramid", vertices, step,
              {.faces = Tensor::from<std::int32_t>({6, 3}, faces),
               .colors = Tensor::from<std::uint8_t>({5, 3}, colors)});
  std::vector<float> cloud;
  for (int i = 0; i < 2000; ++i)
    for (const double x : {std::cos(i * 0.1), i * 0.001 - 1, std::sin(i * 0.1)})
      cloud.push_back(static_cast<float>(x));
  writer.mesh("direct/helix", Tensor::from<float>({2000, 3}, cloud), step);
}

// Three clusters, each with a label and a picture of one colour.
void write_embedding_of_clusters(FileWriter& writer) {
  constexpr int kPoints = 60;
  std::mt19937 random(2);
  std::vector<float> points;
  std::vector<std::string> labels, numbers;
  std::vector<std::uint8_t> pictures;
  for (int i = 0; i < kPoints; ++i) {
    const int cluster = i % 3;
    for (int d = 0; d < 8; ++d)
      points.push_back((d == cluster ? 5.0f : 0.0f) + static_cast<float>(random() % 1000) / 1000);
    labels.push_back(std::array{"red", "green", "blue"}[static_cast<std::size_t>(cluster)]);
    numbers.push_back(std::to_string(i));
    for (int pixel = 0; pixel < 8 * 8; ++pixel)
      for (int channel = 0; channel < 3; ++channel)
        pictures.push_back(static_cast<std::uint8_t>(channel == cluster ? 255 : 40));
  }
  writer.embedding("clusters", Tensor::from<float>({kPoints, 8}, points),
                   {.metadata = {{"color", labels}, {"number", numbers}},
                    .sprite = Tensor::from<std::uint8_t>({kPoints, 8, 8, 3}, pictures)});
}

void write_every_kind(const std::string& directory) {
  Graph g;
  const Model model = build(g);
  Session session(g);
  session.run(model.init);
  FileWriter writer(directory, g);
  writer.custom_scalars(
      {{.title = "Direct",
        .chart = {{.title = "both", .multiline = {"direct/inverse", "error/.*"}},
                  {.title = "band",
                   .margin = {{.value = "band/value", .lower = "band/lower", .upper = "band/upper"}}}}}});
  for (int step = 0; step < kSteps; ++step) {
    writer.add_summary(session.run(model.summaries), step);
    session.run(model.step);
    write_numbers(writer, step);
    if (step % 10 != 0) continue;
    write_media(writer, step);
    write_curve(writer, step);
    write_meshes(writer, step);
  }
  write_embedding_of_clusters(writer);
  writer.close();
}

void write_trial(const std::string& directory, int trial) {
  FileWriter writer(directory);
  writer.hparams_config(
      {{.name = "rate", .domain = hp::RealInterval{0.01, 1}, .display_name = "Learning rate"},
       {.name = "optimizer", .domain = hp::Discrete{{"sgd", "adam"}}},
       {.name = "units", .domain = hp::IntInterval{1, 64}},
       {.name = "bias", .domain = hp::Discrete{{true, false}}}},
      {{.tag = "final/loss", .display_name = "Final loss"}});
  writer.hparams({{"rate", 0.25 * (trial + 1)},
                  {"optimizer", trial == 1 ? "sgd" : "adam"},
                  {"units", 8 << trial},
                  {"bias", trial != 2}});
  for (int step = 0; step < 5; ++step) writer.scalar("final/loss", 1.0 / (step + 1) + trial, step);
  writer.hparams_end(trial == 2 ? hp::Status::kFailure : hp::Status::kSuccess);
  writer.close();
}

void write_steps(FileWriter& writer, int from, int to) {
  for (int step = from; step <= to; ++step) {
    writer.scalar("a", step, step);
    const std::vector<float> values(10, static_cast<float>(step));
    writer.histogram("h", std::span<const float>(values), step);
  }
}

void write_and_die(const std::string& directory) {
  FileWriter writer(directory);
  write_steps(writer, 0, 140);
  writer.flush();
  write_steps(writer, 141, 150);
  std::raise(SIGKILL);
}

void go_on(const std::string& directory) {
  FileWriter writer(directory, {.purge_step = 101});
  write_steps(writer, 101, 200);
}

void write_pages(const std::string& directory) {
  write_every_kind(directory + "/train");
  for (int trial = 0; trial < 3; ++trial) write_trial(directory + "/trial_" + std::to_string(trial), trial);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string kind = argc == 3 ? argv[2] : "";
  const std::string crashed = argc == 3 ? std::string(argv[1]) + "/crashed" : "";
  if (kind == "pages") return write_pages(argv[1]), 0;
  if (kind == "killed") return write_and_die(crashed), 0;
  if (kind == "resumed") return go_on(crashed), 0;
  std::fprintf(stderr, "usage: write_dashboards DIR pages|killed|resumed\n");
  return 2;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
