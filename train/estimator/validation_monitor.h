// Evaluates a model while it trains and stops the training when that no longer gets better. Source:
// contrib.learn's ValidationMonitor (behaviours 23.3), as a hook.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/estimator/base_estimator.h"
#include "train/monitored/hook.h"

namespace runnel {

struct ValidationMonitorOptions {
  InputFunction input_fn = {};
  std::optional<std::int64_t> eval_steps = {};  // batches; none: until the input ends
  std::int64_t every_n_steps = 100;             // of training, between two looks for a new checkpoint
  MetricFunctions metrics = {};
  std::vector<Hook> hooks = {};
  std::optional<std::int64_t> early_stopping_rounds = {};  // steps without a better value; none: no stop
  std::string early_stopping_metric = "loss";
  bool early_stopping_metric_minimize = true;
  std::string name = "";           // results go to eval_NAME, or eval
  double check_interval_secs = 5;  // of the RunConfig's clock, between two looks
};

// For one training at a time. Only a checkpoint that it has not seen is evaluated, so values are those of the
// last checkpoint, and save_checkpoints_steps says how fine the grain is.
class ValidationMonitor final : public SessionRunHook {
 public:
  // `estimator` is the one that trains; borrowed. Throws InvalidArgument for arguments that are missing or
  // out of range.
  ValidationMonitor(BaseEstimator& estimator, ValidationMonitorOptions options);

  bool early_stopped() const { return early_stopped_; }
  std::optional<std::int64_t> best_step() const { return best_step_; }
  std::optional<double> best_value() const { return best_value_; }
  const EvaluationResult& best_metrics() const { return best_; }

  std::string name() const override { return "ValidationMonitor"; }
  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coord) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  bool is_due(std::int64_t step);
  bool is_better(double value) const;
  void judge(const EvaluationResult& result, std::int64_t step, SessionRunContext& context);

  BaseEstimator* estimator_;
  ValidationMonitorOptions options_;
  Coordinator* coord_ = nullptr;
  Output global_step_;
  std::optional<std::int64_t> last_step_, looked_nanos_, best_step_, judged_since_;
  std::optional<double> best_value_;
  std::string seen_;  // the checkpoint evaluated last
  EvaluationResult best_;
  bool early_stopped_ = false;
};

}  // namespace runnel
