// Models that tests of optimizers train: the quadratic of golden/optimizers and the regression of
// golden/linear_*.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ops/ops.h"
#include "train/train.h"

namespace runnel {

inline std::unique_ptr<Optimizer> make_optimizer(const std::string& name) {
  if (name == "GradientDescent") return std::make_unique<GradientDescent>(0.05f);
  if (name == "Momentum") return std::make_unique<Momentum>(0.05f, 0.9f);
  if (name == "MomentumNesterov")
    return std::make_unique<Momentum>(0.05f, 0.9f, MomentumOptions{.use_nesterov = true});
  if (name == "Adam") return std::make_unique<Adam>(0.1f);
  return std::make_unique<Adam>(0.02f, AdamOptions{.beta1 = 0.8f, .beta2 = 0.95f, .epsilon = 1e-4f});
}
inline const std::vector<std::string> kOptimizerCases{"GradientDescent", "Momentum", "MomentumNesterov",
                                                      "Adam", "AdamOther"};

// The quadratic of make_optimizers.py, its step counter and gradient.
struct Quadratic {
  Graph graph;
  Variable x, step;
  Output loss;
  std::unique_ptr<Optimizer> optimizer;
  GradientsOf gradients;
  std::size_t before = 0;
  Operation train;

  Quadratic(const std::string& name, bool resource) {
    const Tensor a = Tensor::vector<float>({1.0f, 0.5f, 0.25f, 4.0f}),
                 b = Tensor::vector<float>({-0.3f, 0.2f, 0.7f, -1.0f});
    std::vector<float> half_a;
    for (const float value : a.values<float>()) half_a.push_back(0.5f * value);
    x = variable(graph, Tensor::vector<float>({1.0f, -2.0f, 3.0f, 0.1f}), "x", {.use_resource = resource});
    const Output curve = Tensor::vector(half_a) * square(x);
    loss = reduce_sum(curve + b * x);
    step = get_or_create_global_step(graph, {.use_resource = resource});
    optimizer = make_optimizer(name);
    gradients = optimizer->compute_gradients(loss);
    before = graph.size();
    train = optimizer->apply_gradients(gradients, {.global_step = step});
  }
};

struct Linear {
  Graph graph{{.seed = 1234}};
  Variable weight, biase;
  Output loss;
  Operation train, init;

  explicit Linear(bool resource) {
    std::vector<float> xs, ys;
    for (int k = 0; k < 100; ++k) {
      xs.push_back(static_cast<float>((((k * 37) % 100) + 1.0 / (k + 3)) / 101.0));
      ys.push_back(xs.back() * 0.1f + 0.3f);
    }
    weight = variable(random_uniform<float>(graph, {1}, -1.0f, 1.0f, {.seed = 7}), "weight",
                      {.use_resource = resource});
    biase = variable(constant(graph, Tensor::zeros(DType::kFloat, {1}), {.name = "zeros"}), "biase",
                     {.use_resource = resource});
    const Output scaled = weight * Tensor::vector(xs);
    const Output y = scaled + biase;
    loss = reduce_mean(square(y - Tensor::vector(ys)));
    train = GradientDescent(0.5f).minimize(loss);
    init = initialize_global_variables(graph);
  }
};

}  // namespace runnel
