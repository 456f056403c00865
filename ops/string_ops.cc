// Specs and builders of the string ops.
#include "ops/string_ops.h"

#include <utility>

#include "graph/op_spec.h"
#include "ops/operand.h"

namespace runnel {
namespace {

// The shape of all inputs that are no scalars.
Shapes joined_shape(const ShapeContext& c) {
  Shape out{};
  for (int i = 0; i < c.inputs(); ++i) {
    const Shape next = c.input(i);
    if (!next.has_rank()) return Shape::unknown();
    if (next.rank() == 0) continue;
    if (out.rank() > 0 && !out.compatible_with(next)) c.refuse("shapes differ");
    out = out.rank() > 0 ? out.merged_with(next) : next;
  }
  return out;
}

const OpRegistration kStringJoin{{
    .name = "StringJoin",
    .inputs = {"inputs: N * string"},
    .outputs = {"output: string"},
    .attrs = {"N: int >= 0", "separator: string = ''"},
    .shape = joined_shape,
    .gradient = Gradient::none("makes text"),
}};

const OpRegistration kStaticRegexFullMatch{{
    .name = "StaticRegexFullMatch",
    .inputs = {"input: string"},
    .outputs = {"output: bool"},
    .attrs = {"pattern: string"},
    .shape = [](const ShapeContext& c) -> Shapes { return c.input(0); },
    .gradient = Gradient::none("returns bool"),
}};

// A row for each string of a vector.
Shapes split_shapes(const ShapeContext& c) {
  (void)c.input("input", Rank{1});
  return {Shape{kUnknown, 2}, Shape{kUnknown}, Shape{2}};
}

const OpRegistration kStringSplit{{
    .name = "StringSplit",
    .inputs = {"input: string", "delimiter: string"},
    .outputs = {"indices: int64", "values: string", "shape: int64"},
    .attrs = {"skip_empty: bool = true"},
    .shape = [](const ShapeContext& c) -> Shapes {
      (void)c.input("delimiter", Rank{0});
      return split_shapes(c);
    },
    .gradient = Gradient::none("makes text"),
}};

const OpRegistration kStringSplitV2{{
    .name = "StringSplitV2",
    .inputs = {"input: string", "sep: string"},
    .outputs = {"indices: int64", "values: string", "shape: int64"},
    .attrs = {"maxsplit: int = -1"},
    .shape = [](const ShapeContext& c) -> Shapes {
      (void)c.input("sep", Rank{0});
      return split_shapes(c);
    },
    .gradient = Gradient::none("makes text"),
}};

// `mark` becomes a Const named `input` in the op's scope.
SparseTensor add_split(std::string_view op, Output source, const std::string& mark, const char* input,
                       Attrs attrs, const std::string& name, Location where) {
  Graph& graph = source.graph();
  NameScope scope(graph, name.empty() ? op : name);
  const Output constant_mark = constant(graph, Tensor::scalar(mark), {.name = input, .where = where});
  const Node& node = graph.add(op, {source, constant_mark}, std::move(attrs), scope.name(), where);
  return {node.output(0), node.output(1), node.output(2)};
}

}  // namespace

Output string_join(const Outputs& inputs, StringJoinOptions o) {
  if (inputs.empty()) throw InvalidArgument("StringJoin: there is nothing to join", o.where);
  return inputs.front().graph().add("StringJoin", {inputs}, {{"separator", o.separator}}, o.name, o.where);
}

Output regex_full_match(Output input, const std::string& pattern, RegexFullMatchOptions o) {
  return input.graph().add("StaticRegexFullMatch", {input}, {{"pattern", pattern}}, o.name, o.where);
}

SparseTensor string_split(Output input, const std::string& delimiter, StringSplitOptions o) {
  return add_split("StringSplit", input, delimiter, "delimiter", {{"skip_empty", o.skip_empty}}, o.name,
                   o.where);
}

SparseTensor string_split_v2(Output input, const std::string& separator, StringSplitV2Options o) {
  return add_split("StringSplitV2", input, separator, "sep", {{"maxsplit", o.maxsplit}}, o.name, o.where);
}

}  // namespace runnel
