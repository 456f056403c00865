// The counter is a local variable, so that a restored run starts its epochs anew, as in TensorFlow.
#include "train/input/limit_epochs.h"

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "ops/variables.h"

namespace runnel {

Output limit_epochs(Output tensor, std::optional<std::int64_t> num_epochs, OpOptions options) {
  if (!num_epochs) return tensor;
  if (*num_epochs <= 0)
    throw InvalidArgument(cat("limit_epochs of ", tensor.name(), ": num_epochs is ", *num_epochs,
                              "; give 1 or more, or none for no limit"),
                          options.where);
  Graph& g = tensor.graph();
  const MadeAt at(g, options.where);
  const NameScope scope(g, options.name.empty() ? "limit_epochs" : options.name);
  const Variable epochs = variable(constant(g, Tensor::scalar(std::int64_t{0})), "epochs",
                                   {.trainable = false, .collections = {keys::kLocalVariables}});
  const Operation counted = count_up_to(epochs, *num_epochs).node();
  const ControlDependencies after(g, {counted});
  return identity(tensor, {.name = scope.name()});
}

}  // namespace runnel
