// The ops by which optimizers change variables: one step of one rule for one variable. Each exists twice in
// TensorFlow, for ref variables and as "Resource..."; a builder takes the one that fits its variable.
#pragma once

#include <string>

#include "graph/node.h"

namespace runnel {

struct ApplyOptions {
  bool use_locking = false;  // kept for TensorFlow; steps of a session exclude each other anyway
  std::string name = "";
  Location where = Location::here();
};

// One step of gradient descent: variable -= delta * alpha.
//
//   variable  T[dims]
//   alpha     T[], the learning rate
//   delta     T[dims], the gradient
//   returns   the operation; its output 0 is the changed ref, for a ref variable
//   T         float, double
//   errors    InvalidArgument if a shape does not fit: here when known, else from Session::run
//   grad      none
//   source    TensorFlow "ApplyGradientDescent", "ResourceApplyGradientDescent"
Operation apply_gradient_descent(const Variable& variable, Output alpha, Output delta,
                                 ApplyOptions options = {});

struct ApplyMomentumOptions {
  bool use_nesterov = false;
  std::string name = "";
  Location where = Location::here();
};

// One step of descent with momentum: accum = accum * momentum + grad, variable -= accum * lr. With
// use_nesterov the variable moves by grad * lr + accum * momentum * lr.
//
//   variable, accum  T[dims]
//   lr, momentum     T[]
//   grad             T[dims]
//   returns          the operation
//   T                float, double
//   errors           as of apply_gradient_descent
//   grad             none
//   source           TensorFlow "ApplyMomentum", "ResourceApplyMomentum"
Operation apply_momentum(const Variable& variable, const Variable& accum, Output lr, Output grad,
                         Output momentum, ApplyMomentumOptions options = {});

// The same for some rows alone, those of `indices` one after another; a row named twice makes two steps.
//
//   variable, accum  T[rows, ...]
//   lr, momentum     T[]
//   grad             T[n, ...]
//   indices          int32 or int64[n], each in [0, rows)
//   returns          the operation
//   T                float, double
//   errors           as of apply_momentum; InvalidArgument for an index that is no row, before anything is
//                    written, from Session::run
//   grad             none
//   source           TensorFlow "SparseApplyMomentum", "ResourceSparseApplyMomentum"
Operation sparse_apply_momentum(const Variable& variable, const Variable& accum, Output lr, Output grad,
                                Output indices, Output momentum, ApplyMomentumOptions options = {});

// The numbers of one Adam step, all T[]. The powers are beta1 and beta2 to the number of the step.
struct AdamScalars {
  Output beta1_power, beta2_power, lr, beta1, beta2, epsilon;
};
struct ApplyAdamOptions {
  bool use_nesterov = false;
  std::string name = "";
  Location where = Location::here();
};

// One step of Adam: m and v follow the gradient and its square, the variable moves by
// lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon).
//
//   variable, m, v  T[dims]
//   scalars         T[] each
//   grad            T[dims]
//   returns         the operation
//   T               float, double
//   errors          as of apply_gradient_descent
//   grad            none
//   source          TensorFlow "ApplyAdam", "ResourceApplyAdam"; Kingma and Ba 2014
Operation apply_adam(const Variable& variable, const Variable& m, const Variable& v,
                     const AdamScalars& scalars, Output grad, ApplyAdamOptions options = {});

}  // namespace runnel
