// Optimizers against TensorFlow's own: node listings and ten-step traces of golden/optimizers, the linear
// regression of golden/linear_*, and what minimize says where gradients are missing.
#include "train/optimizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "graph/error.h"
#include "tests/ops/node_listing.h"
#include "tests/train/models.h"

using namespace runnel;

TEST_CASE("adds the nodes that TensorFlow adds, for ref variables") {
  for (const std::string& name : kOptimizerCases) {
    CAPTURE(name);
    const Quadratic q(name, false);
    check_same(listing_of(q.graph, q.before), golden_listing("optimizers/nodes.txt", name + " (VariableV2)"));
  }
}

TEST_CASE("adds the update nodes that TensorFlow adds, for resource variables") {
  for (const std::string& name : kOptimizerCases) {
    CAPTURE(name);
    const Quadratic q(name, true);
    const Listing ours = listing_of(q.graph, q.before);
    for (const std::string& line : golden_listing("optimizers/nodes.txt", name + " (resource)")) {
      CAPTURE(line);
      CHECK(std::ranges::find(ours, line) != ours.end());
    }
  }
}

TEST_CASE("adds the nodes that TensorFlow adds for a gradient of rows") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Variable table =
        variable(g, Tensor::zeros(DType::kFloat, {5, 2}), "table", {.use_resource = resource});
    const Output rows = gather(table, Tensor::vector<std::int32_t>({3, 1, 3}));
    Momentum momentum(0.05f, 0.9f);
    const GradientsOf gradients = momentum.compute_gradients(reduce_sum(square(rows)));
    const std::size_t before = g.size();
    momentum.apply_gradients(gradients);
    check_same(listing_of(g, before),
               golden_listing("optimizers/nodes.txt",
                              resource ? "rows by Momentum (resource)" : "rows by Momentum (VariableV2)"));
  }
}

TEST_CASE("builds the linear regression node for node as TensorFlow does") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    const Linear linear(resource);
    Listing golden = golden_listing(resource ? "linear_resource/linear.ckpt-100.nodes.txt"
                                             : "linear_ref/linear.ckpt-100.nodes.txt");
    std::erase_if(golden, [](const std::string& line) { return line.starts_with("save/"); });  // the Saver's
    check_same(listing_of(linear.graph), golden);
  }
}

TEST_CASE("a second optimizer, a scope and a step counter make the nodes that TensorFlow makes") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const VariableOptions kind{.use_resource = resource};
    const Variable w = variable(g, Tensor::vector<float>({1, 2}), "w", kind),
                   b = variable(g, 1.0f, "b", kind);
    const auto sum_of_squares = [&] { return reduce_sum(w * w); };
    {
      const NameScope scope(g, "t");
      const Output left = sum_of_squares(), right = b * b;
      Adam(0.1f).minimize(left + right);
    }
    Adam(0.1f, {.name = "Second"}).minimize(sum_of_squares(), {.var_list = {w}});
    const Output loss = sum_of_squares();
    const Variable step = get_or_create_global_step(g, {.use_resource = resource});
    Momentum(0.1f, 0.9f).minimize(loss, {.global_step = step, .var_list = {w}, .name = "go"});
    check_same(listing_of(g),
               golden_listing("builders/nodes.txt", resource ? "two_adams (resource)" : "two_adams (ref)"));
  }
}

TEST_CASE("says for each variable why it has no gradient") {
  Graph g;
  const Variable a = variable(g, 1.0f, "a"), i = variable(g, std::int32_t{1}, "i");
  const Variable m = variable(g, Tensor::vector<float>({1, 2}), "m"), s = variable(g, 1.0f, "s");
  const Output best = cast<float>(argmax(m.value(), 0, {.name = "best"}));
  const Output loss = identity(best + stop_gradient(s, {.name = "wall"}), {.name = "loss"});
  CHECK_THROWS_WITH_AS(GradientDescent(0.1f).minimize(loss, {.var_list = {a, i, m, s}}),
                       "GradientDescent: loss:0 has no gradient by any variable:\n"
                       "  a: no path\n"
                       "  i: integer dtype (int32)\n"
                       "  m: path broken at op ArgMax 'best' (not differentiable: returns integers)\n"
                       "  s: stopped by stop_gradient 'wall'",
                       InvalidArgument);
}

TEST_CASE("serves a second graph after the first is gone") {
  Adam adam(0.5f);
  for (int round = 0; round < 2; ++round) {
    Graph g;
    const Variable v = variable(g, 3.0f, "v");
    const Operation step = adam.minimize(square(v));
    Session session(g);
    session.run(initialize_global_variables(g));
    session.run(step);
    CHECK(session.get<float>(v) == doctest::Approx(2.5));
    CHECK(adam.get_slot(v, "m").name() == "v/Adam");
  }
}
