// What a builder takes for a shape, a permutation or a list of positions: the numbers themselves, which
// become a Const under the argument's name, or a tensor that the graph computes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/dataflow.h"
#include "graph/shape.h"

namespace runnel {

// Holds numbers or borrows a tensor of the graph.
class Integers {
 public:
  Integers(std::initializer_list<std::int64_t> numbers) : value_(std::vector<std::int64_t>(numbers)) {}
  Integers(std::vector<std::int64_t> numbers) : value_(std::move(numbers)) {}
  Integers(const Shape& shape);  // unknown dimensions are -1. Requires: a known rank
  Integers(Output tensor) : value_(tensor) {}
  Integers(const Node& tensor) : value_(Output(tensor)) {}

  // As a tensor of rank 1: int32 unless `type` or a number over 2^31 asks for int64.
  Output in(Graph& graph, std::string_view name, Location where, DType type = DType::kInt32) const;

 private:
  std::variant<std::vector<std::int64_t>, Output> value_;
};

// A Const of one number of this integer type. Throws InvalidArgument if the type cannot hold it.
Output integer_constant(Graph& graph, DType type, std::int64_t number, std::string_view name,
                        Location where = {});

}  // namespace runnel
