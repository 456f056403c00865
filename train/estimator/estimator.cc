// Making an Estimator and training with it. Evaluation is in estimator_evaluate.cc, predictions in
// estimator_predict.cc, exports in estimator_export.cc.
#include "train/estimator/estimator.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "summary/summary_ops.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/stored_checkpoints.h"
#include "train/estimator/follow_stop_hook.h"
#include "train/estimator/global_step_of.h"
#include "train/estimator/model_graph.h"
#include "train/monitored/logging_tensor_hook.h"
#include "train/monitored/monitored_training_session.h"
#include "train/monitored/nan_tensor_hook.h"
#include "train/monitored/stop_at_step_hook.h"

namespace runnel {
namespace {

std::string temporary_model_dir(FileSystem& files) {
  const char* folder = std::getenv("TMPDIR");
  const std::string path = temporary_name(join_path(folder && *folder ? folder : "/tmp", "runnel-model"));
  make_directories(files, path);
  log_warning(cat("Estimator: there is no model_dir; the temporary folder ", path, " is used"));
  return path;
}

std::string model_dir_of(const EstimatorOptions& options) {
  const std::string& of_config = options.config.model_dir();
  if (!options.model_dir.empty() && !of_config.empty() && options.model_dir != of_config)
    throw InvalidArgument(cat("Estimator: model_dir is '", options.model_dir,
                              "', but that of the RunConfig is '", of_config, "'; give one of them"));
  if (!options.model_dir.empty()) return options.model_dir;
  return of_config.empty() ? temporary_model_dir(options.config.files()) : of_config;
}

void check(const TrainOptions& o, const RunConfig& config) {
  if (o.steps && o.max_steps) throw InvalidArgument("Estimator::train: give either steps or max_steps");
  const std::optional<std::int64_t>& most = o.steps ? o.steps : o.max_steps;
  if (most && *most <= 0)
    throw InvalidArgument(
        cat("Estimator::train: ", o.steps ? "steps" : "max_steps", " is ", *most, "; it must be over 0"));
  if (!config.is_chief())
    throw Unimplemented(cat("Estimator::train: this process is task ", config.task_id(),
                            ", and training on several machines is not there yet; train with task 0"));
}

CheckpointSaverHook* saver_hook_among(const std::vector<Hook>& hooks) {
  for (const Hook& hook : hooks)
    if (auto* saver = dynamic_cast<CheckpointSaverHook*>(&*hook)) return saver;
  return nullptr;
}

// Builds the saver when all hooks have added their variables, and tells those that look for one.
class SaverHook final : public SessionRunHook {
 public:
  explicit SaverHook(std::shared_ptr<Saver> saver) : saver_(std::move(saver)) {}
  std::string name() const override { return "SaverHook"; }
  void begin(Graph& graph) override {
    saver_->build();
    if (const std::string def = saver_->saver_def(); !def.empty())
      graph.add_to_collection(keys::kSavers, def);
  }

 private:
  std::shared_ptr<Saver> saver_;
};

// One training: the hooks in TensorFlow's order, and the loop.
class Training {
 public:
  Training(ModelGraph& model, const RunConfig& config, const std::string& model_dir,
           const TrainOptions& options)
      : model_(model), config_(config), model_dir_(model_dir), scaffold_(model.scaffold()) {
    add_loss_summary();
    add_hooks(options);
    if (!scaffold_.saver() && model_.graph.collection(keys::kSavers).empty()) make_saver();
    add_saver_hook(options);
  }

  StopReason run(std::optional<double>& loss) {
    MonitoredTrainingSession session(model_.graph,
                                     {.master = config_.master(),
                                      .checkpoint_dir = model_dir_,
                                      .scaffold = scaffold_,
                                      .hooks = hooks_,
                                      .chief_only_hooks = chief_hooks_,
                                      .save_checkpoint_secs = none,  // a hook does it
                                      .save_summaries_steps = summary_steps(),
                                      .config = config_.session_config(),
                                      .log_step_count_steps = config_.log_step_count_steps().value_or(0),
                                      .max_wait_secs = config_.session_creation_timeout_secs(),
                                      .handle_signals = handle_signals_,
                                      .clock = &config_.clock()});
    return session.close_after([&](MonitoredSession& running) {
      while (!running.should_stop()) loss = number(running.run({model_.spec.train_op, model_.spec.loss})[1]);
    });
  }

 private:
  // Requires: one value; of shape [?], or any, the model's loss may have another number of them.
  double number(const Tensor& loss) const {
    if (loss.elements() != 1)
      throw InvalidArgument(cat("Estimator::train: the loss '", model_.spec.loss.name(), "' is ",
                                loss.dtype(), loss.shape(), " in this step; it must be one value"));
    if (loss.dtype() == DType::kDouble) return loss.values<double>()[0];
    return static_cast<double>(loss.values<float>()[0]);
  }

  Setting<std::int64_t> summary_steps() const {
    const auto steps = config_.save_summary_steps();
    return steps && *steps > 0 ? Setting<std::int64_t>(*steps) : Setting<std::int64_t>(none);
  }

  void add_loss_summary() {
    const Collection summaries = model_.graph.collection(keys::kSummaries);
    const bool there = std::any_of(summaries.begin(), summaries.end(), [](const CollectionItem& item) {
      const Output* output = std::get_if<Output>(&item);
      return output && output->node().name() == "loss";
    });
    if (!there) summary::scalar("loss", model_.spec.loss);
    model_.graph.add_to_collection(keys::kLosses, model_.spec.loss);
  }

  void add_hooks(const TrainOptions& o) {
    if (o.coord) hooks_.push_back(std::make_shared<FollowStopHook>(*o.coord));
    handle_signals_ = config_.handle_signals() && !o.coord;
    hooks_ = joined(joined(std::move(hooks_), model_.input.hooks), o.hooks);
    if (o.steps) hooks_.push_back(stop_after_steps(*o.steps));
    if (o.max_steps) hooks_.push_back(stop_at_step(*o.max_steps));
    hooks_.push_back(nan_tensor(model_.spec.loss));
    if (config_.log_step_count_steps())
      hooks_.push_back(
          logging_tensor({{"loss", model_.spec.loss}, {"step", model_.global_step}},
                         {.every_n_iter = config_.log_step_count_steps(), .clock = &config_.clock()}));
    hooks_ = joined(std::move(hooks_), model_.spec.training_hooks);
  }

  void make_saver() {
    saver_ = std::make_shared<Saver>(
        model_.graph, SaverOptions{.sharded = true,
                                   .max_to_keep = config_.keep_checkpoint_max(),
                                   .keep_checkpoint_every_n_hours =
                                       static_cast<float>(config_.keep_checkpoint_every_n_hours()),
                                   .defer_build = true,
                                   .allow_empty = true,
                                   .save_relative_paths = true,
                                   .clock = &config_.clock()});
    scaffold_ = Scaffold(ScaffoldOptions{.saver = saver_.get(), .copy_from_scaffold = scaffold_});
    hooks_.push_back(std::make_shared<SaverHook>(saver_));  // begins last
  }

  void add_saver_hook(const TrainOptions& o) {
    CheckpointSaverHook* saving = saver_hook_among(joined(hooks_, model_.spec.training_chief_hooks));
    const bool periodic = config_.save_checkpoints_secs() || config_.save_checkpoints_steps();
    if (saving) {
      for (const auto& listener : o.saving_listeners) saving->add_listener(listener);
    } else if (periodic) {
      chief_hooks_.push_back(checkpoint_saver(model_dir_, {.save_secs = config_.save_checkpoints_secs(),
                                                           .save_steps = config_.save_checkpoints_steps(),
                                                           .scaffold = scaffold_,
                                                           .listeners = o.saving_listeners,
                                                           .clock = &config_.clock()}));
    } else if (!o.saving_listeners.empty()) {
      throw InvalidArgument(
          "Estimator::train: there are saving_listeners, but nothing saves; set save_checkpoints_steps or "
          "save_checkpoints_secs of the RunConfig, or give a CheckpointSaverHook");
    }
    chief_hooks_ = joined(std::move(chief_hooks_), model_.spec.training_chief_hooks);
  }

  ModelGraph& model_;
  const RunConfig& config_;
  const std::string& model_dir_;
  Scaffold scaffold_;
  std::shared_ptr<Saver> saver_;
  std::vector<Hook> hooks_, chief_hooks_;
  bool handle_signals_ = true;
};

}  // namespace

Estimator::Estimator(ModelFunction model_fn, EstimatorOptions options)
    : model_fn_(std::move(model_fn)),
      config_(options.config),
      params_(std::move(options.params)),
      warm_start_(std::move(options.warm_start_from)) {
  if (!model_fn_) throw InvalidArgument("Estimator: model_fn is missing");
  model_dir_ = model_dir_of(options);
  config_ = config_.replace({.model_dir = model_dir_});
}

Estimator& Estimator::train(const InputFunction& input_fn, const TrainOptions& options) {
  check(options, config_);
  stop_reason_ = {};
  final_loss_ = {};
  const std::string newest = newest_whole_checkpoint();
  if (options.max_steps && !newest.empty() && global_step_of(newest, config_.files()) >= *options.max_steps) {
    log_info(
        cat("Skipping training: the checkpoint ", newest, " has reached max_steps, ", *options.max_steps));
    return *this;
  }
  ModelGraph model(model_fn_, input_fn, ModeKeys::kTrain, params_, config_);
  if (warm_start_ && newest.empty())
    init_from_checkpoint(model.graph, warm_start_->checkpoint, warm_start_->assignment,
                         {.file_system = &config_.files()});
  Training training(model, config_, model_dir_, options);
  stop_reason_ = training.run(final_loss_);
  if (!final_loss_)
    log_warning("The training made no step; perhaps the input is empty.");
  else
    log_info(cat("Loss for final step: ", *final_loss_, "."));
  return *this;
}

std::string Estimator::newest_whole_checkpoint() const {
  try {
    return runnel::latest_checkpoint(model_dir_, {.verify = true, .file_system = &config_.files()});
  } catch (const NotFound&) {
    return "";
  }
}

std::string Estimator::checkpoint_or_newest(const std::string& given, const char* what) const {
  if (!given.empty()) return given;
  const std::string newest = newest_whole_checkpoint();
  if (newest.empty())
    log_info(cat("There is no trained model in ", model_dir_, "; the model is initialised for the ", what));
  return newest;
}

std::vector<std::string> Estimator::get_variable_names() const {
  std::vector<std::string> names;
  for (const VariableInfo& variable : list_variables(model_dir_, {.file_system = &config_.files()}))
    names.push_back(variable.name);
  return names;
}

Tensor Estimator::get_variable_value(const std::string& name) const {
  return load_variable(model_dir_, name, {.file_system = &config_.files()});
}

std::string Estimator::eval_dir(const std::string& name) const {
  return join_path(model_dir_, name.empty() ? "eval" : "eval_" + name);
}

}  // namespace runnel
