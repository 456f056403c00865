// Random ops against numbers that TensorFlow drew, and the rules for seeds and streams.
#include "ops/random_ops.h"

#include <doctest/doctest.h>

#include <set>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

// The op of a golden case, or an empty Output for one that Runnel does not have.
Output build(Graph& g, const std::string& op, std::int64_t n, const RandomOptions& o) {
  if (op == "random_uniform_f32") return random_uniform<float>(g, {n}, 0, 1, o);
  if (op == "random_uniform_f64") return random_uniform<double>(g, {n}, 0, 1, o);
  if (op == "random_uniform_f32_range") return random_uniform<float>(g, {n}, -1, 1, o);
  if (op == "random_uniform_i32") return random_uniform<std::int32_t>(g, {n}, -5, 1000, o);
  if (op == "random_uniform_i64") return random_uniform<std::int64_t>(g, {n}, -5, 1000000000000, o);
  if (op == "random_normal_f32") return random_normal<float>(g, {n}, 0, 1, o);
  if (op == "random_normal_f64") return random_normal<double>(g, {n}, 0, 1, o);
  if (op == "random_normal_f32_2_3") return random_normal<float>(g, {n}, 2, 3, o);
  if (op == "truncated_normal_f32") return truncated_normal<float>(g, {n}, 0, 1, o);
  if (op == "truncated_normal_f64") return truncated_normal<double>(g, {n}, 0, 1, o);
  const bool rows = op == "random_shuffle_rows";
  if (!rows && op != "random_shuffle_vec") return {};
  std::vector<std::int32_t> counted;
  for (std::int32_t i = 0; i < (rows ? 2 * n : n); ++i) counted.push_back(i);
  return random_shuffle(constant(g, Tensor::from(rows ? Shape{n, 2} : Shape{n}, counted)), o);
}

std::vector<double> doubles(const Tensor& t) {
  std::vector<double> out;
  const auto copy = [&]<class T>(std::span<const T> values) { out.assign(values.begin(), values.end()); };
  if (t.dtype() == DType::kFloat) copy(t.values<float>());
  if (t.dtype() == DType::kDouble) copy(t.values<double>());
  if (t.dtype() == DType::kInt32) copy(t.values<std::int32_t>());
  if (t.dtype() == DType::kInt64) copy(t.values<std::int64_t>());
  return out;
}

}  // namespace

TEST_CASE("two runs of each op draw TensorFlow's numbers bit for bit") {
  const Json all = golden_json("random/random.json");
  int compared = 0;
  for (const Json& c : field(all, "cases").list_value().values()) {
    const std::string op = field(c, "op").string_value();
    CAPTURE(op);
    // The attributes, which with two seeds given are the seeds themselves.
    const auto& attrs = field(c, "nodes").list_value().values(0).list_value();
    Graph g(GraphOptions{.seed = static_cast<std::int64_t>(number(attrs.values(2)))});
    const auto seed2 = static_cast<std::int64_t>(number(attrs.values(3)));
    const Output drawn = build(g, op, static_cast<std::int64_t>(number(field(c, "n"))), {.seed = seed2});
    if (!drawn) continue;
    Session s(g);
    CHECK(doubles(s.run(drawn)) == numbers(field(c, "run1")));
    if (has_field(c, "run2")) CHECK(doubles(s.run(drawn)) == numbers(field(c, "run2")));
    ++compared;
  }
  CHECK(compared == 26);
}

TEST_CASE("seeds become TensorFlow's attributes where it has both, or one of the op's") {
  const Json all = golden_json("random/random.json");
  for (const Json& c : field(all, "cases").list_value().values()) {
    if (field(c, "op_seed").has_null_value() || field(c, "op").string_value() != "random_uniform_f32")
      continue;
    Graph g;
    if (!field(c, "graph_seed").has_null_value())
      g.set_seed(static_cast<std::int64_t>(number(field(c, "graph_seed"))));
    random_uniform<float>(g, {6}, 0, 1, {.seed = static_cast<std::int64_t>(number(field(c, "op_seed")))});
    const Node& node = g.operation("random_uniform/RandomUniform").node();
    const auto& attrs = field(c, "nodes").list_value().values(0).list_value();
    CHECK(node.integer("seed") == static_cast<std::int64_t>(number(attrs.values(2))));
    CHECK(node.integer("seed2") == static_cast<std::int64_t>(number(attrs.values(3))));
  }
}

TEST_CASE("without a seed of its own an op's numbers depend on its name, not on other nodes") {
  const auto draw = [](bool another) {
    Graph g(GraphOptions{.seed = 7});
    if (another) random_normal<float>(g, {3});
    Session s(g);
    return s.run(random_uniform<float>(g, {5}, 0, 1, {.name = "weights"}));
  };
  CHECK(draw(false) == draw(true));
}

TEST_CASE("without any seed two sessions start differently") {
  Graph g;
  const Output drawn = random_uniform<double>(g, {4});
  Session a(g), b(g);
  CHECK_FALSE(a.run(drawn) == b.run(drawn));
}

TEST_CASE("many threads draw the numbers of one") {
  Graph g(GraphOptions{.seed = 1});
  const Output drawn = random_normal<float>(g, {100003}, 0, 1, {.seed = 2});
  Session one(g, {.intra_op_parallelism_threads = 1}), many(g, {.intra_op_parallelism_threads = 4});
  CHECK(one.run(drawn) == many.run(drawn));
}

TEST_CASE("a shape that is fed is used, also with no elements") {
  Graph g;
  const Output shape = placeholder<std::int32_t>(g, {kUnknown}, "shape");
  const Output drawn = truncated_normal(g, DType::kFloat, shape, 0, 1);
  Session s(g);
  CHECK(s.run(drawn, {{shape, Tensor::vector<std::int32_t>({2, 3})}}).shape() == Shape{2, 3});
  CHECK(s.run(drawn, {{shape, Tensor::vector<std::int32_t>({2, 0})}}).shape() == Shape{2, 0});
  CHECK_THROWS_AS(s.run(drawn, {{shape, Tensor::vector<std::int32_t>({-2})}}), InvalidArgument);
}

TEST_CASE("integers refuse an empty range with its ends") {
  Graph g;
  const Output drawn = random_uniform<std::int32_t>(g, {2}, 5, 5);
  Session s(g);
  CHECK_THROWS_WITH_AS(s.run(drawn),
                       "RandomUniformInt 'random_uniform': minval is 5 and maxval 5: minval must be less",
                       InvalidArgument);
}

TEST_CASE("shuffling keeps every row, whatever the dtype") {
  Graph g;
  const std::vector<std::string> words = {"a", "b", "c", "d", "e"};
  const Output shuffled = random_shuffle(constant(g, Tensor::vector(words)), {.seed = 3});
  Session s(g);
  const Tensor out = s.run(shuffled);
  const auto values = out.values<std::string>();
  CHECK(std::multiset<std::string>(values.begin(), values.end()) ==
        std::multiset<std::string>(words.begin(), words.end()));
}

TEST_CASE("nodes of random tensors are named as TensorFlow names them") {
  Graph g;
  random_uniform<float>(g, {2}, -1, 1);
  random_normal<float>(g, {2});
  random_uniform<std::int64_t>(g, {2}, 0, 9, {.name = "dice"});
  std::vector<std::string> names;
  for (const Node* node : g.nodes()) names.push_back(node->name());
  CHECK(names == std::vector<std::string>{"random_uniform/shape", "random_uniform/min", "random_uniform/max",
                                          "random_uniform/RandomUniform", "random_uniform/sub",
                                          "random_uniform/mul", "random_uniform", "random_normal/shape",
                                          "random_normal/mean", "random_normal/stddev",
                                          "random_normal/RandomStandardNormal", "random_normal/mul",
                                          "random_normal", "dice/shape", "dice/min", "dice/max", "dice"});
}
