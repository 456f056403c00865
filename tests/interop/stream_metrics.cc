// Runs each metric over a few batches, one of them empty, and prints a line of JSON for each: names, dtypes,
// shapes, and after every batch the update's result and the value. stream_metrics DIR also writes
// DIR/NAME.pb, the graph. test_metrics.py does the same in TensorFlow; the batches are made by the same
// formulas.
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

struct Inputs {
  Output labels, predictions, scores, weights, classes, guesses, xs, ys, table, column;
  Outputs all() const {
    return {labels, predictions, scores, weights, classes, guesses, xs, ys, table, column};
  }
};
using Build = std::function<Metric(const Inputs&)>;

const std::vector<float> kThresholds{0.2f, 0.5f, 0.9f};
using metrics::Curve, metrics::SummationMethod;

std::map<std::string, Build> cases() {
  using namespace metrics;
  return {
      {"mean", [](const Inputs& in) { return mean(in.xs); }},
      {"mean_weighted", [](const Inputs& in) { return mean(in.xs, {.weights = in.weights}); }},
      {"mean_scalar_weight", [](const Inputs& in) { return mean(in.xs, {.weights = 0.5f}); }},
      {"mean_named", [](const Inputs& in) { return mean(in.classes, {.name = "m"}); }},
      {"mean_column", [](const Inputs& in) { return mean(in.table, {.weights = in.column}); }},
      {"mean_short_weights", [](const Inputs& in) { return mean(in.table, {.weights = in.weights}); }},
      {"mean_long_weights", [](const Inputs& in) { return mean(in.xs, {.weights = in.column}); }},
      {"mean_tensor", [](const Inputs& in) { return mean_tensor(reshape(reduce_sum(in.table, 0), {3})); }},
      {"accuracy", [](const Inputs& in) { return accuracy(in.classes, in.guesses); }},
      {"accuracy_weighted",
       [](const Inputs& in) { return accuracy(in.classes, in.guesses, {.weights = in.weights}); }},
      {"accuracy_cast", [](const Inputs& in) { return accuracy(in.classes, in.xs); }},
      {"accuracy_squeezed", [](const Inputs& in) { return accuracy(in.weights, in.column); }},
      {"mean_squared_error", [](const Inputs& in) { return mean_squared_error(in.ys, in.xs); }},
      {"root_mean_squared_error",
       [](const Inputs& in) { return root_mean_squared_error(in.ys, in.xs, {.weights = in.weights}); }},
      {"mean_absolute_error", [](const Inputs& in) { return mean_absolute_error(in.ys, in.xs); }},
      {"mean_relative_error", [](const Inputs& in) { return mean_relative_error(in.ys, in.xs, in.weights); }},
      {"mean_cosine_distance", [](const Inputs& in) { return mean_cosine_distance(in.table, in.table, 1); }},
      {"percentage_below", [](const Inputs& in) { return percentage_below(in.xs, 0.25f); }},
      {"true_positives", [](const Inputs& in) { return true_positives(in.labels, in.predictions); }},
      {"false_positives", [](const Inputs& in) { return false_positives(in.labels, in.predictions); }},
      {"true_negatives",
       [](const Inputs& in) { return true_negatives(in.labels, in.predictions, {.weights = in.weights}); }},
      {"false_negatives", [](const Inputs& in) { return false_negatives(in.classes, in.guesses); }},
      {"precision", [](const Inputs& in) { return precision(in.labels, in.predictions); }},
      {"precision_weighted",
       [](const Inputs& in) { return precision(in.labels, in.predictions, {.weights = in.weights}); }},
      {"recall", [](const Inputs& in) { return recall(in.labels, in.predictions, {.name = "r"}); }},
      {"auc", [](const Inputs& in) { return auc(in.labels, in.scores); }},
      {"auc_weighted",
       [](const Inputs& in) {
         return auc(in.labels, in.scores, {.weights = in.weights, .num_thresholds = 7});
       }},
      {"auc_thresholds",
       [](const Inputs& in) {
         return auc(in.labels, in.scores, {.thresholds = std::vector{0.7f, 0.3f}});
       }},
      {"auc_minoring",
       [](const Inputs& in) {
         return auc(in.labels, in.scores, {.summation_method = SummationMethod::kMinoring});
       }},
      {"auc_majoring",
       [](const Inputs& in) {
         return auc(in.labels, in.scores, {.summation_method = SummationMethod::kMajoring});
       }},
      {"auc_pr", [](const Inputs& in) { return auc(in.labels, in.scores, {.curve = Curve::kPr}); }},
      {"auc_pr_careful",
       [](const Inputs& in) {
         return auc(in.labels, in.scores,
                    {.curve = Curve::kPr, .summation_method = SummationMethod::kCarefulInterpolation});
       }},
      {"auc_pr_minoring",
       [](const Inputs& in) {
         return auc(in.labels, in.scores,
                    {.curve = Curve::kPr, .summation_method = SummationMethod::kMinoring});
       }},
      {"true_positives_at_thresholds",
       [](const Inputs& in) { return true_positives_at_thresholds(in.labels, in.scores, kThresholds); }},
      {"false_positives_at_thresholds",
       [](const Inputs& in) { return false_positives_at_thresholds(in.labels, in.scores, kThresholds); }},
      {"true_negatives_at_thresholds",
       [](const Inputs& in) { return true_negatives_at_thresholds(in.labels, in.scores, kThresholds); }},
      {"false_negatives_at_thresholds",
       [](const Inputs& in) { return false_negatives_at_thresholds(in.labels, in.scores, kThresholds); }},
      {"precision_at_thresholds",
       [](const Inputs& in) {
         return precision_at_thresholds(in.labels, in.scores, kThresholds, {.weights = in.weights});
       }},
      {"recall_at_thresholds",
       [](const Inputs& in) { return recall_at_thresholds(in.labels, in.scores, kThresholds); }},
      {"mean_iou", [](const Inputs& in) { return mean_iou(in.classes, in.guesses, 5); }},
      {"mean_iou_weighted",
       [](const Inputs& in) { return mean_iou(in.classes, in.guesses, 5, {.weights = in.weights}); }},
      {"mean_per_class_accuracy",
       [](const Inputs& in) { return mean_per_class_accuracy(in.classes, in.guesses, 5); }},
      {"mean_per_class_accuracy_weighted",
       [](const Inputs& in) {
         return mean_per_class_accuracy(in.classes, in.guesses, 5, {.weights = in.weights});
       }},
      {"confusion_matrix",
       [](const Inputs& in) {
         const Output value = confusion_matrix(in.classes, in.guesses, {.num_classes = 4});
         return Metric{value, value};
       }},
      {"confusion_matrix_weighted",
       [](const Inputs& in) {
         const Output value =
             confusion_matrix(in.classes, in.guesses,
                              {.num_classes = 4, .dtype = DType::kFloat, .name = "c", .weights = in.weights});
         return Metric{value, value};
       }},
  };
}

// Of which inputs nothing is known but, in "ranks", how many dimensions they have.
Inputs inputs(Graph& g, bool ranks) {
  const auto input = [&](DType type, const char* name, Shape shape = {kUnknown}) {
    return placeholder(g, type, ranks ? shape : Shape::unknown(), name);
  };
  return {input(DType::kFloat, "labels"),
          input(DType::kFloat, "predictions"),
          input(DType::kFloat, "scores"),
          input(DType::kFloat, "weights"),
          input(DType::kInt32, "classes"),
          input(DType::kInt32, "guesses"),
          input(DType::kFloat, "xs"),
          input(DType::kFloat, "ys"),
          input(DType::kFloat, "table", {kUnknown, 3}),
          input(DType::kFloat, "column", {kUnknown, 1})};
}

template <class T, class F>
Tensor made(std::int64_t n, std::int64_t first, F formula) {
  std::vector<T> values;
  for (std::int64_t k = first; k < first + n; ++k) values.push_back(static_cast<T>(formula(k)));
  return Tensor::vector(values);
}

std::vector<Feed> batch(const Inputs& in, std::int64_t n, std::int64_t k) {
  const auto half = [](std::int64_t i) { return static_cast<double>(i * 13 % 5) / 2; };
  return {
      {in.labels, made<float>(n, k, [](std::int64_t i) { return (i * 31 + 7) % 3 == 0; })},
      {in.predictions, made<float>(n, k, [](std::int64_t i) { return (i * 17 + 3) % 4 < 2; })},
      {in.scores,
       made<float>(n, k,
                   [](std::int64_t i) { return static_cast<double>((i * 7919 + 104729) % 1009) / 1009; })},
      {in.weights, made<float>(n, k, half)},
      {in.classes, made<std::int32_t>(n, k, [](std::int64_t i) { return i * 13 % 4; })},
      {in.guesses, made<std::int32_t>(n, k, [](std::int64_t i) { return (i * 29 + i / 3) % 4; })},
      {in.xs, made<float>(n, k, [](std::int64_t i) { return static_cast<double>(i * 37 % 101 - 50) / 7; })},
      {in.ys, made<float>(n, k, [](std::int64_t i) { return static_cast<double>(i * 53 % 97 - 48) / 7; })},
      {in.table, made<float>(3 * n, k, [](std::int64_t i) { return static_cast<double>(i * 41 % 89) / 9; })
                     .reshaped({n, 3})},
      {in.column, made<float>(n, k, half).reshaped({n, 1})},
  };
}

std::string listed(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return cat("[", out, "]");
}
std::string quoted(const std::string& text) { return cat("\"", text, "\""); }

std::string json_of(const Tensor& t) {
  std::vector<std::string> numbers;
  char text[40];
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.elements()); ++i) {
    const double number = t.dtype() == DType::kFloat    ? t.values<float>()[i]
                          : t.dtype() == DType::kDouble ? t.values<double>()[i]
                                                        : t.values<std::int32_t>()[i];
    std::snprintf(text, sizeof text, "%.17g", number);
    numbers.emplace_back(text);
  }
  std::vector<std::string> dims;
  for (const std::int64_t dim : t.shape().dims()) dims.push_back(std::to_string(dim));
  return cat("[", listed(dims), ", ", listed(numbers), "]");
}

std::string variables(const Graph& g, const char* key) {
  std::vector<std::string> out;
  for (const Variable& v : g.variables(key))
    out.push_back(quoted(v.name() + " " + name_of(v.dtype()) + v.shape().text()));
  return listed(out);
}

std::string described(Output x) { return quoted(x.name() + " " + name_of(x.dtype()) + x.shape().text()); }

void stream(const std::string& name, const Build& build, bool ranks, const std::string& folder) {
  Graph g;
  const Inputs in = inputs(g, ranks);
  const Metric metric = build(in);
  const Operation init = initialize_local_variables(g);
  std::ofstream(folder + "/" + name + (ranks ? ".pb" : ".unknown.pb"), std::ios::binary) << g.to_graph_def();
  Session s(g);
  s.run(init);
  const auto result = [&](const Fetch& fetch, const std::vector<Feed>& feeds) {
    return json_of(s.run(std::span(&fetch, 1), feeds)[0]);
  };
  std::vector<std::string> updates, values;
  std::int64_t k = 0;
  for (const std::int64_t n : {5, 0, 1, 9}) {
    const auto feeds = batch(in, n, k += 100);
    values.push_back(result(metric.value, feeds));
    updates.push_back(result(metric.update_op, feeds));
    values.push_back(result(metric.value, feeds));
  }
  std::printf(
      "{\"case\": \"%s\", \"ranks\": %s, \"value\": %s, \"update_op\": %s, \"local\": %s, \"metric\": %s, "
      "\"init\": \"%s\", "
      "\"values\": %s, \"updates\": %s}\n",
      name.c_str(), ranks ? "true" : "false", described(metric.value).c_str(),
      described(metric.update_op).c_str(), variables(g, keys::kLocalVariables).c_str(),
      variables(g, keys::kMetricVariables).c_str(), init.name().c_str(), listed(values).c_str(),
      listed(updates).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const auto& [name, build] : cases())
    for (const bool ranks : {true, false}) {
      if (!ranks && name == "mean_tensor") continue;
      stream(name, build, ranks, argv[1]);
    }
}
