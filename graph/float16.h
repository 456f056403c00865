// Sixteen-bit floats as numbers and back: half has 5 bits of exponent and 10 of fraction, bfloat16 8 and 7
// (the upper half of a float). Source: IEEE 754.
#pragma once

#include "graph/dtype.h"

namespace runnel {

// The number, exactly.
double value_of(Half half);
double value_of(Bfloat16 bfloat16);

// The nearest one, ties to even; infinite beyond the largest.
Half nearest_half(double value);
Bfloat16 nearest_bfloat16(double value);

}  // namespace runnel
