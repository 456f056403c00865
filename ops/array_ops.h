// Where values enter a graph (constants, placeholders), the ops that hand a tensor on unchanged, and the ones
// that only order others (no-op, group, tuple). What moves elements about is in array_movement_ops.h,
// array_slice_ops.h and array_join_ops.h; what makes shapes and fills them in array_shape_ops.h. Source:
// TensorFlow's array_ops and control_flow_ops; formats 6.1 and behaviours 2.5 for the names.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "ops/operand.h"

namespace runnel {

// A tensor that never changes.
//
//   value    the elements
//   returns  T[value.shape]
//   T        any
//   errors   none
//   grad     none: nothing flows into a constant
//   source   TensorFlow "Const"
Output constant(Graph& graph, const Tensor& value, OpOptions options);

// A tensor that each run must be fed.
//
//   shape    what a fed value must be compatible with; unknown dimensions are kUnknown
//   returns  T[shape]
//   T        any
//   errors   InvalidArgument from Session::run if it is needed and not fed
//   grad     none: it has no inputs
//   source   TensorFlow "Placeholder"
Output placeholder(Graph& graph, DType type, const Shape& shape = Shape::unknown(),
                   std::string_view name = "", Location where = Location::here());
template <class T>
Output placeholder(Graph& graph, const Shape& shape = Shape::unknown(), std::string_view name = "",
                   Location where = Location::here()) {
  return placeholder(graph, dtype_of<T>(), shape, name, where);
}

// A tensor that may be fed, and is `input` where it is not.
//
//   input    T[...], compatible with `shape`
//   returns  T[shape]
//   T        any
//   errors   InvalidArgument if the shapes are not compatible
//   grad     input
//   source   TensorFlow "PlaceholderWithDefault"
Output placeholder_with_default(Operand input, const Shape& shape, OpOptions options = {});

// The tensor itself under another node; on the edge of a ref variable still that variable.
//
//   x        T[...]
//   returns  T[...]
//   T        any
//   errors   none
//   grad     x
//   source   TensorFlow "Identity"
Output identity(Operand x, OpOptions options = {});

// The tensor itself, through which no gradient flows.
//
//   x        T[...]
//   returns  T[...]
//   T        any
//   errors   none
//   grad     none: it stops gradients
//   source   TensorFlow "StopGradient"
Output stop_gradient(Operand x, OpOptions options = {});

// A node that does nothing, and so only orders others by control edges.
//
//   returns  an operation
//   errors   none
//   grad     none: it has no outputs
//   source   TensorFlow "NoOp"
Operation no_op(Graph& graph, OpOptions options = {});

// One operation that is done when all of these are; named `group_deps` unless told otherwise. Operations on
// several devices get a node a device first.
//
//   returns  an operation
//   errors   InvalidArgument if there are none and no graph is given
//   source   tf.group
Operation group(Graph& graph, std::span<const Operation> operations, OpOptions options = {});
Operation group(const std::vector<Operation>& operations, OpOptions options = {});

// `x`, but not before `operations` are done; named `control_dependency` unless told otherwise.
//
//   returns  T[...]: an Identity in x's colocation group
//   grad     x
//   source   control_flow_ops.with_dependencies
Output with_dependencies(std::span<const Operation> operations, Output x, OpOptions options = {});

// The same tensors, none of which is there before all are. Absent ones stay absent.
//
//   returns  as many
//   source   tf.tuple
std::vector<Grad> tuple(const std::vector<Grad>& tensors, OpOptions options = {});

}  // namespace runnel
