// Specs and builders of the summary ops. Their kernels are in summary_kernels.cc.
#include "summary/summary_ops.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <regex>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/array_ops.h"
#include "ops/number_types.h"

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

// As TensorFlow cleans names; a byte above 127 stays and is refused as a node name.
std::string cleaned(std::string_view name) {
  std::string out(name);
  const auto refused = [](unsigned char c) { return c < 128 && !std::isalnum(c) && !std::strchr("-/_.", c); };
  std::replace_if(out.begin(), out.end(), refused, '_');
  out.erase(0, std::min(out.find_first_not_of('/'), out.size()));
  if (out != name) log_info(cat("summary name '", name, "' cannot name a node; '", out, "' is used"));
  return out;
}

void collect(Output summary, const std::vector<std::string>& collections) {
  for (const std::string& key : collections) summary.graph().add_to_collection(key, summary);
}

struct Named {
  std::string name, family;
  std::optional<std::vector<std::string>> collections;
  Location where;
};

// A summary op in a scope of its own name, with its tag as a constant beside it.
Output add_tagged(const char* op, const char* tag_input, const Named& named, Output values,
                  const Attrs& attrs) {
  Graph& graph = values.graph();
  const std::string name = cleaned(named.name), family = cleaned(named.family);
  if (name.empty()) throw InvalidArgument(cat(op, ": the name is empty"), named.where);
  const NameScope scope(graph, family.empty() ? name : family + "/" + name);
  const std::string full = scope.name().substr(0, scope.name().size() - 1);
  const std::string tag = family.empty() ? full : family + "/" + full;
  const Output tags = constant(graph, Tensor::scalar(tag), {.name = tag_input, .where = named.where});
  const Output out = graph.add(op, {tags, values}, attrs, scope.name(), named.where);
  collect(out, named.collections.value_or(std::vector<std::string>{keys::kSummaries}));
  return out;
}

}  // namespace

namespace summary {

Output scalar(std::string_view name, Operand tensor, SummaryOptions o) {
  const Named named{std::string(name), o.family, o.collections, o.where};
  return add_tagged("ScalarSummary", "tags", named, tensor.alone(), {});
}

Output histogram(std::string_view name, Operand values, HistogramOptions o) {
  const Named named{std::string(name), o.family, o.collections, o.where};
  Attrs attrs;
  if (o.strict) attrs["_strict"] = true;
  return add_tagged("HistogramSummary", "tag", named, values.alone(), attrs);
}

Output merge(const Outputs& inputs, MergeOptions o) {
  if (inputs.empty()) throw InvalidArgument("MergeSummary: there are no summaries to merge", o.where);
  Graph& graph = inputs[0].graph();
  const std::string name = cleaned(o.name);
  const NameScope scope(graph, name.empty() ? "Merge" : name);
  const Output out = graph.add("MergeSummary", {inputs}, {}, name, o.where);
  collect(out, o.collections);
  return out;
}

Output merge_all(Graph& graph, MergeAllOptions o) {
  Outputs inputs;
  try {
    const std::regex scope(o.scope);
    for (const CollectionItem& item : graph.collection(o.key)) {
      const Output* output = std::get_if<Output>(&item);
      if (!output)
        throw InvalidArgument(cat("merge_all: collection '", o.key, "' holds something that is no tensor"),
                              o.where);
      if (std::regex_search(output->node().name(), scope, std::regex_constants::match_continuous))
        inputs.push_back(*output);
    }
  } catch (const std::regex_error&) {
    throw InvalidArgument(cat("merge_all: scope '", o.scope, "' is no regular expression"), o.where);
  }
  return inputs.empty() ? Output() : merge(inputs, {.name = o.name, .where = o.where});
}

}  // namespace summary
}  // namespace runnel
