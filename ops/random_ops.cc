// Specs and builders of random ops. The builders name their nodes as TensorFlow's do
// ("random_uniform/RandomUniform").
#include "ops/random_ops.h"

#include <limits>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

constexpr const char* kSeed = "seed: int = 0";
constexpr const char* kSeed2 = "seed2: int = 0";
constexpr const char* kFloatDtype = "dtype: {half, bfloat16, float, double}";
constexpr const char* kShapeT = "T: {int32, int64}";

Shapes stated_shape(const ShapeContext& c) { return c.input_as_shape("shape").value_or(Shape::unknown()); }

// An op that draws floating numbers of one distribution.
OpSpec draw(const char* name) {
  return {.name = name,
          .inputs = {"shape: T"},
          .outputs = {"output: dtype"},
          .attrs = {kSeed, kSeed2, kFloatDtype, kShapeT},
          .shape = stated_shape,
          .gradient = Gradient::none("does not depend on values"),
          .traits = {.bind_values = {"shape"}, .stateful = true}};
}
const OpRegistration kRandomUniform{draw("RandomUniform")};
const OpRegistration kRandomStandardNormal{draw("RandomStandardNormal")};
const OpRegistration kTruncatedNormal{draw("TruncatedNormal")};

const OpRegistration kRandomUniformInt{{
    .name = "RandomUniformInt",
    .inputs = {"shape: T", "minval: Tout", "maxval: Tout"},
    .outputs = {"output: Tout"},
    .attrs = {kSeed, kSeed2, "Tout: {int32, int64}", kShapeT},
    .shape = [](const ShapeContext& c) -> Shapes {
      (void)c.input("minval", Rank{0});
      (void)c.input("maxval", Rank{0});
      return stated_shape(c);
    },
    .gradient = Gradient::none("returns integers"),
    .traits = {.bind_values = {"shape"}, .stateful = true},
}};

const OpRegistration kRandomShuffle{{
    .name = "RandomShuffle",
    .inputs = {"value: T"},
    .outputs = {"output: T"},
    .attrs = {kSeed, kSeed2, "T: type"},
    .shape = same_shape,
    .gradient = Gradient::unwritten("TensorFlow has none either"),
    .traits = {.stateful = true},
}};

// Adds a random op under a name that its seed can be made of before it is there.
Output add_random(Graph& graph, std::string_view op, const std::vector<Argument>& inputs, Attrs attrs,
                  const std::string& full_name, const RandomOptions& o) {
  const auto [seed, seed2] = graph.seeds(o.seed, full_name);
  attrs.insert({{"seed", seed}, {"seed2", seed2}});
  return graph.add(op, inputs, std::move(attrs), full_name + "/", o.where);
}

// z * scale + shift, in the open scope, with the last node named as the scope.
Output scaled(Output z, Output scale, Output shift, const std::string& scope, Location where) {
  Graph& graph = z.graph();
  const Output product = graph.add("Mul", {z, scale}, {}, "mul", where);
  return graph.add("AddV2", {product, shift}, {}, scope, where);
}

Output normal(Graph& graph, std::string_view op, const char* name, DType type, const Operand& shape,
              const Operand& mean, const Operand& stddev, const RandomOptions& o) {
  NameScope scope(graph, o.name.empty() ? name : o.name);
  const Output dims = shape.in(graph, DType::kInt32, "shape");
  const Output shift = mean.in(graph, type, "mean"), scale = stddev.in(graph, type, "stddev");
  const Output z = add_random(graph, op, {dims}, {{"dtype", type}}, graph.unique_name(op), o);
  return scaled(z, scale, shift, scope.name(), o.where);
}

}  // namespace

Output random_uniform(Graph& graph, DType type, const Operand& shape, const Operand& low, const Operand& high,
                      RandomOptions o) {
  NameScope scope(graph, o.name.empty() ? "random_uniform" : o.name);
  const Output dims = shape.in(graph, DType::kInt32, "shape");
  const Output from = low.in(graph, type, "min"), to = high.in(graph, type, "max");
  if (is_integer(type)) {
    const std::string full = scope.name().substr(0, scope.name().size() - 1);
    return add_random(graph, "RandomUniformInt", {dims, from, to}, {}, full, o);
  }
  const Output u =
      add_random(graph, "RandomUniform", {dims}, {{"dtype", type}}, graph.unique_name("RandomUniform"), o);
  const Output width = graph.add("Sub", {to, from}, {}, "sub", o.where);
  return scaled(u, width, from, scope.name(), o.where);
}

Output random_normal(Graph& graph, DType type, const Operand& shape, const Operand& mean,
                     const Operand& stddev, RandomOptions o) {
  return normal(graph, "RandomStandardNormal", "random_normal", type, shape, mean, stddev, o);
}

Output truncated_normal(Graph& graph, DType type, const Operand& shape, const Operand& mean,
                        const Operand& stddev, RandomOptions o) {
  return normal(graph, "TruncatedNormal", "truncated_normal", type, shape, mean, stddev, o);
}

Output random_shuffle(Output value, RandomOptions o) {
  const std::string full = value.graph().unique_name(o.name.empty() ? "RandomShuffle" : o.name);
  return add_random(value.graph(), "RandomShuffle", {value}, {}, full, o);
}

Tensor shape_tensor(const Shape& shape) {
  if (!shape.is_known()) throw InvalidArgument(cat("a random tensor needs a known shape, not ", shape));
  std::vector<std::int32_t> dims;
  for (const std::int64_t dim : shape.dims()) {
    if (dim > std::numeric_limits<std::int32_t>::max())
      return Tensor::vector(std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end()));
    dims.push_back(static_cast<std::int32_t>(dim));
  }
  return Tensor::vector(dims);
}

}  // namespace runnel
