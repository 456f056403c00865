// Predictions, row by row.
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "train/estimator/estimator.h"
#include "train/estimator/follow_stop_hook.h"
#include "train/estimator/model_graph.h"
#include "train/estimator/tensor_rows.h"
#include "train/monitored/monitored_session.h"

namespace runnel {
namespace {

struct Wanted {
  std::vector<std::string> keys;
  std::vector<Fetch> fetches;
};

Wanted wanted_of(const NamedOutputs& predictions, const std::vector<std::string>& predict_keys) {
  Wanted wanted;
  for (const std::string& key : predict_keys) {
    wanted.keys.push_back(key);
    wanted.fetches.emplace_back(predictions[key]);
  }
  if (!predict_keys.empty()) return wanted;
  for (const auto& [key, output] : predictions.all()) {
    wanted.keys.push_back(key);
    wanted.fetches.emplace_back(output);
  }
  return wanted;
}

std::int64_t rows_of(const Wanted& wanted, const std::vector<Tensor>& batch) {
  std::int64_t rows = -1;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Shape& shape = batch[i].shape();
    if (shape.rank() < 1)
      throw InvalidArgument(cat("Estimator::predict: the prediction '", wanted.keys[i],
                                "' is a scalar; a batch must have a row for each example"));
    if (rows >= 0 && shape[0] != rows)
      throw InvalidArgument(cat("Estimator::predict: the prediction '", wanted.keys[i], "' has ", shape[0],
                                " rows, but '", wanted.keys[0], "' has ", rows));
    rows = shape[0];
  }
  return rows;
}

bool hand_out(const Wanted& wanted, const std::vector<Tensor>& batch,
              const std::function<bool(const Prediction&)>& row) {
  const std::int64_t rows = rows_of(wanted, batch);
  for (std::int64_t r = 0; r < rows; ++r) {
    Prediction prediction;
    for (std::size_t i = 0; i < batch.size(); ++i) prediction.emplace(wanted.keys[i], row_at(batch[i], r));
    if (!row(prediction)) return false;
  }
  return true;
}

}  // namespace

void Estimator::predict(const InputFunction& input_fn, const PredictOptions& options,
                        const std::function<bool(const Prediction& row)>& row) {
  if (options.steps && *options.steps <= 0)
    throw InvalidArgument(cat("Estimator::predict: steps is ", *options.steps, "; it must be over 0"));
  const std::string checkpoint = checkpoint_or_newest(options.checkpoint_path, "predictions");
  ModelGraph model(model_fn_, input_fn, ModeKeys::kPredict, params_, config_);
  const Wanted wanted = wanted_of(model.spec.predictions, options.predict_keys);

  std::vector<Hook> hooks;
  if (options.coord) hooks.push_back(std::make_shared<FollowStopHook>(*options.coord));
  hooks = joined(joined(std::move(hooks), model.input.hooks), options.hooks);
  hooks = joined(std::move(hooks), model.spec.prediction_hooks);
  MonitoredSession session(
      model.graph, {.session_creator = std::make_shared<ChiefSessionCreator>(
                        model.graph, ChiefSessionCreatorOptions{.scaffold = model.scaffold(),
                                                                .master = config_.master(),
                                                                .config = config_.session_config(),
                                                                .checkpoint_filename_with_path = checkpoint,
                                                                .clock = &config_.clock()}),
                    .hooks = std::move(hooks),
                    .handle_signals = config_.handle_signals() && !options.coord,
                    .clock = &config_.clock()});
  session.close_after([&](MonitoredSession& running) {
    for (std::int64_t done = 0; !running.should_stop() && (!options.steps || done < *options.steps); ++done)
      if (!hand_out(wanted, running.run(std::span<const Fetch>(wanted.fetches)), row)) return;
  });
}

std::vector<Prediction> Estimator::predict(const InputFunction& input_fn, const PredictOptions& options) {
  std::vector<Prediction> rows;
  predict(input_fn, options, [&](const Prediction& row) {
    rows.push_back(row);
    return true;
  });
  return rows;
}

}  // namespace runnel
