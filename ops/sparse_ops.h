// Dense tensors out of sparse ones. Leaves out the rest of TensorFlow's ops on sparse tensors.
#pragma once

#include "ops/integers.h"
#include "ops/operand.h"
#include "ops/sparse_tensor.h"

namespace runnel {

struct SparseToDenseOptions {
  bool validate_indices = true;  // false: any order, and the last of equal ones counts
  std::string name = "SparseToDense";
  Location where = Location::here();
};

// A tensor that is `default_value` everywhere but at the given places.
//
//   sparse_indices  int32 or int64[n, rank]; [n] or [] where the rank is 1
//   output_shape    of their type, [rank]
//   sparse_values   T[n], or one value for all
//   default_value   T[]
//   returns         T[output_shape]
//   T               any
//   errors          InvalidArgument if the counts differ: here when known; if an index is outside of the
//                   shape, or without validate_indices = false is not greater than the one before it: from
//                   Session::run
//   grad            not yet written
//   source          TensorFlow "SparseToDense"
Output sparse_to_dense(Output sparse_indices, const Integers& output_shape, Output sparse_values,
                       const Operand& default_value = 0, SparseToDenseOptions options = {});

// The same of a sparse tensor, such as a feature of variable length. Without a default, 0 or "".
Output sparse_tensor_to_dense(const SparseTensor& sp_input, SparseToDenseOptions options = {});
Output sparse_tensor_to_dense(const SparseTensor& sp_input, const Operand& default_value,
                              SparseToDenseOptions options = {});

}  // namespace runnel
