// What variables start as, said apart from any variable: get_variable and layers take one of these. The nodes
// are TensorFlow's (formats 6.2). Random ones take their seed as random ops do: the caller's, else one made
// from the graph's seed and the node's name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "graph/shape.h"
#include "ops/variables.h"

namespace runnel {

// Makes a tensor of any shape and dtype. A small copyable value; an empty one stands for "the default".
class Initializer {
 public:
  using Make = std::function<Output(Graph&, const Shape&, DType)>;
  Initializer() = default;
  explicit Initializer(Make make) : make_(std::move(make)) {}

  // Adds its nodes in the current scope. Throws InvalidArgument for dtypes that it cannot make.
  Output operator()(Graph& graph, const Shape& shape, DType type) const { return make_(graph, shape, type); }
  // The same with shape and dtype fixed, as `variable` takes it.
  InitialValue of(const Shape& shape, DType type) const;
  explicit operator bool() const { return make_ != nullptr; }

 private:
  Make make_;
};

Initializer zeros_initializer();
Initializer ones_initializer();
Initializer constant_initializer(double value);
// Uniform in [minimum, maximum).
Initializer random_uniform_initializer(double minimum, double maximum, std::optional<std::int64_t> seed = {});
Initializer random_normal_initializer(double mean = 0, double stddev = 1,
                                      std::optional<std::int64_t> seed = {});
// Normal, but values more than two standard deviations off are drawn again.
Initializer truncated_normal_initializer(double mean = 0, double stddev = 1,
                                         std::optional<std::int64_t> seed = {});
// Uniform in +-sqrt(6 / (inputs + outputs)); for kernels [..., inputs, outputs] (Glorot and Bengio 2010).
Initializer glorot_uniform_initializer(std::optional<std::int64_t> seed = {});

}  // namespace runnel
