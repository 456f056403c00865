// Experiment with a real model: folders, steps, going on, and memory that stays the same.
#include <doctest/doctest.h>

#include <memory>

#include "graph/io/memory_file_system.h"
#include "tests/graph/scratch_directory.h"
#include "tests/summary/reading.h"
#include "tests/train/estimator/line_model.h"
#include "train/checkpoint/stored_checkpoints.h"
#include "train/estimator/experiment.h"
#include "train/estimator/export_folders.h"

using namespace runnel;

namespace {

ExperimentOptions options_in(const std::string& model_dir, std::int64_t save_steps = 1000) {
  return {.estimator = std::make_shared<Estimator>(line::estimator(model_dir, save_steps)),
          .train_input_fn = line::all_rows,
          .eval_input_fn = line::batches_once(4)};
}

std::vector<std::int64_t> steps_in_folder(const std::string& directory) {
  std::vector<std::int64_t> steps;
  for (const pb::Event& event : events_in(real_file_system(), directory))
    if (event.summary().value_size() > 0 && event.summary().value(0).tag() == "loss")
      steps.push_back(event.step());
  return steps;
}

}  // namespace

// S3-09
TEST_CASE("an Experiment trains, evaluates checkpoints meanwhile, and exports the end") {
  const ScratchDirectory scratch;
  ExperimentOptions options = options_in(scratch.path(), 10);
  options.train_steps = 25;
  options.export_strategies = {make_export_strategy("served", line::serving_input)};
  Experiment experiment(options);
  const TrainAndEvaluateResult result = experiment.train_and_evaluate();
  CHECK(steps_in_folder(scratch / "eval") == std::vector<std::int64_t>{10, 20, 25});
  CHECK(result.evaluation.global_step() == 25);
  CHECK(result.exports == export_folders(real_file_system(), scratch / "export/served"));
  experiment.evaluate(0.0);
  CHECK(steps_in_folder(scratch / "eval_one_pass") == std::vector<std::int64_t>{25});
}

TEST_CASE("train and evaluate in turn end with the bits of one training") {
  const ScratchDirectory one, two;
  ExperimentOptions rounds = options_in(one.path()), whole = options_in(two.path());
  rounds.train_steps = whole.train_steps = 20;
  rounds.train_steps_per_iteration = 6;
  Experiment(rounds).continuous_train_and_eval();
  Experiment(whole).train();
  CHECK(steps_in_folder(one / "eval_one_pass") == std::vector<std::int64_t>{6, 12, 18, 20});
  CHECK(load_variable(one.path(), "w") == load_variable(two.path(), "w"));
}

TEST_CASE("continuous_eval evaluates what training left and ends at its last step") {
  const ScratchDirectory scratch;
  ExperimentOptions options = options_in(scratch.path());
  options.train_steps = 4;
  Experiment experiment(options);
  experiment.train();
  CHECK(experiment.continuous_eval({.delay_secs = 0.0}).global_step() == 4);
  experiment.continuous_eval_on_train_data({.delay_secs = 0.0});
  CHECK(steps_in_folder(scratch / "eval_continuous") == std::vector<std::int64_t>{4});
  CHECK(real_file_system().exists(scratch / "eval_continuous_on_train_data"));
}

TEST_CASE("a hundred rounds of training and evaluating keep no graph") {
  const ScratchDirectory scratch;  // of events; checkpoints stay in memory
  MemoryFileSystem files;
  std::vector<std::weak_ptr<Graph>> graphs;
  ExperimentOptions options = options_in(scratch.path());
  options.estimator = std::make_shared<Estimator>(
      line::model,
      EstimatorOptions{.config =
                           line::config(scratch.path())
                               .replace({.session_config = SessionOptions{.intra_op_parallelism_threads = 1,
                                                                          .inter_op_parallelism_threads = 1,
                                                                          .file_system = &files}})});
  const auto watched = [&](const InputFunction& input_fn) {
    return [&graphs, input_fn](Graph& graph) {
      graphs.push_back(graph.shared());
      return input_fn(graph);
    };
  };
  options.train_input_fn = watched(options.train_input_fn);
  options.eval_input_fn = watched(options.eval_input_fn);
#ifdef _GLIBCXX_TSAN
  constexpr int kRounds = 10;
#else
  constexpr int kRounds = 100;
#endif
  options.train_steps = kRounds;
  options.train_steps_per_iteration = 1;
  Experiment(options).continuous_train_and_eval();
  CHECK(graphs.size() == 2 * kRounds);
  std::size_t alive = 0;
  for (const auto& graph : graphs) alive += graph.expired() ? 0 : 1;
  CHECK(alive == 0);
}
