// When train_and_evaluate hands a model on: after each evaluation, after the last one, or when it is the best
// so far. Source: tf.estimator.Exporter, LatestExporter, FinalExporter, BestExporter (behaviours 22.5).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "train/estimator/estimator.h"

namespace runnel {

// What there is to export, and where to.
struct ExporterRequest {
  Estimator& estimator;
  std::string export_path;  // MODEL_DIR/export/NAME
  std::string checkpoint_path;
  const EvaluationResult& eval_result;
  bool is_the_final_export = false;
};

class Exporter {
 public:
  virtual ~Exporter() = default;
  virtual std::string name() const = 0;  // of the folder
  // The folder that it wrote; "" if it did not.
  virtual std::string export_model(const ExporterRequest& request) = 0;
};

struct ExporterOptions {
  std::string name = "";
  InputFunction serving_input_fn = {};  // features as placeholders
  std::int64_t exports_to_keep = 5;     // of latest and best exporters
};

// True if the second result is better than the first, which is of the best export so far.
using CompareResults = std::function<bool(const EvaluationResult& best, const EvaluationResult& current)>;
// By the smaller loss.
bool loss_smaller(const EvaluationResult& best, const EvaluationResult& current);

// All throw InvalidArgument for a name that is no folder's, an empty function and exports_to_keep below 1.
std::shared_ptr<Exporter> latest_exporter(ExporterOptions options);
std::shared_ptr<Exporter> final_exporter(ExporterOptions options);
std::shared_ptr<Exporter> best_exporter(ExporterOptions options, CompareResults compare_fn = loss_smaller);

}  // namespace runnel
