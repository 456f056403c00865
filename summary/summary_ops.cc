// Specs and builders of the summary ops. Their kernels are in summary_kernels.cc.
#include "summary/summary_ops.h"

#include <utility>

#include <re2/re2.h>

#include "graph/error.h"
#include "ops/number_types.h"
#include "summary/summary_scope.h"

namespace runnel {
namespace {

const char* kNoGradient = "a string has no derivative";

const OpRegistration kScalarSummary{{
    .name = "ScalarSummary",
    .inputs = {"tags: string", "values: T"},
    .outputs = {"summary: string"},
    .attrs = {kRealNumberT},
    .shape = [](const ShapeContext& c) -> Shapes {
      if (!c.input("tags").compatible_with(c.input("values")))
        c.refuse("tags and values are not the same shape");
      return Shape{};
    },
    .gradient = Gradient::none(kNoGradient),
}};

const OpRegistration kHistogramSummary{{
    .name = "HistogramSummary",
    .inputs = {"tag: string", "values: T"},
    .outputs = {"summary: string"},
    .attrs = {cat(kRealNumberT, " = DT_FLOAT").c_str()},
    .shape = [](const ShapeContext& c) -> Shapes {
      c.input("tag", Rank{0});
      return Shape{};
    },
    .gradient = Gradient::none(kNoGradient),
}};

const OpRegistration kMergeSummary{{
    .name = "MergeSummary",
    .inputs = {"inputs: N * string"},
    .outputs = {"summary: string"},
    .attrs = {"N: int >= 1"},
    .shape = scalar_shape,
    .gradient = Gradient::none(kNoGradient),
}};

// A summary of one tensor.
Output add_tagged(const char* op, const char* tag_input, SummaryName name, Output values,
                  const Attrs& attrs) {
  const SummaryScope scope(values.graph(), op, std::move(name));
  return scope.add({scope.text(tag_input, scope.tag()), values}, attrs);
}

}  // namespace

namespace summary {

Output scalar(std::string_view name, Operand tensor, SummaryOptions o) {
  return add_tagged("ScalarSummary", "tags", {std::string(name), o.family, o.collections, o.where},
                    tensor.alone(), {});
}

Output histogram(std::string_view name, Operand values, HistogramOptions o) {
  Attrs attrs;
  if (o.strict) attrs["_strict"] = true;
  return add_tagged("HistogramSummary", "tag", {std::string(name), o.family, o.collections, o.where},
                    values.alone(), attrs);
}

Output merge(const Outputs& inputs, MergeOptions o) {
  if (inputs.empty()) throw InvalidArgument("MergeSummary: there are no summaries to merge", o.where);
  Graph& graph = inputs[0].graph();
  const std::string name = cleaned_summary_name(o.name);
  const NameScope scope(graph, name.empty() ? "Merge" : name);
  const Output out = graph.add("MergeSummary", {inputs}, {}, name, o.where);
  collect_summary(out, o.collections);
  return out;
}

Output merge_all(Graph& graph, MergeAllOptions o) {
  const RE2 scope(o.scope, RE2::Quiet);
  if (!scope.ok())
    throw InvalidArgument(
        cat("merge_all: scope '", o.scope, "' is no regular expression of RE2's: ", scope.error()), o.where);
  Outputs inputs;
  for (const CollectionItem& item : graph.collection(o.key)) {
    const Output* output = std::get_if<Output>(&item);
    if (!output)
      throw InvalidArgument(cat("merge_all: collection '", o.key, "' holds something that is no tensor"),
                            o.where);
    const std::string& name = output->node().name();
    if (scope.Match(name, 0, name.size(), RE2::ANCHOR_START, nullptr, 0)) inputs.push_back(*output);
  }
  return inputs.empty() ? Output() : merge(inputs, {.name = o.name, .where = o.where});
}

}  // namespace summary
}  // namespace runnel
