// Spec and builder of Assert.
#include "ops/assert_ops.h"

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

const OpRegistration kAssert{{
    .name = "Assert",
    .inputs = {"condition: bool", "data: T"},
    .attrs = {"T: list(type) >= 1", "summarize: int = 3"},
    .shape = [](const ShapeContext& c) -> Shapes {
      (void)c.input("condition", Rank{0});
      return {};
    },
    .gradient = Gradient::none("has no outputs"),
    .traits = {.stateful = true},
}};

}  // namespace

Operation assert_true(Output condition, const std::vector<Operand>& data, AssertOptions o) {
  if (data.empty()) throw InvalidArgument("assert_true: there are no data to show when it fails", o.where);
  Graph& graph = condition.graph();
  NameScope scope(graph, o.name);
  Outputs shown;
  for (std::size_t i = 0; i < data.size(); ++i)
    shown.push_back(data[i].in(graph, data[i].dtype() == DType::kInvalid ? DType::kFloat : data[i].dtype(),
                               cat("Assert/data_", i)));
  return graph.add("Assert", {condition, shown}, {{"summarize", o.summarize}}, "Assert", o.where);
}

}  // namespace runnel
