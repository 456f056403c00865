// An estimator without a graph, which remembers how it was called: for the schedules of Experiment.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/array_ops.h"
#include "tests/train/estimator/jumping_clock.h"
#include "train/estimator/base_estimator.h"
#include "train/estimator/experiment.h"

namespace runnel {

class FakeEstimator final : public BaseEstimator {
 public:
  struct Evaluated {
    double at_seconds = 0;
    EvaluateOptions options;
  };

  explicit FakeEstimator(Clock& clock, RunConfigOptions config = {})
      : config_(with(clock, std::move(config))) {}

  const std::string& model_dir() const override { return config_.model_dir(); }
  const RunConfig& config() const override { return config_; }
  bool takes_metrics() const override { return takes_metrics_; }
  std::string latest_checkpoint() const override { return checkpoint_; }
  std::int64_t trained_steps() const override { return step_; }

  // Saves at the start, after every save_every steps, and at the end.
  FakeEstimator& train(const InputFunction& input_fn, const TrainOptions& options) override {
    trained_.push_back(options);
    Graph graph;
    input_fn(graph);
    Session session(graph);
    const std::int64_t end = options.steps ? step_ + *options.steps : options.max_steps.value_or(step_);
    save(options, session);
    for (std::int64_t before = step_; step_ < end && !options.coord->should_stop();) {
      step_ = std::min(before + save_every_, end);
      before = step_;
      save(options, session);
    }
    return *this;
  }

  EvaluationResult evaluate(const InputFunction& input_fn, const EvaluateOptions& options) override {
    evaluated_.push_back({static_cast<double>(config_.clock().steady_nanos()) / 1e9, options});
    Graph graph;
    input_fn(graph);
    if (on_evaluate_) on_evaluate_();
    EvaluationResult result;
    result.values = {{"loss", Tensor::scalar(1.0f / static_cast<float>(step_ + 1))},
                     {"global_step", Tensor::scalar(step_)}};
    result.checkpoint_path = options.checkpoint_path.empty() ? checkpoint_ : options.checkpoint_path;
    return result;
  }

  // As if another process had saved.
  void arrive_at(std::int64_t step) {
    step_ = step;
    checkpoint_ = cat("model.ckpt-", step);
  }

  std::vector<TrainOptions> trained_;
  std::vector<Evaluated> evaluated_;
  std::function<void()> on_evaluate_;
  std::int64_t save_every_ = 10;
  bool takes_metrics_ = true;

 private:
  static RunConfigOptions with(Clock& clock, RunConfigOptions config) {
    config.handle_signals = false;
    config.clock = &clock;
    if (config.model_dir.empty()) config.model_dir = "nowhere";
    return config;
  }
  void save(const TrainOptions& options, Session& session) {
    arrive_at(step_);
    for (const auto& listener : options.saving_listeners) listener->after_save(session, step_);
  }

  RunConfig config_;
  std::int64_t step_ = 0;
  std::string checkpoint_;
};

inline InputBatch no_input(Graph& graph) { return {.features = constant(graph, Tensor::scalar(1.0f))}; }

// A hook that does nothing.
class NamedHook final : public SessionRunHook {
 public:
  std::string name() const override { return "NamedHook"; }
};

}  // namespace runnel
