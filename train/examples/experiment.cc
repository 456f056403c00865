// A classifier as an experiment: training, evaluation with metrics while it trains, and an export at the end,
// each in a graph of its own. Started again it goes on where it was, and ends with the numbers of a run that
// was not interrupted: the rows of step N are decided by N alone. Without --data it tells points inside of a
// circle from those around it. Its last line is "step N loss L accuracy A".
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <runnel/runnel.h>
#include <CLI/CLI.hpp>

#include "train/examples/csv.h"
#include "train/examples/run_folder.h"
#include "train/examples/tensorboard.h"

using namespace runnel;

namespace {

constexpr std::int64_t kMost = 1'000'000'000;  // steps or rows

struct Flags {
  std::string data;
  std::int64_t steps = 1000;
  std::int64_t batch = 32;
  std::int64_t save_steps = 250;
  std::string schedule = "train_and_evaluate";
  std::string out = "experiment.run";
};

struct Rows {
  std::vector<float> features;  // row by row
  std::vector<std::int64_t> labels;
  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

struct Data {
  Rows train, test;
  std::int64_t width = 0, classes = 0;
};

// Every fifth row is held out.
void add_row(Data& data, std::size_t row, const std::vector<float>& features, std::int64_t label) {
  Rows& rows = row % 5 == 0 ? data.test : data.train;
  rows.features.insert(rows.features.end(), features.begin(), features.end());
  rows.labels.push_back(label);
}

// Points spread evenly over a square; those in the circle are about as many as the others.
Data circle() {
  constexpr int kPoints = 1000;
  Data data{.width = 2, .classes = 2};
  for (int i = 0; i < kPoints; ++i) {
    const double x = 2 * std::fmod(i * 0.7548776662, 1.0) - 1, y = 2 * std::fmod(i * 0.5698402910, 1.0) - 1;
    add_row(data, static_cast<std::size_t>(i), {static_cast<float>(x), static_cast<float>(y)},
            x * x + y * y < 0.64 ? 1 : 0);
  }
  return data;
}

std::int64_t label_of(const CsvTable& table, std::size_t row, std::size_t column) {
  constexpr float kMostClasses = 1000;
  const float label = table.at(row, column);
  if (label < 0 || label >= kMostClasses || label != std::floor(label))
    throw std::runtime_error(table.place_of(row) + ": the label is " + std::to_string(label) +
                             "; labels are whole numbers from 0 to 999");
  return static_cast<std::int64_t>(label);
}

// The column `label`, and all others as features, scaled to at most 1, in an order that is always the same.
Data of_csv(const std::string& path) {
  const CsvTable table = read_csv(path);
  const auto at = std::find(table.names.begin(), table.names.end(), "label");
  if (at == table.names.end() || table.names.size() < 2 || table.rows() < 10)
    throw std::runtime_error(path + " must have a column called label, another one, and ten rows");
  const auto label_at = static_cast<std::size_t>(at - table.names.begin());
  float largest = 1e-6f;
  for (std::size_t i = 0; i < table.values.size(); ++i)
    if (i % table.names.size() != label_at) largest = std::max(largest, std::abs(table.values[i]));
  std::vector<std::size_t> order(table.rows());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));

  Data data{.width = static_cast<std::int64_t>(table.names.size()) - 1};
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<float> features;
    for (std::size_t c = 0; c < table.names.size(); ++c)
      if (c != label_at) features.push_back(table.at(order[i], c) / largest);
    const std::int64_t label = label_of(table, order[i], label_at);
    data.classes = std::max(data.classes, label + 1);
    add_row(data, i, features, label);
  }
  return data;
}

Tensor features_of(const Rows& rows, std::int64_t width) {
  return Tensor::from({rows.count(), width}, rows.features);
}

// The rows that the step trains on follow those of the step before, round and round.
InputBatch train_input(Graph& g, const Data& data, std::int64_t batch_size) {
  const Output first = get_global_step(g).value() * batch_size;
  const Output rows = floormod(range(first, first + batch_size, std::int64_t{1}), data.train.count());
  return {.features = {{"features", gather(constant(g, features_of(data.train, data.width)), rows)}},
          .labels = gather(constant(g, Tensor::vector(data.train.labels)), rows)};
}

// All rows once, through queues; what is left at the end makes a smaller batch.
InputBatch eval_input(Graph& g, const Data& data, std::int64_t batch_size) {
  const Outputs row = slice_input_producer(
      {constant(g, features_of(data.test, data.width)), constant(g, Tensor::vector(data.test.labels))},
      {.num_epochs = 1, .shuffle = false});
  const Outputs rows = batch(row, static_cast<std::int32_t>(batch_size), {.allow_smaller_final_batch = true});
  return {.features = {{"features", rows[0]}}, .labels = rows[1]};
}

InputBatch serving_input(Graph& g, const Data& data) {
  return {.features = {{"features", placeholder<float>(g, {kUnknown, data.width}, "features")}}};
}

EstimatorSpec classifier(const ModelContext& c, std::int64_t classes, std::int64_t steps) {
  const Output hidden = relu(dense(c.features["features"], 32, {.name = "hidden"}));
  const Output logits = dense(hidden, static_cast<int>(classes), {.name = "logits"});
  const Output guess = argmax(logits, 1), shares = softmax(logits);
  EstimatorSpec spec{.mode = c.mode, .predictions = {{"class", guess}, {"probabilities", shares}}};
  if (c.mode == ModeKeys::kPredict) return spec;
  spec.loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(logits, c.labels), {.name = "mean_loss"});
  spec.eval_metric_ops = {{"accuracy", metrics::accuracy(c.labels, guess)}};
  if (classes == 2) {
    const Output positive = gather(shares, Tensor::scalar(1), {.axis = 1});
    spec.eval_metric_ops.insert({{"precision", metrics::precision(c.labels, guess)},
                                 {"recall", metrics::recall(c.labels, guess)},
                                 {"f1", metrics::f1(c.labels, guess)},
                                 {"auc", metrics::auc(c.labels, positive)}});
  }
  if (c.mode == ModeKeys::kTrain) {
    spec.train_op = Adam(0.01f).minimize(spec.loss, {.global_step = get_global_step(c.graph)});
    spec.training_hooks = {progress_bar(steps, {.loss = spec.loss})};
  }
  return spec;
}

Experiment make_experiment(const RunConfig& config, const Flags& flags, const Data& data) {
  const auto model = [&](const ModelContext& c) { return classifier(c, data.classes, flags.steps); };
  const auto serving = [&](Graph& g) { return serving_input(g, data); };
  return Experiment({.estimator = std::make_shared<Estimator>(model, EstimatorOptions{.config = config}),
                     .train_input_fn = [&](Graph& g) { return train_input(g, data, flags.batch); },
                     .eval_input_fn = [&](Graph& g) { return eval_input(g, data, flags.batch); },
                     .train_steps = flags.steps,
                     .eval_steps = std::nullopt,
                     .eval_delay_secs = 0,
                     .export_strategies = {make_export_strategy("served", serving)}});
}

void run(const Flags& flags) {
  const Data data = flags.data.empty() ? circle() : of_csv(flags.data);
  make_run_folders(flags.out, {});
  const RunConfig config(
      {.model_dir = flags.out, .tf_random_seed = 7, .save_checkpoints_steps = flags.save_steps});
  const auto experiment = [&](const RunConfig& c, const Params&) { return make_experiment(c, flags, data); };
  const TrainAndEvaluateResult found =
      learn_runner::run(experiment, {.schedule = flags.schedule, .run_config = config});
  for (const std::string& folder : found.exports) std::printf("exported to %s\n", folder.c_str());
  if (found.evaluation.empty()) return;
  std::printf("%" PRId64 " held-out rows: %s\n", data.test.count(), found.evaluation.text().c_str());
  print_tensorboard_command(flags.out);
  std::printf("step %" PRId64 " loss %.9g accuracy %.9g\n", found.evaluation.global_step(),
              found.evaluation.number("loss"), found.evaluation.number("accuracy"));
}

}  // namespace

int main(int count, char** arguments) {
  Flags flags;
  CLI::App program("Trains and evaluates a classifier, as an experiment.");
  const auto number = [&](const char* flag, std::int64_t& value, const char* what) {
    program.add_option(flag, value, what)->check(CLI::Range(std::int64_t{1}, kMost))->capture_default_str();
  };
  program.add_option("--data", flags.data,
                     "CSV of numbers with a column called label; default: points of a circle");
  number("--steps", flags.steps, "train up to this step, over all runs");
  number("--batch", flags.batch, "rows a step");
  number("--save-steps", flags.save_steps, "save and evaluate every so many steps");
  program.add_option("--schedule", flags.schedule, "what to do")
      ->check(CLI::IsMember(learn_runner::schedules()))
      ->capture_default_str();
  program.add_option("--out", flags.out, "folder for checkpoints and events; a run in it is gone on with")
      ->check(not_empty)
      ->capture_default_str();
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;  // 0 for --help, 2 for what was used wrongly
  }
  try {
    run(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "experiment: %s\n", error.what());
    return 1;
  }
}
