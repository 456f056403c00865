// See exporter.h.
#include "train/estimator/exporter.h"

#include <cmath>
#include <optional>
#include <utility>

#include "graph/error.h"
#include "train/estimator/export_folders.h"
#include "train/estimator/export_strategy.h"

namespace runnel {
namespace {

// Writes an export of a request and keeps the newest few.
class FolderExporter : public Exporter {
 public:
  explicit FolderExporter(ExporterOptions options) : options_(std::move(options)) {
    require_folder_name(options_.name, "Exporter");
    if (!options_.serving_input_fn)
      throw InvalidArgument(cat("Exporter '", options_.name, "': serving_input_fn is missing"));
    if (options_.exports_to_keep < 1)
      throw InvalidArgument(cat("Exporter '", options_.name, "': exports_to_keep is ",
                                options_.exports_to_keep, "; it must be 1 or more"));
  }

  std::string name() const override { return options_.name; }

 protected:
  std::string write(const ExporterRequest& request) const {
    const std::string folder = request.estimator.export_model(request.export_path, options_.serving_input_fn,
                                                              {.checkpoint_path = request.checkpoint_path});
    remove_old_exports(request.estimator.config().files(), request.export_path, options_.exports_to_keep);
    return folder;
  }

 private:
  ExporterOptions options_;
};

class LatestExporter final : public FolderExporter {
 public:
  using FolderExporter::FolderExporter;
  std::string export_model(const ExporterRequest& request) override { return write(request); }
};

class FinalExporter final : public FolderExporter {
 public:
  using FolderExporter::FolderExporter;
  std::string export_model(const ExporterRequest& request) override {
    return request.is_the_final_export ? write(request) : "";
  }
};

class BestExporter final : public FolderExporter {
 public:
  BestExporter(ExporterOptions options, CompareResults compare_fn)
      : FolderExporter(std::move(options)), compare_fn_(std::move(compare_fn)) {
    if (!compare_fn_) throw InvalidArgument(cat("Exporter '", name(), "': compare_fn is empty"));
  }
  std::string export_model(const ExporterRequest& request) override {
    if (best_ && !compare_fn_(*best_, request.eval_result)) return "";
    const std::string folder = write(request);
    best_ = request.eval_result;
    return folder;
  }

 private:
  CompareResults compare_fn_;
  std::optional<EvaluationResult> best_;
};

}  // namespace

bool loss_smaller(const EvaluationResult& best, const EvaluationResult& current) {
  const double before = best.number("loss");
  return std::isnan(before) || current.number("loss") < before;
}

std::shared_ptr<Exporter> latest_exporter(ExporterOptions options) {
  return std::make_shared<LatestExporter>(std::move(options));
}

std::shared_ptr<Exporter> final_exporter(ExporterOptions options) {
  return std::make_shared<FinalExporter>(std::move(options));
}

std::shared_ptr<Exporter> best_exporter(ExporterOptions options, CompareResults compare_fn) {
  return std::make_shared<BestExporter>(std::move(options), std::move(compare_fn));
}

}  // namespace runnel
