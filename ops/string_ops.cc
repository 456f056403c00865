// Specs and builders of the string ops.
#include "ops/string_ops.h"

#include <utility>

#include "graph/op_spec.h"

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

}  // namespace

Output string_join(const Outputs& inputs, StringJoinOptions o) {
  if (inputs.empty()) throw InvalidArgument("StringJoin: there is nothing to join", o.where);
  return inputs.front().graph().add("StringJoin", {inputs}, {{"separator", o.separator}}, o.name, o.where);
}

Output regex_full_match(Output input, const std::string& pattern, RegexFullMatchOptions o) {
  return input.graph().add("StaticRegexFullMatch", {input}, {{"pattern", pattern}}, o.name, o.where);
}

}  // namespace runnel
