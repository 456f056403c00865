// Exports: the variables that predicting takes and the graph of it, in a folder that appears whole.
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "train/checkpoint/saver.h"
#include "train/estimator/estimator.h"
#include "train/estimator/export_folders.h"
#include "train/estimator/model_graph.h"

namespace runnel {
namespace {

// Names of tensors for those who load the graph: items "KEY=TENSOR" of a collection.
void note(Graph& graph, const char* collection, const std::string& before, const NamedOutputs& outputs) {
  for (const auto& [key, output] : outputs.all())
    graph.add_to_collection(collection, before + key + "=" + output.name());
}

void note_signatures(Graph& graph, const InputBatch& input, const EstimatorSpec& spec) {
  note(graph, "serving_inputs", "", input.features);
  note(graph, "serving_outputs", "", spec.predictions);
  for (const auto& [signature, outputs] : spec.export_outputs)
    note(graph, "serving_outputs", signature + "/", outputs);
}

}  // namespace

std::string Estimator::export_model(const std::string& export_dir_base, const InputFunction& serving_input_fn,
                                    const ExportModelOptions& options) {
  const std::string checkpoint =
      options.checkpoint_path.empty() ? newest_whole_checkpoint() : options.checkpoint_path;
  if (checkpoint.empty())
    throw NotFound(
        cat("Estimator::export_model: there is no trained model in ", model_dir_, "; train it first"));
  ModelGraph model(model_fn_, serving_input_fn, ModeKeys::kPredict, params_, config_);
  note_signatures(model.graph, model.input, model.spec);
  Saver saver(model.graph, {.max_to_keep = std::nullopt, .clock = &config_.clock()});
  Session session(model.graph, config_.session_config());
  saver.restore(session, checkpoint);

  FileSystem& files = config_.files();
  const std::string folder = new_export_folder(files, config_.clock(), export_dir_base);
  const std::string unfinished = temporary_name(folder);
  make_directories(files, unfinished);
  try {
    saver.save(session, join_path(unfinished, "model.ckpt"));
    files.rename(unfinished, folder);
  } catch (...) {
    remove_export(files, unfinished);
    throw;
  }
  files.sync_directory(export_dir_base);
  log_info(cat("Exported ", checkpoint, " to ", folder));
  return folder;
}

}  // namespace runnel
