// Vectors as sets of values: those that differ, and those of one that another lacks. How many there are is
// known only when a step runs.
#pragma once

#include "ops/operand.h"

namespace runnel {

struct SetOptions {
  DType out_idx = DType::kInt32;  // or kInt64
  std::string name = "";
  Location where = Location::here();
};

// The values of a vector, each once, in the order in which they come first, and for each element the place of
// its value among them. NaN equals nothing.
//
//   x        T[n]
//   returns  y: T[m];  idx: out_idx[n], with x[i] = y[idx[i]]
//   T        bool, numbers, string
//   errors   InvalidArgument if x is no vector: here if known, else from Session::run
//   grad     none: as TensorFlow
//   source   TensorFlow "Unique"
struct UniqueValues {
  Output y, idx;
};
UniqueValues unique(Operand x, SetOptions options = {});

// The elements of a vector that another one lacks, in their order, and their places.
//
//   x, y     T[n], T[k]
//   returns  out: T[m];  idx: out_idx[m], with out[i] = x[idx[i]]
//   T        bool, numbers, string
//   errors   as unique
//   grad     none: as TensorFlow
//   source   TensorFlow "ListDiff", tf.setdiff1d
struct ListDifference {
  Output out, idx;
};
ListDifference list_diff(Operand x, Operand y, SetOptions options = {});

}  // namespace runnel
