// Builds the benchmarks' graphs.
#include "benches/models.h"

#include <cmath>
#include <random>

#include "ops/ops.h"
#include "train/train.h"

namespace runnel::benches {
namespace {

constexpr std::int64_t kPoints = 100;

template <class T, class Draw>
Tensor filled(const Shape& shape, Draw draw) {
  Tensor out(dtype_of<T>(), shape);
  for (T& value : out.mutable_values<T>()) value = static_cast<T>(draw());
  return out;
}

void finish(Model& model, Output loss, float rate) {
  model.loss = loss;
  model.step = GradientDescent(rate).minimize(loss);
  model.init = initialize_global_variables(*model.graph);
}

}  // namespace

Model linear_regression(bool fed) {
  Model model;
  Graph& g = *model.graph;
  std::mt19937 bits(0);
  std::uniform_real_distribution<float> uniform;
  const Tensor xs = filled<float>({kPoints}, [&] { return uniform(bits); });
  Tensor ys(DType::kFloat, {kPoints});
  for (std::int64_t i = 0; i < kPoints; ++i)
    ys.mutable_values<float>()[static_cast<std::size_t>(i)] =
        xs.values<float>()[static_cast<std::size_t>(i)] * 0.1f + 0.3f;
  if (fed) {
    model.inputs = {placeholder<float>(g, {kPoints}, "x"), placeholder<float>(g, {kPoints}, "y")};
    model.feeds = {xs, ys};
  }
  const Output x = fed ? model.inputs[0] : constant(g, xs), y = fed ? model.inputs[1] : constant(g, ys);
  const Variable w = variable(random_uniform<float>(g, {1}, -1.0f, 1.0f, {.seed = 7}));
  const Variable b = variable(g, Tensor::zeros(DType::kFloat, {1}));
  finish(model, reduce_mean(square(w * x + b - y), {.name = "loss"}), 0.5f);
  return model;
}

Model mlp(const std::vector<std::int64_t>& sizes, std::int64_t batch) {
  Model model;
  Graph& g = *model.graph;
  std::mt19937 bits(0);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<std::int32_t> label(0, static_cast<std::int32_t>(sizes.back() - 1));
  const Output x = placeholder<float>(g, {batch, sizes[0]}, "x");
  Output h = x;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const float spread = std::sqrt(2.0f / static_cast<float>(sizes[i]));
    const Variable w = variable(random_normal<float>(g, {sizes[i], sizes[i + 1]}, 0.0f, spread,
                                                     {.seed = static_cast<std::int64_t>(i + 1)}));
    const Variable b = variable(g, Tensor::zeros(DType::kFloat, {sizes[i + 1]}));
    h = matmul(h, w) + b;
    if (i + 2 < sizes.size()) h = relu(h);
  }
  const Output y = placeholder<std::int32_t>(g, {batch}, "y");
  const Output losses = sparse_softmax_cross_entropy_with_logits(h, y);
  model.inputs = {x, y};
  model.feeds = {filled<float>({batch, sizes[0]}, [&] { return normal(bits); }),
                 filled<std::int32_t>({batch}, [&] { return label(bits); })};
  finish(model, reduce_mean(losses, {.name = "loss"}), 0.01f);
  return model;
}

Model add_chain(int length) {
  Model model;
  Graph& g = *model.graph;
  const Variable v = variable(g, 1.0f);
  const Output c = constant(g, Tensor::scalar(1e-3f));
  Output y = identity(v.value());
  for (int i = 0; i < length; ++i) y = add(y, c);
  model.step = Operation(y.node());
  model.init = initialize_global_variables(g);
  return model;
}

Model model_of(const std::string& name) {
  if (name == "linear_regression/constant") return linear_regression(false);
  if (name == "linear_regression/fed") return linear_regression(true);
  if (name == "mlp/4-16-16-3/16") return mlp({4, 16, 16, 3}, 16);
  if (name == "mlp/784-128-128-10/32") return mlp({784, 128, 128, 10}, 32);
  if (name == "mlp/784-512-512-10/128") return mlp({784, 512, 512, 10}, 128);
  if (name == "add_chain/1000") return add_chain(1000);
  throw InvalidArgument(cat("no benchmark named '", name, "'"));
}

}  // namespace runnel::benches
