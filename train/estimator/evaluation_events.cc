// See evaluation_events.h.
#include "train/estimator/evaluation_events.h"

#include <memory>

#include "graph/error.h"
#include "graph/log.h"
#include "summary/file_writer_cache.h"
#include "summary/values/media_value.h"
#include "summary/values/value.h"

namespace runnel {
namespace {

bool is_scalar_number(const Tensor& value) {
  return value.shape().rank() == 0 && (value.dtype() == DType::kFloat || value.dtype() == DType::kDouble ||
                                       value.dtype() == DType::kInt32 || value.dtype() == DType::kInt64);
}

// A Summary of all values; several serialized ones in a row are one.
std::string summary_of(const EvaluationResult& result) {
  std::string summary;
  for (const auto& [name, value] : result.values) {
    if (name == "global_step") continue;
    if (is_scalar_number(value))
      summary += scalar_value(name, static_cast<float>(result.number(name)));
    else if (value.dtype() == DType::kString)
      log_warning(cat("Skipping the summary of ", name, ": it is a text"));
    else
      summary += tensor_value(name, value, "");
  }
  return summary;
}

void write(const std::string& directory, const EvaluationResult& result, const Graph& graph) {
  const std::int64_t step = result.global_step();
  const std::shared_ptr<FileWriter> writer = FileWriterCache::get(directory, graph);
  writer->add_summary(summary_of(result), step);
  if (!result.checkpoint_path.empty()) {
    log_info(cat("Saving 'checkpoint_path' summary for global step ", step, ": ", result.checkpoint_path));
    writer->add_summary(tensor_value("checkpoint_path", Tensor::scalar(result.checkpoint_path), ""), step);
  }
  writer->flush();
}

}  // namespace

void write_evaluation(const std::string& directory, const EvaluationResult& result, const Graph& graph) {
  log_info(cat("Saving dict for global step ", result.global_step(), ": ", result.text()));
  try {
    write(directory, result, graph);
  } catch (const Error& error) {
    log_warning(
        cat("the evaluation of step ", result.global_step(), " is not in the log: ", error.message()));
  }
}

}  // namespace runnel
