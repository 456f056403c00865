// Descent with momentum.
#include "train/momentum.h"

#include "ops/array_set_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/training_ops.h"

namespace runnel {
namespace {
constexpr const char* kSlot = "momentum";
}

Momentum::Momentum(Operand learning_rate, Operand momentum, MomentumOptions options)
    : Optimizer(std::move(options.name), options.where),
      learning_rate_(std::move(learning_rate)),
      momentum_(std::move(momentum)),
      use_nesterov_(options.use_nesterov) {}

void Momentum::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) make_slot(variable, kSlot, zeros_initializer());
}

void Momentum::prepare(Graph& graph) {
  learning_rate_tensor_ = learning_rate_.in(graph, DType::kFloat, "learning_rate");
  momentum_tensor_ = momentum_.in(graph, DType::kFloat, "momentum");
}

Operation Momentum::apply_dense(Output gradient, const Variable& variable) {
  const DType type = variable.dtype();
  const Output rate = as_type(learning_rate_tensor_, type, where());
  return apply_momentum(variable, get_slot(variable, kSlot), rate, gradient,
                        as_type(momentum_tensor_, type, where()),
                        {.use_nesterov = use_nesterov_, .where = where()});
}

// Rows of one index are summed first, since each row may make one step only.
Operation Momentum::apply_rows(const IndexedSlices& rows, const Variable& variable) {
  const UniqueValues places = unique(rows.indices, {.where = where()});
  const Output count = shape(places.y, {.where = where()})[Index(0, where())];
  const Output sums =
      variable.graph().add("UnsortedSegmentSum", {rows.values, places.idx, count}, {}, "", where());
  const DType type = variable.dtype();
  const Output rate = as_type(learning_rate_tensor_, type, where());
  return sparse_apply_momentum(variable, get_slot(variable, kSlot), rate, sums, places.y,
                               as_type(momentum_tensor_, type, where()),
                               {.use_nesterov = use_nesterov_, .where = where()});
}

}  // namespace runnel
