// Lists of numbers on their way into a graph.
#include "ops/integers.h"

#include <algorithm>

#include "graph/error.h"
#include "ops/operand.h"

namespace runnel {
namespace {

bool fits_int32(std::int64_t number) { return number >= INT32_MIN && number <= INT32_MAX; }

}  // namespace

Integers::Integers(const Shape& shape) {
  if (!shape.has_rank()) throw InvalidArgument("a shape of unknown rank cannot be written as numbers");
  value_ = std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end());
}

Output Integers::in(Graph& graph, std::string_view name, Location where, DType type) const {
  if (const Output* tensor = std::get_if<Output>(&value_)) return *tensor;
  const auto& numbers = std::get<std::vector<std::int64_t>>(value_);
  const OpOptions options{.name = std::string(name), .where = where};
  if (type == DType::kInt64 || !std::ranges::all_of(numbers, fits_int32))
    return constant(graph, Tensor::vector(numbers), options);
  return constant(graph, Tensor::vector(std::vector<std::int32_t>(numbers.begin(), numbers.end())), options);
}

Output integer_constant(Graph& graph, DType type, std::int64_t number, std::string_view name,
                        Location where) {
  return Operand(number, where).in(graph, type, name);
}

}  // namespace runnel
