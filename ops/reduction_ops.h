// Sums, means, extremes, products, and all or any along axes. The axes go into the graph as a Const, as
// tf.reduce_sum and the like make it: `Const` beside the node when all axes are meant,
// `NAME/reduction_indices` when they are given. Left out: axes computed in the graph (such graphs import and
// run).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "ops/operand.h"

namespace runnel {

// Which axes to reduce; negative ones count from the end. `Axes{0, 1}`, a single `Axes(0)`, or `Axes{}` for
// none. Where no Axes are given, all are meant.
class Axes {
 public:
  Axes(std::initializer_list<int> axes) : axes_(axes.begin(), axes.end()) {}
  Axes(int axis) : axes_{axis}, is_scalar_(true) {}
  explicit Axes(std::vector<std::int32_t> axes) : axes_(std::move(axes)) {}

  // As the Const that stands in the graph.
  Tensor tensor() const { return is_scalar_ ? Tensor::scalar(axes_[0]) : Tensor::vector(axes_); }

 private:
  std::vector<std::int32_t> axes_;
  bool is_scalar_ = false;
};

struct ReduceOptions {
  bool keep_dims = false;  // reduced dimensions stay as ones
  std::string name = "";
  Location where = Location::here();
};

// Sum, mean, largest, smallest or product along axes; over all axes if none are given.
//
//   x        T[...]
//   returns  T[the other dimensions]; for no elements 0, NaN (0 for integers), the lowest, the highest, 1
//   T        float, double, integers; the mean of integers is cut
//   errors   InvalidArgument if x has no such axis or one is named twice: here when known, else from
//   Session::run grad     x; of the extremes shared by all that are equal to them
//   source   TensorFlow "Sum", "Mean", "Max", "Min", "Prod"
Output reduce_sum(Operand x, ReduceOptions options = {});
Output reduce_sum(Operand x, Axes axes, ReduceOptions options = {});
Output reduce_mean(Operand x, ReduceOptions options = {});
Output reduce_mean(Operand x, Axes axes, ReduceOptions options = {});
Output reduce_max(Operand x, ReduceOptions options = {});
Output reduce_max(Operand x, Axes axes, ReduceOptions options = {});
Output reduce_min(Operand x, ReduceOptions options = {});
Output reduce_min(Operand x, Axes axes, ReduceOptions options = {});
Output reduce_prod(Operand x, ReduceOptions options = {});
Output reduce_prod(Operand x, Axes axes, ReduceOptions options = {});

// Whether all elements along axes are true, or any is; over all axes if none are given.
//
//   x        bool[...]
//   returns  bool[the other dimensions]; of no elements all are true and none is
//   errors   InvalidArgument if x is not bool or has no such axis
//   grad     none
//   source   TensorFlow "All", "Any"
Output reduce_all(Operand x, ReduceOptions options = {});
Output reduce_all(Operand x, Axes axes, ReduceOptions options = {});
Output reduce_any(Operand x, ReduceOptions options = {});
Output reduce_any(Operand x, Axes axes, ReduceOptions options = {});

}  // namespace runnel
