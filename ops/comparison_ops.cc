// Specs, gradients and builders of comparisons, logic and selection.
#include "ops/comparison_ops.h"

#include <string_view>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/broadcast_gradient.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

OpSpec comparison(const char* name, const char* types, bool commutative = false) {
  return {.name = name,
          .inputs = {"x: T", "y: T"},
          .outputs = {"z: bool"},
          .attrs = {types},
          .shape = broadcast_shape,
          .gradient = Gradient::none("returns bool"),
          .traits = {.commutative = commutative}};
}

const OpRegistration kEqual{comparison("Equal", "T: type", true)};
const OpRegistration kNotEqual{comparison("NotEqual", "T: type", true)};
const OpRegistration kLess{comparison("Less", kRealNumberT)};
const OpRegistration kLessEqual{comparison("LessEqual", kRealNumberT)};
const OpRegistration kGreater{comparison("Greater", kRealNumberT)};
const OpRegistration kGreaterEqual{comparison("GreaterEqual", kRealNumberT)};

OpSpec logical(const char* name) {
  return {.name = name,
          .inputs = {"x: bool", "y: bool"},
          .outputs = {"z: bool"},
          .shape = broadcast_shape,
          .gradient = Gradient::none("returns bool"),
          .traits = {.commutative = true}};
}

const OpRegistration kLogicalAnd{logical("LogicalAnd")};
const OpRegistration kLogicalOr{logical("LogicalOr")};
const OpRegistration kLogicalNot{{
    .name = "LogicalNot",
    .inputs = {"x: bool"},
    .outputs = {"y: bool"},
    .shape = same_shape,
    .gradient = Gradient::none("returns bool"),
}};

Shapes select_shape(const ShapeContext& c) {
  const Shape condition = c.input("condition"), t = c.input("t"), e = c.input("e");
  if (!t.compatible_with(e)) c.refuse("t and e differ in shape");
  const Shape out = t.merged_with(e);
  if (!condition.has_rank() || condition.rank() == 0 || !out.has_rank()) return out;
  if (condition.rank() == 1 && out.rank() > 1) {
    c.require_equal(condition[0], out[0], "the condition's elements and t's rows");
    return out;
  }
  if (!condition.compatible_with(out)) c.refuse("the condition fits neither t nor its rows");
  return condition.merged_with(out);
}

// The chosen input gets dz, the other one zeros.
const OpRegistration kSelect{{
    .name = "Select",
    .inputs = {"condition: bool", "t: T", "e: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = select_shape,
    .gradient = [](const Node& n, Grad dz) -> Grads {
      const Output condition = n.input(0), d = dz;
      const Output zeros = zeros_of(n.input(1));
      const Output dt = select(condition, d, zeros);
      return {Grad{}, dt, select(condition, zeros, d)};
    },
}};

const OpRegistration kSelectV2{{
    .name = "SelectV2",
    .inputs = {"condition: bool", "t: T", "e: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = [](const ShapeContext& c) -> Shapes {
      try {
        return broadcast(c.input("condition"), broadcast(c.input("t"), c.input("e")));
      } catch (const Error&) {
        c.refuse("shapes do not broadcast");
      }
    },
    // As of Select, and summed where an input was stretched.
    .gradient = [](const Node& n, Grad dz) -> Grads {
      const Output condition = n.input(0), z = n.output(0), d = dz;
      const Output zeros = constant(n.graph(), Tensor::zeros(base_of(d.dtype()), Shape{}), {.name = "zeros"});
      const Output dt = select_v2(condition, d, zeros), de = select_v2(condition, zeros, d);
      const Output whole_dt = unbroadcast(n.input(1), z, dt);
      return {Grad{}, whole_dt, unbroadcast(n.input(2), z, de)};
    },
}};

Output choose(std::string_view op, const Operand& condition, const Operand& t, const Operand& e,
              const OpOptions& o) {
  Graph* graph = condition.graph() ? condition.graph() : t.graph() ? t.graph() : e.graph();
  if (!graph)
    throw InvalidArgument(cat(op, ": three values belong to no graph: make one a constant first"), o.where);
  const NameScope scope(*graph, o.name.empty() ? op : std::string_view(o.name));
  const Output chooser = condition.in(*graph, DType::kBool, "condition");
  const Output then = t.in(*graph, e.dtype(), "t");
  return graph->add(op, {chooser, then, e.in(*graph, base_of(then.dtype()), "e")}, {}, scope.name(), o.where);
}

}  // namespace

Output equal(Operand x, Operand y, OpOptions o) { return add_binary("Equal", o.name, x, y, {}, o.where); }
Output not_equal(Operand x, Operand y, OpOptions o) {
  return add_binary("NotEqual", o.name, x, y, {}, o.where);
}
Output less(Operand x, Operand y, OpOptions o) { return add_binary("Less", o.name, x, y, {}, o.where); }
Output less_equal(Operand x, Operand y, OpOptions o) {
  return add_binary("LessEqual", o.name, x, y, {}, o.where);
}
Output greater(Operand x, Operand y, OpOptions o) { return add_binary("Greater", o.name, x, y, {}, o.where); }
Output greater_equal(Operand x, Operand y, OpOptions o) {
  return add_binary("GreaterEqual", o.name, x, y, {}, o.where);
}

Output logical_and(Operand x, Operand y, OpOptions o) {
  return add_binary("LogicalAnd", o.name, x, y, {}, o.where);
}
Output logical_or(Operand x, Operand y, OpOptions o) {
  return add_binary("LogicalOr", o.name, x, y, {}, o.where);
}
Output logical_not(Operand x, OpOptions o) { return add_unary("LogicalNot", o.name, x, {}, o.where); }

Output select(Operand condition, Operand t, Operand e, OpOptions o) {
  return choose("Select", condition, t, e, o);
}
Output select_v2(Operand condition, Operand t, Operand e, OpOptions o) {
  return choose("SelectV2", condition, t, e, o);
}

}  // namespace runnel
