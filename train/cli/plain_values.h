// Values of types that C++ has no numbers for, as ones that it has, so that they can be printed and
// subtracted.
#pragma once

#include "graph/graph.h"

namespace runnel {

// Half and bfloat16 as float, exactly; quantized and 4-bit types as the integers of their size; smaller
// floats as the numbers of their bits; other types as they are.
Tensor plain_values(const Tensor& tensor);

}  // namespace runnel
