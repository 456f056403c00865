// How an Experiment hands a trained model on: a name, and a function that writes it somewhere. Source:
// contrib.learn's ExportStrategy and make_export_strategy (behaviours 23.2).
#pragma once

#include <functional>
#include <string>

#include "train/estimator/base_estimator.h"

namespace runnel {

// What there is to export.
struct ExportRequest {
  BaseEstimator& estimator;
  std::string export_dir;       // <model_dir>/export/<name>
  std::string checkpoint_path;  // "": the estimator's newest
  const EvaluationResult& result;
};

// Returns what it wrote, or "".
using ExportFunction = std::function<std::string(const ExportRequest& request)>;

struct ExportStrategy {
  std::string name;
  ExportFunction export_fn;
};

// Exports an Estimator's model (Estimator::export_model) and keeps the newest `exports_to_keep` exports, at
// least 1. The strategy's function throws InvalidArgument for another estimator.
ExportStrategy make_export_strategy(std::string name, InputFunction serving_input_fn,
                                    std::int64_t exports_to_keep = 5);

// Throws InvalidArgument for a name that require_folder_name refuses, and for an empty function.
void require_exportable(const ExportStrategy& strategy);

// Throws InvalidArgument for a name that is none for a folder: empty, with a '/', "." or "..".
void require_folder_name(const std::string& name, const std::string& of_what);

}  // namespace runnel
