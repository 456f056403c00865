// Central differences against gradients().
#include "ops/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradients.h"

namespace runnel {
namespace {

// The derivative's error is of order h^2 and eps/h; their sum is least near the cube root of eps.
constexpr double kStep = 6e-6;

// One call of f with weights w: the function sum(w * f(x)) and its gradients, ready to run.
struct Checked {
  Graph graph;
  Outputs inputs;
  Output result;
  Tensor weights;
  Grads grads;
};

void build(Checked& c, const std::function<Output(const Outputs&)>& f, const std::vector<Tensor>& inputs) {
  for (const Tensor& input : inputs) {
    if (input.dtype() != DType::kDouble)
      throw InvalidArgument(cat("gradient_gap: an input is ", input.dtype(), ", not double"));
    c.inputs.push_back(placeholder(c.graph, DType::kDouble, input.shape(), "x"));
  }
  c.result = f(c.inputs);
  if (base_of(c.result.dtype()) != DType::kDouble)
    throw InvalidArgument(cat("gradient_gap: the function gives ", c.result.dtype(), ", not double"));
}

std::vector<Feed> feeds_of(const Checked& c, const std::vector<Tensor>& inputs) {
  std::vector<Feed> feeds;
  for (std::size_t i = 0; i < inputs.size(); ++i) feeds.push_back({c.inputs[i], inputs[i]});
  return feeds;
}

double weighted(const Tensor& values, const Tensor& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < values.values<double>().size(); ++i)
    sum += values.values<double>()[i] * weights.values<double>()[i];
  return sum;
}

}  // namespace

Tensor evaluate(Output output) {
  Session session(output.graph(), {.intra_op_parallelism_threads = 1});
  return session.run(output);
}

Tensor random(const Shape& shape, std::uint64_t seed) {
  Tensor out(DType::kDouble, shape);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (double& value : out.mutable_values<double>()) {
    // SplitMix64, public domain, by Sebastiano Vigna.
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    value = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
  }
  return out;
}

double gradient_gap(const std::function<Output(const Outputs&)>& f, const std::vector<Tensor>& inputs) {
  Checked c;
  build(c, f, inputs);
  Session session(c.graph, {.intra_op_parallelism_threads = 1});
  const auto value = [&](const std::vector<Tensor>& at) {
    const Fetch fetch(c.result);
    return session.run(std::span(&fetch, 1), feeds_of(c, at)).front();
  };
  c.weights = random(value(inputs).shape(), 7);
  const Output weights = constant(c.graph, c.weights, {.name = "weights"});
  std::vector<Source> sources(c.inputs.begin(), c.inputs.end());
  c.grads = gradients({c.result}, sources, {.grad_ys = {weights}});

  double worst = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Tensor derivative = Tensor::zeros(DType::kDouble, inputs[k].shape());
    if (c.grads[k]) {
      const Fetch fetch(c.grads[k].dense());
      derivative = session.run(std::span(&fetch, 1), feeds_of(c, inputs)).front();
    }
    if (derivative.shape() != inputs[k].shape())
      throw InvalidArgument(cat("gradient_gap: the gradient of input ", k, " is ", derivative.shape(),
                                ", not ", inputs[k].shape()));
    for (std::int64_t i = 0; i < inputs[k].elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto moved = [&](double by) {
        std::vector<Tensor> all = inputs;
        all[k].mutable_values<double>()[at] += by;
        return weighted(value(all), c.weights);
      };
      const double difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
      const double exact = derivative.values<double>()[at];
      const double gap = std::abs(difference - exact) / std::max(1.0, std::abs(exact));
      worst = std::isnan(gap) ? gap : std::max(worst, gap);
    }
  }
  return worst;
}

}  // namespace runnel
