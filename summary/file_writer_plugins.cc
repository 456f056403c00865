// The methods of FileWriter for TensorBoard's plugins; their values are made in a file of their own each.
#include <algorithm>
#include <memory>
#include <string>

#include "graph/error.h"
#include "summary/file_writer.h"

namespace runnel {
namespace {

// What make() returns; an InvalidArgument of it says which call it was.
template <class Make>
auto named(const std::string& call, Make make) {
  try {
    return make();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(cat(call, ": ", error.message()));
  }
}

}  // namespace

void FileWriter::pr_curve(const std::string& tag, std::span<const bool> labels,
                          std::span<const float> predictions, std::int64_t step,
                          const PrCurveOptions& options) {
  const PrCurveRawOptions shown = {.display_name = options.display_name, .description = options.description};
  add_own_summary(
      named(cat("pr_curve '", tag, "'"),
            [&] { return pr_curve_value(tag, pr_curve_of(labels, predictions, options), shown); }),
      step);
}

void FileWriter::pr_curve(const std::string& tag, const std::vector<bool>& labels,
                          std::span<const float> predictions, std::int64_t step,
                          const PrCurveOptions& options) {
  const auto copy = std::make_unique<bool[]>(labels.size());  // vector<bool> holds bits
  std::copy(labels.begin(), labels.end(), copy.get());
  pr_curve(tag, std::span<const bool>(copy.get(), labels.size()), predictions, step, options);
}

void FileWriter::pr_curve_raw(const std::string& tag, const PrCurve& curve, std::int64_t step,
                              const PrCurveRawOptions& options) {
  add_own_summary(named(cat("pr_curve_raw '", tag, "'"), [&] { return pr_curve_value(tag, curve, options); }),
                  step);
}

void FileWriter::hparams_config(const std::vector<hp::HParam>& hparams,
                                const std::vector<hp::Metric>& metrics, const hp::ConfigOptions& options) {
  add_own_summary(named("hparams_config", [&] { return hp::config_value(hparams, metrics, options, now()); }),
                  0);
}

void FileWriter::hparams(const std::map<std::string, hp::Value>& values, const hp::SessionOptions& options) {
  add_own_summary(named("hparams", [&] { return hp::session_value(values, options, now()); }), 0);
}

void FileWriter::hparams_end(hp::Status status, const hp::EndOptions& options) {
  add_own_summary(hp::end_value(status, options, now()), 0);
}

void FileWriter::custom_scalars(const std::vector<CustomScalarsCategory>& layout) {
  add_own_summary(named("custom_scalars", [&] { return custom_scalars_value(layout); }), 0);
}

void FileWriter::mesh(const std::string& tag, const Tensor& vertices, std::int64_t step,
                      const MeshOptions& options) {
  add_own_summary(named(cat("mesh '", tag, "'"), [&] { return mesh_value(tag, vertices, options); }), step);
}

void FileWriter::embedding(const std::string& tensor_name, const Tensor& values,
                           const EmbeddingOptions& options) {
  write_files(cat("embedding '", tensor_name, "'"), [&](FileSystem& files, const std::string& directory) {
    write_embedding(files, directory, tensor_name, values, options);
  });
}

}  // namespace runnel
