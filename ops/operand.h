// What an arithmetic builder takes: a tensor of the graph, a variable, a tensor of values or a number. One
// type for all of them makes `2.0f * x + w - Tensor::vector(ys)` compile in every mix without an ambiguity.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "graph/tensor.h"

namespace runnel {

// Options of a builder that has none of its own.
struct OpOptions {
  std::string name = "";
  Location where = Location::here();
};

// A value on its way into the graph. Records the caller's place. Numbers take the dtype of the tensor they
// meet; one that this dtype cannot hold exactly is refused for integers.
class Operand {
 public:
  Operand(Output output, Location where = Location::here()) : value_(output), where_(where) {}
  Operand(const Node& node, Location where = Location::here()) : value_(Output(node)), where_(where) {}
  Operand(Variable variable, Location where = Location::here())
      : value_(std::move(variable)), where_(where) {}
  Operand(Tensor tensor, Location where = Location::here()) : value_(std::move(tensor)), where_(where) {}
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number, Location where = Location::here())
      : value_(literal(number)), where_(where) {}

  Location where() const { return where_; }

  // The graph that it belongs to; null for values and numbers.
  Graph* graph() const;
  // The dtype it has by itself; kInvalid for a number.
  DType dtype() const;
  // The shape as far as it is known; [] for a number.
  Shape shape() const;
  // True for a value or number, which becomes a Const.
  bool is_value() const { return !graph(); }

  // For errors: "n:0 of int32[3]", "variable 'w' of float[]".
  std::string text() const;

  // As a tensor of `graph`: a Const named `name` for values, a read for variables. A number becomes `type`,
  // which must then be a numeric dtype.
  Output in(Graph& graph, DType type, std::string_view name) const;
  // The same for an operand that is the only input and so must have a graph. Throws InvalidArgument
  // otherwise.
  Output alone() const;

 private:
  struct Literal {
    double number;
    std::int64_t integer;
    bool integral;
  };
  template <class T>
  static Literal literal(T number) {
    return {static_cast<double>(number), static_cast<std::int64_t>(number), std::is_integral_v<T>};
  }
  std::variant<Output, Variable, Tensor, Literal> value_;
  Location where_;
};

// Both operands as tensors of one graph, for an op whose inputs share a dtype. Values become Consts named x
// and y. Requires: at least one operand of the graph, else InvalidArgument.
struct OperandPair {
  Output x, y;
};
OperandPair resolve(const Operand& x, const Operand& y, std::string_view op);

// Adds a binary op of `op`'s type named `name` as TensorFlow's operators do: its Consts lie in the scope of
// its name ("mul/y"), its result has the name itself.
Output add_binary(std::string_view op, std::string_view name, const Operand& x, const Operand& y, Attrs attrs,
                  Location where);

// Adds an op of one input named `name` (or by its type); a variable's read lies in the scope of that name.
Output add_unary(std::string_view op, std::string_view name, const Operand& x, Attrs attrs, Location where);

// A node "Const" holding `value`. T[value.shape].  source: TensorFlow "Const".  Also declared in array_ops.h.
Output constant(Graph& graph, const Tensor& value, OpOptions options = {});

}  // namespace runnel
