// Evaluation: streaming metrics over the batches of the input, read once at the end.
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "ops/variables.h"
#include "train/estimator/estimator.h"
#include "train/estimator/evaluation_events.h"
#include "train/estimator/follow_stop_hook.h"
#include "train/estimator/model_graph.h"
#include "train/estimator/stop_after_n_evals_hook.h"
#include "train/metrics/mean_metrics.h"
#include "train/monitored/final_ops_hook.h"
#include "train/monitored/monitored_session.h"

namespace runnel {
namespace {

constexpr const char* kLoss = "loss";
constexpr const char* kGlobalStep = "global_step";
constexpr const char* kEvalStep = "eval_step";

// The model's metrics, and the mean of its loss.
EvalMetricOps metrics_of(const EstimatorSpec& spec) {
  EvalMetricOps all = spec.eval_metric_ops;
  for (const char* taken : {kLoss, kGlobalStep})
    if (all.contains(taken))
      throw InvalidArgument(cat("Estimator::evaluate: a metric cannot be called '", taken,
                                "': that is a result of every evaluation; give it another name"));
  all.emplace(kLoss, metrics::mean(spec.loss));
  return all;
}

// What one batch runs: all updates, and after them the count of batches.
struct Updates {
  std::vector<Operation> metrics;
  Output evals_completed;
};

Updates updates_of(Graph& graph, const EvalMetricOps& metrics) {
  Updates updates;
  for (const auto& [name, metric] : metrics) updates.metrics.push_back(metric.update_op.node());
  const Variable count = variable(graph, Tensor::scalar<std::int64_t>(0), kEvalStep,
                                  {.trainable = false, .collections = {keys::kLocalVariables, kEvalStep}});
  const ControlDependencies after(graph, updates.metrics);
  updates.evals_completed = assign_add(count, std::int64_t{1});
  return updates;
}

std::vector<FinalOp> final_ops_of(const EvalMetricOps& metrics, const Variable& global_step) {
  std::vector<FinalOp> final_ops;
  for (const auto& [name, metric] : metrics) final_ops.emplace_back(name, metric.value);
  final_ops.emplace_back(kGlobalStep, global_step);
  return final_ops;
}

void run_until_stop(MonitoredSession& session, const std::vector<Operation>& updates) {
  const std::vector<Fetch> fetches(updates.begin(), updates.end());
  session.close_after([&](MonitoredSession& running) {
    while (!running.should_stop()) running.run(std::span<const Fetch>(fetches));
  });
}

void check(const EvaluateOptions& o) {
  if (o.steps && *o.steps <= 0)
    throw InvalidArgument(cat("Estimator::evaluate: steps is ", *o.steps, "; it must be over 0"));
  if (!o.metrics.empty())
    throw InvalidArgument(
        "Estimator::evaluate: metrics cannot be given; return them as eval_metric_ops from the model "
        "function");
}

}  // namespace

EvaluationResult Estimator::evaluate(const InputFunction& input_fn, const EvaluateOptions& options) {
  check(options);
  EvaluationResult result;
  result.checkpoint_path = checkpoint_or_newest(options.checkpoint_path, "evaluation");
  ModelGraph model(model_fn_, input_fn, ModeKeys::kEval, params_, config_);
  const EvalMetricOps metrics = metrics_of(model.spec);
  const Updates updates = updates_of(model.graph, metrics);
  const auto finals = std::make_shared<FinalOpsHook>(final_ops_of(metrics, model.global_step));

  std::vector<Hook> hooks;
  if (options.coord) hooks.push_back(std::make_shared<FollowStopHook>(*options.coord));
  hooks = joined(joined(std::move(hooks), model.input.hooks), options.hooks);
  hooks.push_back(std::make_shared<StopAfterNEvalsHook>(updates.evals_completed, options.steps));
  hooks = joined(std::move(hooks), model.spec.evaluation_hooks);
  hooks.push_back(finals);

  log_info(cat("Starting evaluation of ",
               result.checkpoint_path.empty() ? "a new model" : result.checkpoint_path));
  MonitoredSession session(
      model.graph,
      {.session_creator = std::make_shared<ChiefSessionCreator>(
           model.graph, ChiefSessionCreatorOptions{.scaffold = model.scaffold(),
                                                   .master = config_.evaluation_master(),
                                                   .config = config_.session_config(),
                                                   .checkpoint_filename_with_path = result.checkpoint_path,
                                                   .clock = &config_.clock()}),
       .hooks = std::move(hooks),
       .handle_signals = config_.handle_signals() && !options.coord,
       .clock = &config_.clock()});
  run_until_stop(session, updates.metrics);
  if (options.coord && options.coord->should_stop()) return {};  // a part of the input says nothing
  for (const auto& [name, metric] : metrics) result.values.emplace(name, finals->final_ops_value(name));
  result.values.emplace(kGlobalStep, finals->final_ops_value(kGlobalStep));
  write_evaluation(eval_dir(options.name), result, model.graph);
  return result;
}

}  // namespace runnel
