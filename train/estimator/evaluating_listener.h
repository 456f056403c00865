// Evaluates a model while it trains, when a checkpoint has been saved: the step that waits meanwhile is of
// the same process, so that no checkpoint is missed. Source: the listener inside of
// tf.estimator.train_and_evaluate (behaviours 22.5).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "graph/clock.h"
#include "train/estimator/evaluation_result.h"
#include "train/monitored/checkpoint_saver_hook.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

struct EvaluatingListenerOptions {
  std::function<EvaluationResult()> evaluate = {};  // the newest checkpoint
  double throttle_secs = 0;                         // no sooner than this after the start of the last one
  std::int64_t min_steps = 0;                       // and no fewer steps after it
  Clock* clock = nullptr;                           // borrowed; none means the machine's
  Coordinator* coord = nullptr;                     // borrowed; nothing is evaluated once it stops
};

// Called by the thread that trains.
class EvaluatingListener final : public CheckpointSaverListener {
 public:
  explicit EvaluatingListener(EvaluatingListenerOptions options);

  bool after_save(Session& session, std::int64_t step) override;

  const EvaluationResult& result() const { return result_; }  // the last; empty if there was none
  // The step of the checkpoint that was evaluated last.
  std::optional<std::int64_t> evaluated_step() const { return evaluated_step_; }

 private:
  bool is_due(std::int64_t step) const;

  EvaluatingListenerOptions options_;
  std::optional<std::int64_t> first_step_, evaluated_step_;
  std::optional<std::int64_t> started_nanos_;  // of the last evaluation, by the steady clock
  EvaluationResult result_;
};

}  // namespace runnel
