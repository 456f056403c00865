// How a NodeDef says what a node takes: "x" and "x:1" are tensors, "^x" is a node to wait for (formats 1.5).
#pragma once

#include <string>
#include <string_view>

namespace runnel {

inline constexpr int kMostOutputs = 1 << 20;  // of one node

struct InputName {
  std::string_view node;
  int index = 0;
  bool control = false;

  std::string text() const;  // "x" for "x:0"
};

// Throws InvalidArgument for an output number that is none.
InputName parse_input(std::string_view text);

// Text of a file for an error: escaped, quoted and cut.
std::string shown(std::string_view text);

}  // namespace runnel
