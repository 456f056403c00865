// Trains, evaluates and runs a model that is made anew, by the user's functions, for each of these: one call,
// one fresh graph, and what lasts between two calls is the checkpoint in model_dir. Source:
// tf.estimator.Estimator (behaviours 22.2); README.md has what differs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint/init_from_checkpoint.h"
#include "train/estimator/base_estimator.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {

// Where a new model's values come from, if model_dir has no checkpoint yet.
struct WarmStart {
  std::string checkpoint = "";              // a directory, whose newest counts, or a prefix
  AssignmentMap assignment = {{"/", "/"}};  // all variables, by their own names
};

struct EstimatorOptions {
  std::string model_dir = "";  // "": the RunConfig's; without both a temporary one, with a warning
  RunConfig config = {};
  Params params = {};
  std::optional<WarmStart> warm_start_from = {};
};

struct PredictOptions {
  std::vector<std::string> predict_keys = {};  // none: all
  std::vector<Hook> hooks = {};
  std::string checkpoint_path = "";        // "": the newest in model_dir
  std::optional<std::int64_t> steps = {};  // batches; none: until the input ends
  Coordinator* coord = nullptr;            // borrowed; its stop ends the predictions
};

struct ExportModelOptions {
  std::string checkpoint_path = "";  // "": the newest in model_dir
};

// One row of the predictions, by key; the one without a name is under "".
using Prediction = std::map<std::string, Tensor>;

// One call at a time.
class Estimator final : public BaseEstimator {
 public:
  // Calls nothing yet. Throws InvalidArgument for an empty function and for two different model_dirs.
  explicit Estimator(ModelFunction model_fn, EstimatorOptions options = {});

  const std::string& model_dir() const override { return model_dir_; }
  const RunConfig& config() const override { return config_; }
  const Params& params() const { return params_; }
  bool takes_metrics() const override { return false; }

  // Goes on from the newest checkpoint that is whole, or begins. Ends after `steps` more steps, at the step
  // max_steps, when the input ends, a hook says so, or a signal comes; the last step is saved. Does nothing
  // if a checkpoint of max_steps is there. Throws InvalidArgument for steps and max_steps both,
  // saving_listeners when nothing saves, and a loss that is not one value; NanLossDuringTrainingError; what
  // the functions and the session throw.
  Estimator& train(const InputFunction& input_fn, const TrainOptions& options = {}) override;
  // Why the last training stopped: kNone if there was nothing left to train, or an error ended it; and the
  // loss of its last step: none if it made no step.
  const StopReason& stop_reason() const { return stop_reason_; }
  std::optional<double> final_loss() const { return final_loss_; }

  // The metrics of the model over `steps` batches, or all there are, the last one whether it is full or not.
  // Writes them to eval_dir(name), at the checkpoint's step. Without a checkpoint the model is initialised.
  // Throws InvalidArgument for a metric called loss or global_step.
  EvaluationResult evaluate(const InputFunction& input_fn, const EvaluateOptions& options = {}) override;

  // Calls `row` for each row of each batch, until it returns false. Throws InvalidArgument if predictions
  // are no rows, or not equally many; NotFound for a key that is none.
  void predict(const InputFunction& input_fn, const PredictOptions& options,
               const std::function<bool(const Prediction& row)>& row);
  // All rows at once: for an input that ends, or with `steps`.
  std::vector<Prediction> predict(const InputFunction& input_fn, const PredictOptions& options = {});

  // Of the newest checkpoint. Throw NotFound if there is none.
  std::vector<std::string> get_variable_names() const;
  Tensor get_variable_value(const std::string& name) const;

  // MODEL_DIR/eval, or MODEL_DIR/eval_NAME.
  std::string eval_dir(const std::string& name = "") const;

  // Writes EXPORT_DIR_BASE/SECONDS with the values and the graph (`.meta`) for predictions, in one piece, and
  // returns it. The serving input gives features as placeholders. Throws NotFound without a checkpoint.
  std::string export_model(const std::string& export_dir_base, const InputFunction& serving_input_fn,
                           const ExportModelOptions& options = {});

 private:
  std::string newest_whole_checkpoint() const;
  std::string checkpoint_or_newest(const std::string& given, const char* what) const;

  ModelFunction model_fn_;
  RunConfig config_;
  Params params_;
  std::optional<WarmStart> warm_start_;
  std::string model_dir_;
  StopReason stop_reason_;
  std::optional<double> final_loss_;
};

}  // namespace runnel
