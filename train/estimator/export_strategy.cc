// See export_strategy.h.
#include "train/estimator/export_strategy.h"

#include <utility>

#include "graph/error.h"
#include "train/estimator/estimator.h"
#include "train/estimator/exporter.h"

namespace runnel {

ExportStrategy make_export_strategy(std::string name, InputFunction serving_input_fn,
                                    std::int64_t exports_to_keep) {
  const auto exporter = latest_exporter(
      {.name = name, .serving_input_fn = std::move(serving_input_fn), .exports_to_keep = exports_to_keep});
  return {.name = std::move(name), .export_fn = [exporter](const ExportRequest& request) {
            auto* estimator = dynamic_cast<Estimator*>(&request.estimator);
            if (!estimator)
              throw InvalidArgument(cat("ExportStrategy '", exporter->name(),
                                        "': it exports an Estimator; give an export_fn for another one"));
            return exporter->export_model({.estimator = *estimator,
                                           .export_path = request.export_dir,
                                           .checkpoint_path = request.checkpoint_path,
                                           .eval_result = request.result,
                                           .is_the_final_export = true});
          }};
}

void require_exportable(const ExportStrategy& strategy) {
  require_folder_name(strategy.name, "ExportStrategy");
  if (!strategy.export_fn)
    throw InvalidArgument(cat("ExportStrategy '", strategy.name, "': export_fn is empty"));
}

void require_folder_name(const std::string& name, const std::string& of_what) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    throw InvalidArgument(cat(of_what, ": '", name, "' is no name for a folder of exports"));
}

}  // namespace runnel
