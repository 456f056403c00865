// The graphs of initial values.
#include "ops/initializers.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/random_ops.h"

namespace runnel {
namespace {

constexpr std::int64_t kFillFrom = 1000;  // elements from which TensorFlow fills instead of storing them all

template <class T>
void set_all(Tensor& out, double value) {
  std::ranges::fill(out.mutable_values<T>(), static_cast<T>(value));
}

Tensor filled(DType type, const Shape& shape, double value) {
  Tensor out = Tensor::zeros(type, shape);
  if (value == 0) return out;
  switch (type) {
    case DType::kFloat: set_all<float>(out, value); break;
    case DType::kDouble: set_all<double>(out, value); break;
    case DType::kInt8: set_all<std::int8_t>(out, value); break;
    case DType::kInt16: set_all<std::int16_t>(out, value); break;
    case DType::kInt32: set_all<std::int32_t>(out, value); break;
    case DType::kInt64: set_all<std::int64_t>(out, value); break;
    case DType::kUint8: set_all<std::uint8_t>(out, value); break;
    case DType::kUint16: set_all<std::uint16_t>(out, value); break;
    case DType::kUint32: set_all<std::uint32_t>(out, value); break;
    case DType::kUint64: set_all<std::uint64_t>(out, value); break;
    case DType::kBool: set_all<bool>(out, value); break;
    default: throw InvalidArgument(cat("an initializer cannot fill a tensor of ", type, " with ", value));
  }
  return out;
}

// A Const while it is small, else a Fill.
Output same_everywhere(Graph& graph, const std::string& name, const Shape& shape, DType type, double value) {
  if (shape.elements() < kFillFrom) return constant(graph, filled(type, shape, value), {.name = name});
  const NameScope scope(graph, name);
  const Output dims = constant(graph, shape_tensor(shape), {.name = "shape_as_tensor"});
  const Output one = constant(graph, filled(type, {}, value), {.name = "Const"});
  return graph.add("Fill", {dims, one}, {}, scope.name());
}

void require_floats(const char* what, DType type) {
  if (!is_floating(type)) throw InvalidArgument(cat(what, " makes floats, not ", type));
}

Output uniform(Graph& graph, const Shape& shape, DType type, double low, double high,
               std::optional<std::int64_t> seed) {
  require_floats("a uniform initializer", type);
  return random_uniform(graph, type, shape_tensor(shape), filled(type, {}, low), filled(type, {}, high),
                        {.seed = seed});
}

}  // namespace

InitialValue Initializer::of(const Shape& shape, DType type) const {
  return [make = make_, shape, type](Graph& graph) { return make(graph, shape, type); };
}

Initializer zeros_initializer() {
  return Initializer([](Graph& graph, const Shape& shape, DType type) {
    return same_everywhere(graph, "zeros", shape, type, 0);
  });
}

Initializer ones_initializer() {
  return Initializer([](Graph& graph, const Shape& shape, DType type) {
    return same_everywhere(graph, "ones", shape, type, 1);
  });
}

Initializer constant_initializer(double value) {
  return Initializer([value](Graph& graph, const Shape& shape, DType type) -> Output {
    return constant(graph, filled(type, shape, value), {.name = "Const"});
  });
}

Initializer random_uniform_initializer(double minimum, double maximum, std::optional<std::int64_t> seed) {
  return Initializer([=](Graph& graph, const Shape& shape, DType type) {
    return uniform(graph, shape, type, minimum, maximum, seed);
  });
}

Initializer random_normal_initializer(double mean, double stddev, std::optional<std::int64_t> seed) {
  return Initializer([=](Graph& graph, const Shape& shape, DType type) {
    require_floats("random_normal_initializer", type);
    return random_normal(graph, type, shape_tensor(shape), filled(type, {}, mean), filled(type, {}, stddev),
                         {.seed = seed});
  });
}

Initializer truncated_normal_initializer(double mean, double stddev, std::optional<std::int64_t> seed) {
  return Initializer([=](Graph& graph, const Shape& shape, DType type) {
    require_floats("truncated_normal_initializer", type);
    return truncated_normal(graph, type, shape_tensor(shape), filled(type, {}, mean),
                            filled(type, {}, stddev), {.seed = seed});
  });
}

Initializer glorot_uniform_initializer(std::optional<std::int64_t> seed) {
  return Initializer([=](Graph& graph, const Shape& shape, DType type) {
    // A kernel [..., in, out] is used at every place of its leading dimensions.
    double in = 1, out = 1;
    const int rank = shape.rank();
    if (rank == 1) in = out = static_cast<double>(shape[0]);
    if (rank >= 2) {
      double field = 1;
      for (int i = 0; i < rank - 2; ++i) field *= static_cast<double>(shape[i]);
      in = field * static_cast<double>(shape[rank - 2]);
      out = field * static_cast<double>(shape[rank - 1]);
    }
    const double limit = std::sqrt(3.0 / std::max(1.0, (in + out) / 2));
    return uniform(graph, shape, type, -limit, limit, seed);
  });
}

}  // namespace runnel
