// NumPy's .npy files, versions 1 to 3, in and out: how tensors come to and leave the command line. Every
// dtype of NumPy that a Tensor can hold, little or big endian, C or Fortran order; strings are `S` arrays.
// Types that NumPy lacks (bfloat16, quantized, 4-bit) are the integers of their size. Pickled objects,
// records and dates are refused.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"

namespace runnel {

// Throws DataLoss for bytes that are no .npy file or are cut short, Unimplemented for dtypes that no Tensor
// holds. Sizes are checked against the bytes before memory is taken.
Tensor npy_tensor(std::string_view bytes);

// Throws Unimplemented for resources and variants.
std::string npy_bytes(const Tensor& tensor);

// What the file does not say of such a tensor, for a note beside it: its real dtype, or bytes that an `S`
// array cannot keep. Empty if it says all.
std::string npy_loss(const Tensor& tensor);

// The tensor as `wanted`, if the two differ only by what npy_bytes drops (uint16 for bfloat16); else the
// tensor itself.
Tensor npy_restored(const Tensor& tensor, DType wanted);

}  // namespace runnel
