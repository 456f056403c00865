// A tensor's value as a person reads it in a log line: numbers as short as they can be read back.
#pragma once

#include <string>

#include "graph/tensor.h"

namespace runnel {

// "0.5", "1e-05", "nan", "[1 2 3]", "[[0.5 1.0] [2.0 3.0]]". Of a tensor of more than a thousand elements
// each dimension shows its ends only. Line ends and other control characters of strings become "\n", "\x1b".
std::string value_text(const Tensor& tensor);

}  // namespace runnel
