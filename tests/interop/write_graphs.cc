// Graphs made with Runnel's builders, run by Runnel, for test_written_graphs.py to run in TensorFlow.
// Usage: write_graphs DIR. Each graph is DIR/NAME.meta and a text DIR/NAME.txt that says what to do with it,
// a line each: "init OP", "target OP" (run so many "steps N"), "feed T FILE", "fetch T FILE"; and, for
// TensorFlow's own gradients, "y T" with pairs "x T FILE", where FILE has our gradient.
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/cli/npy.h"
#include "train/train.h"

using namespace runnel;

namespace {

struct Model {
  std::vector<Feed> feeds = {};
  Outputs fetches = {};
  Output y = {};  // with xs: TensorFlow differentiates the graph, too
  std::vector<Variable> variables = {};
  Outputs xs = {};
  Operation train = {};
  int steps = 0;
};

// Numbers between -1 and 1 that use all bits of the mantissa.
Tensor ramp(const Shape& shape, double phase = 0) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const double turned = 0.618034 * static_cast<double>(i + 1) + phase;
    values.push_back(
        static_cast<float>(2 * (turned - static_cast<double>(static_cast<std::int64_t>(turned))) - 1));
  }
  return Tensor::from(shape, std::span<const float>(values));
}

Model linear_regression(Graph& g, bool resource) {
  const Tensor points = ramp({100});
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = constant(g, points, {.name = "points"}) * 0.1f + 0.3f;
  const Variable w = variable(g, ramp({1}), "weight", {.use_resource = resource});
  const Variable b = variable(g, Tensor::vector<float>({0}), "bias", {.use_resource = resource});
  const Output loss = reduce_mean(square(w * x + b - y));
  const Operation train = GradientDescent(0.5f).minimize(loss);
  return {.feeds = {{x, points}},
          .fetches = {loss, identity(w), identity(b)},
          .y = loss,
          .variables = {w, b},
          .train = train,
          .steps = 20};
}

Model classifier(Graph& g, bool resource, Optimizer& optimizer) {
  const Output x = placeholder<float>(g, {kUnknown, 6}, "pixels");
  const Output labels = placeholder<std::int64_t>(g, {kUnknown}, "labels");
  const auto layer = [&](const Output& input, int units, const std::string& name) {
    return dense(input, units,
                 {.kernel_initializer = random_uniform_initializer(-0.5, 0.5, 5),
                  .use_resource = resource,
                  .name = name});
  };
  const Output logits = layer(relu(layer(x, 8, "hidden")), 3, "logits");
  const Output loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(logits, labels));
  const Variable step = create_global_step(g, {.use_resource = resource});
  const Operation train = optimizer.minimize(loss, {.global_step = step});
  const Output right = reduce_mean(cast<float>(equal(argmax(logits, 1), labels)));
  return {.feeds = {{x, ramp({4, 6})}, {labels, Tensor::vector<std::int64_t>({0, 2, 1, 2})}},
          .fetches = {loss, softmax(logits), right, identity(step)},
          .y = loss,
          .train = train,
          .steps = 10};
}

// Initial values that depend on other variables are conditionals in the graph.
Model dependent_variables(Graph& g, bool resource) {
  const Variable first = variable(g, ramp({2, 3}), "first", {.use_resource = resource});
  const Variable second = variable(identity(first) * 2.0f, "second", {.use_resource = resource});
  const Variable third = variable(identity(second) + identity(first), "third", {.use_resource = resource});
  const Output y = reduce_sum(square(identity(third)) * identity(second));
  return {.fetches = {identity(first), identity(second), identity(third), y},
          .y = y,
          .variables = {second, third}};
}

Model conditional(Graph& g, bool pred) {
  const Output x = placeholder<float>(g, {2, 3}, "x");
  const Output choose = placeholder<bool>(g, {}, "choose");
  const Switched sides = switch_tensor(x, choose);
  const Merged merged = merge({sides.if_false * sides.if_false, exp(sides.if_true)});
  return {.feeds = {{x, ramp({2, 3})}, {choose, Tensor::scalar(pred)}},
          .fetches = {merged.output, merged.value_index},
          .y = merged.output,
          .xs = {x}};
}

Model movement(Graph& g, bool known) {
  const auto input = [&](const Shape& shape, const char* name) {
    return placeholder<float>(g, known ? shape : Shape(std::vector<std::int64_t>(shape.rank(), kUnknown)),
                              name);
  };
  const Output x = input({3, 4}, "x"), z = input({3, 2}, "z");
  const Output both = concat({x, z}, 1);
  const Output turned = transpose(strided_slice(both, {0, 1}, {3, 6}, {2, 2}));
  const Output parts = stack({slice(x, {0, 1}, {3, 2}), z}, {.axis = 1});
  const Output picked = gather(x, Tensor::vector<std::int32_t>({2, 0, 2}));
  const Output rows =
      pad(tile(expand_dims(reduce_max(x, 0), 0), {2, 1}), Tensor::matrix<std::int32_t>({{1, 0}, {0, 2}}));
  const Outputs halves = split(x, 2, 1);
  const Output y = reduce_sum(square(turned)) + reduce_sum(parts * parts) + reduce_mean(picked * picked) +
                   reduce_sum(rows * rows * rows) + reduce_sum(halves[0] * halves[1]) +
                   reduce_sum(reshape(x, {-1}) * 3.0f);
  return {.feeds = {{x, ramp({3, 4})}, {z, ramp({3, 2}, 0.3)}},
          .fetches = {both, turned, parts, picked, rows, halves[1], shape(both), size(x), rank(z)},
          .y = y,
          .xs = {x, z}};
}

Model arithmetic(Graph& g, const Shape& x_shape, const Shape& z_shape) {
  const Output x = placeholder<float>(g, x_shape, "x"), z = placeholder<float>(g, z_shape, "z");
  const Output a = exp(x) / (square(z) + 1.5f), b = maximum(x, z) - minimum(x * 0.5f, z);
  const Output c = sqrt(abs(x) + 0.25f) * log(square(z) + 2.0f) + tanh(x) * sigmoid(z);
  const Output d = select(greater(a, b), a, b) + squared_difference(x, z) - sign(x);
  const Output e = softmax(matmul(d, c, {.transpose_b = true}));
  const Output y = reduce_mean(e * e) + reduce_sum(log_softmax(d)) * 0.1f + reduce_min(c);
  return {.feeds = {{x, ramp({4, 3})}, {z, ramp({3}, 0.2)}},
          .fetches = {a, b, c, d, e, argmax(e, 0), add_n({a, b, c})},
          .y = y,
          .xs = {x, z}};
}

Model random_numbers(Graph& g) {
  g.set_seed(87654321);
  return {.fetches = {random_uniform<float>(g, {5, 7}, -1, 1),
                      random_normal<double>(g, {33}, 1, 2, {.seed = 3}),
                      truncated_normal<float>(g, {20}, 0, 1, {.seed = 0}),
                      random_uniform<std::int64_t>(g, {9}, -4, 40)}};
}

std::string file_of(const std::string& stem, Output tensor) {
  std::string name = tensor.name();
  for (char& c : name)
    if (c == '/' || c == ':') c = '_';
  return stem + "." + name + ".npy";
}

void save(const std::string& path, const Tensor& value) {
  write_file_atomically(real_file_system(), path, npy_bytes(value));
}

// Adds our gradients of y, inits, trains, fetches; then writes all.
void write(const std::string& stem, Graph& g, Model model) {
  std::ofstream text(stem + ".txt");
  std::vector<Source> sources;
  for (const Output& x : model.xs) sources.emplace_back(x);
  for (const Variable& v : model.variables) sources.emplace_back(v);
  Grads slopes;
  if (!sources.empty()) slopes = gradients({model.y}, sources);
  const Operation init = initialize_global_variables(g);
  text << "init " << init.name() << "\nsteps " << model.steps << "\n";
  if (model.steps > 0) text << "target " << model.train.name() << "\n";
  write_file_atomically(real_file_system(), stem + ".meta", export_meta_graph_def(g));
  Session session(g);
  session.run(init);
  for (const Feed& feed : model.feeds) {
    save(file_of(stem, feed.key), feed.value);
    text << "feed " << feed.key.name() << " " << file_of(stem, feed.key) << "\n";
  }
  const std::vector<Fetch> train = {model.train};
  for (int i = 0; i < model.steps; ++i)
    session.run(std::span<const Fetch>(train), std::span<const Feed>(model.feeds));
  std::vector<Fetch> fetches(model.fetches.begin(), model.fetches.end());
  for (const Grad& slope : slopes) fetches.emplace_back(slope.dense());
  const std::vector<Tensor> values =
      session.run(std::span<const Fetch>(fetches), std::span<const Feed>(model.feeds));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool fetched = i < model.fetches.size();
    const Output tensor = fetched ? model.fetches[i] : slopes[i - model.fetches.size()].dense();
    save(file_of(stem, tensor), values[i]);
    text << "fetch " << tensor.name() << " " << file_of(stem, tensor) << "\n";
    if (!fetched)
      text << "x " << sources[i - model.fetches.size()].output().name() << " " << file_of(stem, tensor)
           << "\n";
  }
  if (!slopes.empty()) text << "y " << model.y.name() << "\n";
}

using Builder = std::function<Model(Graph&)>;

std::map<std::string, Builder> builders() {
  std::map<std::string, Builder> out;
  for (const bool resource : {false, true}) {
    const std::string kind = resource ? "_resource" : "_ref";
    out["linear" + kind] = [=](Graph& g) { return linear_regression(g, resource); };
    out["dependent" + kind] = [=](Graph& g) { return dependent_variables(g, resource); };
    out["adam" + kind] = [=](Graph& g) {
      Adam adam(0.05f);
      return classifier(g, resource, adam);
    };
    out["momentum" + kind] = [=](Graph& g) {
      Momentum momentum(0.1f, 0.9f, {.use_nesterov = resource});
      return classifier(g, resource, momentum);
    };
  }
  out["conditional_true"] = [](Graph& g) { return conditional(g, true); };
  out["conditional_false"] = [](Graph& g) { return conditional(g, false); };
  out["movement_known"] = [](Graph& g) { return movement(g, true); };
  out["movement_unknown"] = [](Graph& g) { return movement(g, false); };
  out["arithmetic_known"] = [](Graph& g) { return arithmetic(g, {4, 3}, {3}); };
  out["arithmetic_dims"] = [](Graph& g) { return arithmetic(g, {kUnknown, 3}, {kUnknown}); };
  out["random"] = random_numbers;
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    for (const auto& [name, build] : builders()) {
      Graph g;
      write(std::string(arguments[1]) + "/" + name, g, build(g));
    }
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
