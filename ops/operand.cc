// Turning operands into tensors of a graph.
#include "ops/operand.h"

#include <cmath>
#include <limits>

#include "graph/error.h"

namespace runnel {
namespace {

// A number as it was written, before it takes a dtype.
struct Written {
  double number;
  std::int64_t integer;
  bool integral;
  std::string text() const { return integral ? cat(integer) : cat(number); }
};

template <class T>
bool holds(const Written& w) {
  if (w.integral)
    return w.integer >= static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
           (w.integer < 0 || static_cast<std::uint64_t>(w.integer) <=
                                 static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
  return std::nearbyint(w.number) == w.number && std::abs(w.number) < 9e15 &&
         static_cast<double>(static_cast<T>(w.number)) == w.number;
}

template <class T>
Tensor integer_literal(const Written& w) {
  if (!holds<T>(w))
    throw InvalidArgument(cat(dtype_of<T>(), " cannot hold the number ", w.text(),
                              ": give one that it can, or cast the tensor that it meets"));
  return Tensor::scalar<T>(w.integral ? static_cast<T>(w.integer) : static_cast<T>(w.number));
}

Tensor literal_tensor(const Written& w, DType type) {
  switch (type) {
    case DType::kFloat: return Tensor::scalar(static_cast<float>(w.number));
    case DType::kDouble: return Tensor::scalar(w.number);
    case DType::kInt8: return integer_literal<std::int8_t>(w);
    case DType::kInt16: return integer_literal<std::int16_t>(w);
    case DType::kInt32: return integer_literal<std::int32_t>(w);
    case DType::kInt64: return integer_literal<std::int64_t>(w);
    case DType::kUint8: return integer_literal<std::uint8_t>(w);
    case DType::kUint16: return integer_literal<std::uint16_t>(w);
    case DType::kUint32: return integer_literal<std::uint32_t>(w);
    case DType::kUint64: return integer_literal<std::uint64_t>(w);
    default:
      throw InvalidArgument(cat("the number ", w.text(), " cannot become ", type,
                                ": give a Tensor of that dtype, or cast the tensor that it meets"));
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

std::string Operand::text() const {
  if (const Output* output = std::get_if<Output>(&value_))
    return cat(output->name(), " of ", dtype(), shape());
  if (const Variable* variable = std::get_if<Variable>(&value_))
    return cat("variable '", variable->name(), "' of ", dtype(), shape());
  return "a value";
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
  try {
    return constant(graph, literal_tensor({number.number, number.integer, number.integral}, type), options);
  } catch (const Error& error) {
    throw_at_node(error, "Const", cat(graph.current_scope(), name), where_);
  }
}

Output Operand::alone() const {
  Graph* owner = graph();
  if (!owner)
    throw InvalidArgument("a value alone belongs to no graph: make it a constant(graph, value) first",
                          where_);
  return in(*owner, DType::kInvalid, "");
}

namespace {

// `one` as a tensor; an error about a number says which tensor it meets.
Output beside(const Operand& other, const Operand& one, Graph& graph, DType type, std::string_view name) {
  const bool number = one.is_value() && one.dtype() == DType::kInvalid;
  if (!number || !other.graph()) return one.in(graph, type, name);
  try {
    return one.in(graph, type, name);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(cat(error.message(), ", ", other.text()), error.where(), error.node());
  }
}

}  // namespace

OperandPair resolve(const Operand& x, const Operand& y, std::string_view op) {
  Graph* graph = x.graph() ? x.graph() : y.graph();
  if (!graph)
    throw InvalidArgument(cat(op, ": two values belong to no graph: make one a constant(graph, value) first"),
                          x.where());
  // A number takes the dtype of what it meets.
  const DType of_x = x.dtype(), of_y = y.dtype();
  const Output left = beside(y, x, *graph, of_y, "x");
  return {left, beside(x, y, *graph, of_x, "y")};
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
