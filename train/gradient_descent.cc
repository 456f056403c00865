// Plain gradient descent.
#include "train/gradient_descent.h"

#include "ops/indexed_slices.h"
#include "ops/training_ops.h"

namespace runnel {

GradientDescent::GradientDescent(Operand learning_rate, GradientDescentOptions options)
    : Optimizer(std::move(options.name), options.where), learning_rate_(std::move(learning_rate)) {}

void GradientDescent::prepare(Graph& graph) {
  learning_rate_tensor_ = learning_rate_.in(graph, DType::kFloat, "learning_rate");
}

Operation GradientDescent::apply_dense(Output gradient, const Variable& variable) {
  return apply_gradient_descent(variable, as_type(learning_rate_tensor_, variable.dtype(), where()), gradient,
                                {.where = where()});
}

Operation GradientDescent::apply_rows(const IndexedSlices& rows, const Variable& variable) {
  return apply_dense(to_dense(rows, variable.shape(), where()), variable);
}

}  // namespace runnel
