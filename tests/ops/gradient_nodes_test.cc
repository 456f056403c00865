// The nodes of each op's gradient, name by name, against those that TensorFlow makes (golden/gradient_nodes).
#include <doctest/doctest.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/io/file_system.h"
#include "ops/array_gather_ops.h"
#include "ops/array_ops.h"
#include "ops/batch_matmul.h"
#include "ops/gradients.h"
#include "ops/math_ops.h"
#include "ops/nn_ops.h"
#include "ops/scan_ops.h"

using namespace runnel;

namespace {

// The lines of one section of the golden file.
std::string golden_section(const std::string& title) {
  std::istringstream in(read_file(real_file_system(), join_path(RUNNEL_GOLDEN, "gradient_nodes/nodes.txt")));
  std::string line, out;
  bool inside = false;
  while (std::getline(in, line)) {
    if (line.starts_with("== "))
      inside = line == "== " + title;
    else if (inside)
      out += line + "\n";
  }
  REQUIRE_FALSE(out.empty());
  return out;
}

// A node's name without "gradients/" and the scope of the op.
std::string inner_name(const std::string& name) {
  if (name == "gradients/grad_ys_0") return "dy";
  const std::size_t scope = name.find("_grad/");
  return scope == std::string::npos ? name : name.substr(scope + 6);
}

// The gradient's nodes; the ith input is `types[i]`, float where there is none.
std::string made(const std::function<Output(const Outputs&)>& op, const std::vector<Shape>& shapes,
                 const std::vector<DType>& types = {}) {
  Graph g;
  Outputs x;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    x.push_back(
        placeholder(g, i < types.size() ? types[i] : DType::kFloat, shapes[i], std::string(1, "xyz"[i])));
  const Output y = op(x);
  std::vector<Source> sources;
  for (const Output& in : x)
    if (in.dtype() == DType::kFloat) sources.emplace_back(in);
  gradients({y}, sources, {.grad_ys = {placeholder<float>(g, y.shape(), "dy")}});
  std::string out;
  for (const Node* node : g.nodes()) {
    if (node->name().find("_grad/") == std::string::npos) continue;
    out += inner_name(node->name()) + " | " + node->op() + " |";
    for (const Output& in : node->input_list()) out += " " + inner_name(in.node().name());
    for (const Node* in : node->control_inputs()) out += " ^" + inner_name(in->name());
    out += "\n";
  }
  return out;
}

const Shape kNone = Shape::unknown(), kBatch{kUnknown, 4};
using Op = Output (*)(Operand, Operand, OpOptions);
using Function = Output (*)(Operand, OpOptions);
using Reduce = Output (*)(Operand, ReduceOptions);
using ReduceAxes = Output (*)(Operand, Axes, ReduceOptions);

}  // namespace

TEST_CASE("gradients of arithmetic have TensorFlow's nodes for equal, different and unknown shapes") {
  struct {
    const char* title;
    Op op;
    Shape x, y;
  } const cases[] = {{"multiply [3,4] [3,4]", multiply, {3, 4}, {3, 4}},
                     {"multiply [3,4] [4]", multiply, {3, 4}, {4}},
                     {"multiply [?,4] [4]", multiply, kBatch, {4}},
                     {"multiply [?,4] [?,4]", multiply, kBatch, kBatch},
                     {"multiply ? ?", multiply, kNone, kNone},
                     {"add [1,4] [3,1]", add, {1, 4}, {3, 1}},
                     {"subtract [] [3,4]", subtract, {}, {3, 4}},
                     {"realdiv [?] []", realdiv, {kUnknown}, {}},
                     {"squared_difference [3,4] [4]", squared_difference, {3, 4}, {4}},
                     {"maximum [?,4] [4]", maximum, kBatch, {4}},
                     {"minimum [3,4] [3,4]", minimum, {3, 4}, {3, 4}},
                     {"floormod [3,4] [4]", floormod, {3, 4}, {4}}};
  for (const auto& c : cases) {
    CAPTURE(c.title);
    CHECK(made([&](const Outputs& in) { return c.op(in[0], in[1], {}); }, {c.x, c.y}) ==
          golden_section(c.title));
  }
}

TEST_CASE("gradients of one-tensor functions have TensorFlow's nodes") {
  const std::pair<const char*, Function> cases[] = {{"square [?,4]", square},
                                                    {"log [?,4]", log},
                                                    {"sqrt [?,4]", sqrt},
                                                    {"abs [?,4]", abs},
                                                    {"exp [?,4]", exp}};
  for (const auto& [title, op] : cases) {
    const auto& this_title = title;  // clang 14 captures no structured binding
    CAPTURE(this_title);
    CHECK(made([op = op](const Outputs& in) { return op(in[0], {}); }, {kBatch}) == golden_section(title));
  }
}

TEST_CASE("gradients of reductions over all axes have TensorFlow's nodes") {
  struct {
    const char* title;
    Reduce op;
    Shape x;
  } const cases[] = {{"reduce_sum [3,4]", reduce_sum, {3, 4}},   {"reduce_sum [?,4]", reduce_sum, kBatch},
                     {"reduce_mean [3,4]", reduce_mean, {3, 4}}, {"reduce_mean [?,4]", reduce_mean, kBatch},
                     {"reduce_mean ?", reduce_mean, kNone},      {"reduce_max [3,4]", reduce_max, {3, 4}}};
  for (const auto& c : cases) {
    CAPTURE(c.title);
    CHECK(made([&](const Outputs& in) { return c.op(in[0], {}); }, {c.x}) == golden_section(c.title));
  }
}

TEST_CASE("gradients of reductions over one axis have TensorFlow's nodes") {
  struct {
    const char* title;
    ReduceAxes op;
    Shape x;
    bool keep;
  } const cases[] = {{"reduce_sum [?,4] axis=0", reduce_sum, kBatch, false},
                     {"reduce_mean [3,4] axis=0", reduce_mean, {3, 4}, false},
                     {"reduce_mean [?,4] axis=0", reduce_mean, kBatch, false},
                     {"reduce_max [?,4] axis=0", reduce_max, kBatch, false},
                     {"reduce_max [?,4] axis=0 keepdims=True", reduce_max, kBatch, true}};
  for (const auto& c : cases) {
    CAPTURE(c.title);
    const auto op = [&](const Outputs& in) { return c.op(in[0], Axes(0), {.keep_dims = c.keep}); };
    CHECK(made(op, {c.x}) == golden_section(c.title));
  }
}

TEST_CASE("second derivatives have TensorFlow's nodes") {
  for (const std::string op : {"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "TanhGrad", "SigmoidGrad"}) {
    CAPTURE(op);
    const auto of = [&](const Outputs& in) -> Output {
      return in[0].graph().add(op, {in[0], in[1]}, {}, "op");
    };
    CHECK(made(of, {{3, 4}, {3, 4}}) == golden_section(op + " [3,4] [3,4]"));
  }
  for (const std::string format : {"NHWC", "NCHW"}) {
    CAPTURE(format);
    const auto of = [&](const Outputs& in) {
      return bias_add_grad(in[0], {.data_format = format, .name = "op"});
    };
    CHECK(made(of, {{3, 4, 5}}) == golden_section("BiasAddGrad [3,4,5] data_format=" + format));
    CHECK(made(of, {kNone}) == golden_section("BiasAddGrad ? data_format=" + format));
  }
}

TEST_CASE("gradients of select_v2 and of sums by segment have TensorFlow's nodes") {
  const auto chosen = [](const Outputs& in) { return select_v2(in[0], in[1], in[2], {.name = "op"}); };
  const std::vector<DType> mask{DType::kBool};
  CHECK(made(chosen, {{3, 1}, {3, 4}, {4}}, mask) == golden_section("SelectV2 [3,1] [3,4] [4]"));
  CHECK(made(chosen, {{kUnknown, 1}, kBatch, {4}}, mask) == golden_section("SelectV2 [?,1] [?,4] [4]"));
  CHECK(made(chosen, {kNone, kNone, kNone}, mask) == golden_section("SelectV2 ? ? ?"));
  const auto sums = [](const Outputs& in) -> Output {
    const Output segments = constant(in[0].graph(), Tensor::scalar(3));
    return in[0].graph().add("UnsortedSegmentSum", {in[0], in[1], segments}, {}, "op");
  };
  const std::vector<DType> ids{DType::kFloat, DType::kInt32};
  CHECK(made(sums, {{5, 3}, {5}}, ids) == golden_section("UnsortedSegmentSum [5,3] [5] num_segments=3"));
  CHECK(made(sums, {kNone, kNone}, ids) == golden_section("UnsortedSegmentSum ? ? num_segments=3"));
}

TEST_CASE("gradients of products have TensorFlow's nodes") {
  const std::pair<const char*, Shape> shapes[] = {
      {"Prod [2,3,4]", {2, 3, 4}}, {"Prod [?,3,4]", {kUnknown, 3, 4}}, {"Prod ?", kNone}};
  for (const auto& [title, shape] : shapes) {
    const std::string name = title;  // clang 14 captures no structured binding
    CAPTURE(name);
    CHECK(made([](const Outputs& in) { return reduce_prod(in[0], Axes(0), {.name = "op"}); }, {shape}) ==
          golden_section(name + " axis=0 keep_dims=False"));
    CHECK(made(
              [](const Outputs& in) {
                return reduce_prod(in[0], Axes{0, 2}, {.keep_dims = true, .name = "op"});
              },
              {shape}) == golden_section(name + " axis=[0,2] keep_dims=True"));
  }
  CHECK(made([](const Outputs& in) { return cumprod(in[0], 1, {.exclusive = true, .name = "op"}); },
             {{3, 4}}) == golden_section("Cumprod [3,4] axis=1 exclusive=True reverse=False"));
  CHECK(made([](const Outputs& in) { return div_no_nan(in[0], in[1], {.name = "op"}); }, {{3, 4}, {4}}) ==
        golden_section("DivNoNan [3,4] [4]"));
}

TEST_CASE("gradients of many products, and of the gradients of losses, have TensorFlow's nodes") {
  const auto products = [](const Outputs& in) {
    return batch_matmul(in[0], in[1], {.adj_x = true, .name = "op"});
  };
  const std::string flags = " adj_x=True adj_y=False";
  CHECK(made(products, {{2, 4, 3}, {2, 4, 5}}) == golden_section("BatchMatMulV2 [2,4,3] [2,4,5]" + flags));
  CHECK(made(products, {{2, 1, 4, 3}, {4, 5}}) == golden_section("BatchMatMulV2 [2,1,4,3] [4,5]" + flags));
  CHECK(made(products, {kNone, kNone}) == golden_section("BatchMatMulV2 ? ?" + flags));
  const auto backprop_of = [](const char* op) {
    return [op](const Outputs& in) { return in[0].graph().add(op, {in[0], in[1]}, {}, "op").output(1); };
  };
  CHECK(made(backprop_of("SoftmaxCrossEntropyWithLogits"), {{3, 4}, {3, 4}}) ==
        golden_section("SoftmaxCrossEntropyWithLogits [3,4] [3,4]"));
  CHECK(made(backprop_of("SparseSoftmaxCrossEntropyWithLogits"), {kBatch, {kUnknown}},
             {DType::kFloat, DType::kInt32}) ==
        golden_section("SparseSoftmaxCrossEntropyWithLogits [?,4] [?]"));
}

TEST_CASE("the gradient of gathering within batches has TensorFlow's nodes") {
  const auto taken = [](const Outputs& in) {
    return gather(in[0], in[1], {.axis = 1, .batch_dims = 1, .name = "op"});
  };
  const std::vector<Shape> shapes{{kUnknown, kUnknown, 4}, {kUnknown, kUnknown}};
  const std::string title = "GatherV2 [?,?,4] [?,?] axis=1 batch_dims=1";
  CHECK(made(taken, shapes, {DType::kFloat, DType::kInt32}) == golden_section(title));
  CHECK(made(taken, shapes, {DType::kFloat, DType::kInt64}) == golden_section(title + " int64"));
}
