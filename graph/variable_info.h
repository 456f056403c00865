// What a checkpoint, or a list of variables, tells of one variable without its values.
#pragma once

#include <string>

#include "graph/dtype.h"
#include "graph/shape.h"

namespace runnel {

struct VariableInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
  bool operator==(const VariableInfo&) const = default;
};

}  // namespace runnel
