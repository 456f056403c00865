// Specs and builders of Unique and ListDiff.
#include "ops/array_set_ops.h"

#include "graph/op_spec.h"

namespace runnel {
namespace {

constexpr const char* kOutIdx = "out_idx: {int32, int64} = DT_INT32";

const OpRegistration kUnique{{
    .name = "Unique",
    .inputs = {"x: T"},
    .outputs = {"y: T", "idx: out_idx"},
    .attrs = {"T: type", kOutIdx},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape x = c.input("x", Rank{1});
      return {Shape{kUnknown}, x};
    },
    .gradient = Gradient::none("which values differ does not change smoothly"),
}};

const OpRegistration kListDiff{{
    .name = "ListDiff",
    .inputs = {"x: T", "y: T"},
    .outputs = {"out: T", "idx: out_idx"},
    .attrs = {"T: type", kOutIdx},
    .shape = [](const ShapeContext& c) -> Shapes {
      (void)c.input("x", Rank{1});
      (void)c.input("y", Rank{1});
      return {Shape{kUnknown}, Shape{kUnknown}};
    },
    .gradient = Gradient::none("which values differ does not change smoothly"),
}};

}  // namespace

UniqueValues unique(Operand x, SetOptions o) {
  const Output in = x.alone();
  const Node& node = in.graph().add("Unique", {in}, {{"out_idx", o.out_idx}}, o.name, o.where);
  return {node.output(0), node.output(1)};
}

ListDifference list_diff(Operand x, Operand y, SetOptions o) {
  const Output made = add_binary("ListDiff", o.name, x, y, {{"out_idx", o.out_idx}}, o.where);
  return {made, made.node().output(1)};
}

}  // namespace runnel
