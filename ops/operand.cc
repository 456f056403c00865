// Turning operands into tensors of a graph.
#include "ops/operand.h"

#include <cmath>
#include <limits>

#include "graph/error.h"

namespace runnel {
namespace {

template <class T>
Tensor integer_literal(double number, std::int64_t integer, bool integral) {
  const bool exact = integral
                         ? integer >= static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
                               (integer < 0 || static_cast<std::uint64_t>(integer) <=
                                                   static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
                         : std::nearbyint(number) == number && std::abs(number) < 9e15 &&
                               static_cast<double>(static_cast<T>(number)) == number;
  if (!exact)
    throw InvalidArgument(
        cat("the number ", number, " cannot be a ", dtype_of<T>(), ": cast the tensor first"));
  return Tensor::scalar<T>(integral ? static_cast<T>(integer) : static_cast<T>(number));
}

Tensor literal_tensor(double number, std::int64_t integer, bool integral, DType type) {
  switch (type) {
    case DType::kFloat: return Tensor::scalar(static_cast<float>(number));
    case DType::kDouble: return Tensor::scalar(number);
    case DType::kInt8: return integer_literal<std::int8_t>(number, integer, integral);
    case DType::kInt16: return integer_literal<std::int16_t>(number, integer, integral);
    case DType::kInt32: return integer_literal<std::int32_t>(number, integer, integral);
    case DType::kInt64: return integer_literal<std::int64_t>(number, integer, integral);
    case DType::kUint8: return integer_literal<std::uint8_t>(number, integer, integral);
    case DType::kUint16: return integer_literal<std::uint16_t>(number, integer, integral);
    case DType::kUint32: return integer_literal<std::uint32_t>(number, integer, integral);
    case DType::kUint64: return integer_literal<std::uint64_t>(number, integer, integral);
    default: throw InvalidArgument(cat("the number ", number, " cannot be a ", type));
  }
}

}  // namespace

Graph* Operand::graph() const {
  if (const Output* output = std::get_if<Output>(&value_)) return &output->graph();
  if (const Variable* variable = std::get_if<Variable>(&value_)) return &variable->graph();
  return nullptr;
}

DType Operand::dtype() const {
  if (const Output* output = std::get_if<Output>(&value_)) return base_of(output->dtype());
  if (const Variable* variable = std::get_if<Variable>(&value_)) return variable->dtype();
  if (const Tensor* tensor = std::get_if<Tensor>(&value_)) return tensor->dtype();
  return DType::kInvalid;
}

Shape Operand::shape() const {
  if (const Output* output = std::get_if<Output>(&value_)) return output->shape();
  if (const Variable* variable = std::get_if<Variable>(&value_)) return variable->shape();
  if (const Tensor* tensor = std::get_if<Tensor>(&value_)) return tensor->shape();
  return {};
}

Output Operand::in(Graph& graph, DType type, std::string_view name) const {
  if (const Output* output = std::get_if<Output>(&value_)) return *output;
  if (const Variable* variable = std::get_if<Variable>(&value_)) {
    if (!variable->parts().is_resource) return variable->value();
    return graph.add("ReadVariableOp", {variable->parts().variable}, {{"dtype", variable->dtype()}}, "",
                     where_);
  }
  const OpOptions options{.name = std::string(name), .where = where_};
  if (const Tensor* tensor = std::get_if<Tensor>(&value_)) return constant(graph, *tensor, options);
  const Literal& number = std::get<Literal>(value_);
  return constant(graph, literal_tensor(number.number, number.integer, number.integral, type), options);
}

Output Operand::alone() const {
  Graph* owner = graph();
  if (!owner)
    throw InvalidArgument("a value alone belongs to no graph: make it a constant(graph, value) first",
                          where_);
  return in(*owner, DType::kInvalid, "");
}

OperandPair resolve(const Operand& x, const Operand& y, std::string_view op) {
  Graph* graph = x.graph() ? x.graph() : y.graph();
  if (!graph)
    throw InvalidArgument(cat(op, ": two values belong to no graph: make one a constant(graph, value) first"),
                          x.where());
  // A number takes the dtype of what it meets.
  const DType of_x = x.dtype(), of_y = y.dtype();
  const Output left = x.in(*graph, of_y, "x");
  return {left, y.in(*graph, of_x, "y")};
}

Output add_binary(std::string_view op, std::string_view name, const Operand& x, const Operand& y, Attrs attrs,
                  Location where) {
  Graph* graph = x.graph() ? x.graph() : y.graph();
  if (!graph)
    throw InvalidArgument(cat(op, ": two values belong to no graph: make one a constant(graph, value) first"),
                          where);
  NameScope scope(*graph, name.empty() ? op : name);
  const OperandPair both = resolve(x, y, op);
  return graph->add(op, {both.x, both.y}, std::move(attrs), scope.name(), where);
}

Output add_unary(std::string_view op, std::string_view name, const Operand& x, Attrs attrs, Location where) {
  Graph* graph = x.graph();
  if (!graph)
    throw InvalidArgument(cat(op, ": a value belongs to no graph: make it a constant(graph, value) first"),
                          where);
  NameScope scope(*graph, name.empty() ? op : name);
  const Output input = x.in(*graph, DType::kInvalid, "x");
  return graph->add(op, {input}, std::move(attrs), scope.name(), where);
}

}  // namespace runnel
