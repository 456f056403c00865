// Gradients of array ops: TensorFlow's values, and the nodes that tf.gradients (2.21) makes.
#include <doctest/doctest.h>

#include "graph/error.h"
#include "ops/array_gather_ops.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_slice_ops.h"
#include "tests/kernels/golden_gradient.h"

using namespace runnel;

namespace {

// "NAME OP inputs" of each node under the scope, in order of making, names without the scope.
std::vector<std::string> nodes_under(const Graph& g, const std::string& scope) {
  std::vector<std::string> out;
  for (const Node* node : g.nodes()) {
    if (!node->name().starts_with(scope)) continue;
    std::string line = node->name().substr(scope.size()) + " " + node->op();
    for (const Output& input : node->input_list()) {
      std::string name = input.index() == 0 ? input.node().name() : input.name();
      if (name.starts_with(scope)) name.erase(0, scope.size());
      line += " " + name;
    }
    out.push_back(line);
  }
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("values and gradients of movement ops are TensorFlow's") {
  using F = std::function<Output(const Outputs&)>;
  const std::vector<std::pair<std::string, F>> cases{
      {"reshape",
       [](const Outputs& in) {
         return reshape(in[0], {3, 2});
       }},
      {"transpose", [](const Outputs& in) { return transpose(in[0]); }},
      {"transpose_perm",
       [](const Outputs& in) {
         return transpose(in[0], {.perm = {1, 2, 0}});
       }},
      {"split_second", [](const Outputs& in) { return split(in[0], 3, 1)[1]; }},
      {"split_v",
       [](const Outputs& in) {
         return split_by(in[0], {1, 2}, 1)[1];
       }},
      {"unstack_first", [](const Outputs& in) { return unstack(in[0], {.axis = 1})[0]; }},
      {"slice",
       [](const Outputs& in) {
         return slice(in[0], {0, 1}, {2, 2});
       }},
      {"strided_slice",
       [](const Outputs& in) {
         return strided_slice(in[0], {0, 0}, {0, 3}, {-1, 2}, {.masks = {.begin = 1, .end = 1}});
       }},
      {"strided_slice_shrink",
       [](const Outputs& in) {
         return strided_slice(in[0], {1, 0, 0}, {2, 0, 0}, {1, 1, 1},
                              {.masks = {.begin = 2, .end = 2, .new_axis = 4, .shrink_axis = 1}});
       }},
      {"pad",
       [](const Outputs& in) {
         return pad(in[0], Tensor::matrix<int>({{1, 0}, {0, 2}}));
       }},
      {"tile",
       [](const Outputs& in) {
         return tile(in[0], {2, 1});
       }},
      {"expand_squeeze", [](const Outputs& in) { return squeeze(expand_dims(in[0], 1), {.axes = {1}}); }},
  };
  for (const auto& [name, f] : cases) {
    const auto& this_name = name;  // clang 14 captures no structured binding
    CAPTURE(this_name);
    CHECK(golden_gap(name, f, 1) == 0);
  }
}

TEST_CASE("values and gradients of joins are TensorFlow's") {
  CHECK(golden_gap(
            "concat0", [](const Outputs& in) { return concat(in, 0); }, 2) == 0);
  CHECK(golden_gap(
            "concat1", [](const Outputs& in) { return concat(in, 1); }, 2) == 0);
  CHECK(golden_gap(
            "concat1", [](const Outputs& in) { return concat(in, -1); }, 2) == 0);
  CHECK(golden_gap(
            "stack", [](const Outputs& in) { return stack(in, {.axis = 1}); }, 2) == 0);
}

TEST_CASE("a subscript's gradient has TensorFlow's nodes when the shape is known in part") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown, 3}, "x");
  gradients({x[0]}, {x});
  CHECK(nodes_under(g, "strided_slice") == Lines{"/stack Const", "/stack_1 Const", "/stack_2 Const",
                                                 " StridedSlice x /stack /stack_1 /stack_2"});
  CHECK(nodes_under(g, "gradients/strided_slice_grad/") ==
        Lines{"Shape Shape x", "StridedSliceGrad/begin Const", "StridedSliceGrad/end Const",
              "StridedSliceGrad/strides Const",
              "StridedSliceGrad StridedSliceGrad Shape StridedSliceGrad/begin StridedSliceGrad/end "
              "StridedSliceGrad/strides gradients/grad_ys_0"});
}

TEST_CASE("a slice's gradient has TensorFlow's nodes") {
  Graph g;
  const Output x = placeholder<float>(g, {4, 3}, "x");
  gradients({slice(x, {1, 0}, {2, -1})}, {x});
  CHECK(nodes_under(g, "gradients/Slice_grad/") ==
        Lines{"Rank Const", "Shape Const", "stack/1 Const", "stack Pack Rank stack/1",
              "Reshape Reshape Slice/begin stack", "Shape_1 Const", "sub Sub Shape_1 Shape",
              "sub_1 Sub sub Slice/begin", "Reshape_1 Reshape sub_1 stack", "concat/axis Const",
              "concat ConcatV2 Reshape Reshape_1 concat/axis", "Pad Pad gradients/grad_ys_0 concat"});
}

TEST_CASE("a concatenation's gradient has TensorFlow's nodes, known shapes or not") {
  Graph g;
  const Output x = placeholder<float>(g, {4, 3}, "x"), u = placeholder<float>(g, {kUnknown, 3}, "u");
  gradients({concat({x, x}, 1)}, {x});
  CHECK(nodes_under(g, "gradients/concat_grad/") ==
        Lines{"Rank Const", "mod FloorMod concat/axis Rank", "Shape Const", "Shape_1 Const",
              "ConcatOffset ConcatOffset mod Shape Shape_1",
              "Slice Slice gradients/grad_ys_0 ConcatOffset Shape",
              "Slice_1 Slice gradients/grad_ys_0 ConcatOffset:1 Shape_1"});
  gradients({concat({u, u}, 1, {.name = "c"})}, {u});
  CHECK(nodes_under(g, "gradients_1/c_grad/") ==
        Lines{"Rank Const", "mod FloorMod c/axis Rank", "Shape Shape u", "ShapeN ShapeN u u",
              "ConcatOffset ConcatOffset mod ShapeN ShapeN:1",
              "Slice Slice gradients_1/grad_ys_0 ConcatOffset ShapeN",
              "Slice_1 Slice gradients_1/grad_ys_0 ConcatOffset:1 ShapeN:1"});
}

TEST_CASE("a tile's gradient has TensorFlow's nodes") {
  Graph g;
  const Output x = placeholder<float>(g, {4, 3}, "x");
  gradients({tile(x, {2, 1})}, {x});
  CHECK(nodes_under(g, "gradients/Tile_grad/") ==
        Lines{"Shape Const", "stack Pack Tile/multiples Shape", "transpose/perm Const",
              "transpose Transpose stack transpose/perm", "Reshape/shape Const",
              "Reshape Reshape transpose Reshape/shape", "Size Const", "range/start Const",
              "range/delta Const", "range Range range/start Size range/delta",
              "Reshape_1 Reshape gradients/grad_ys_0 Reshape", "Sum Sum Reshape_1 range"});
}

TEST_CASE("gathered rows have a gradient of rows, with TensorFlow's nodes") {
  Graph g;
  const Output x = placeholder<float>(g, {4, 3}, "x");
  const Grads grads = gradients({gather(x, Tensor::vector({1, 0}))}, {x});
  REQUIRE(grads[0].slices());
  CHECK(grads[0].slices()->values.name() == "gradients/GatherV2_grad/Reshape:0");
  CHECK(
      nodes_under(g, "gradients/GatherV2_grad/") ==
      Lines{
          "Shape Const", "Size Const", "ExpandDims/dim Const", "ExpandDims ExpandDims Size ExpandDims/dim",
          "strided_slice/stack Const", "strided_slice/stack_1 Const", "strided_slice/stack_2 Const",
          "strided_slice StridedSlice Shape strided_slice/stack strided_slice/stack_1 strided_slice/stack_2",
          "concat/axis Const", "concat ConcatV2 ExpandDims strided_slice concat/axis",
          "Reshape Reshape gradients/grad_ys_0 concat", "Reshape_1 Reshape GatherV2/indices ExpandDims"});
}

TEST_CASE("gathering along the second axis has TensorFlow's nodes in its gradient") {
  Graph g;
  const Output x = placeholder<float>(g, {4, 3}, "x");
  gradients({gather(x, Tensor::vector({1, 0}), {.axis = 1})}, {x});
  CHECK(
      nodes_under(g, "gradients/GatherV2_grad/") ==
      Lines{
          "Shape Const",
          "Size Const",
          "ExpandDims/dim Const",
          "ExpandDims ExpandDims Size ExpandDims/dim",
          "Const Const",
          "Const_1 Const",
          "strided_slice/stack Pack Const",
          "strided_slice/stack_1 Pack GatherV2/axis",
          "strided_slice/stack_2 Pack Const_1",
          "strided_slice StridedSlice Shape strided_slice/stack strided_slice/stack_1 strided_slice/stack_2",
          "Const_2 Const",
          "Const_3 Const",
          "strided_slice_1/stack Pack GatherV2/axis",
          "strided_slice_1/stack_1 Pack Const_2",
          "strided_slice_1/stack_2 Pack Const_3",
          "strided_slice_1 StridedSlice Shape strided_slice_1/stack strided_slice_1/stack_1 "
          "strided_slice_1/stack_2",
          "strided_slice_2/stack Const",
          "strided_slice_2/stack_1 Const",
          "strided_slice_2/stack_2 Const",
          "strided_slice_2 StridedSlice strided_slice_1 strided_slice_2/stack strided_slice_2/stack_1 "
          "strided_slice_2/stack_2",
          "concat/values_1 Const",
          "concat/axis Const",
          "concat ConcatV2 strided_slice concat/values_1 strided_slice_2 concat/axis",
          "Size_1 Const",
          "Size_2 Const",
          "range/start Const",
          "range/limit Const",
          "range/delta Const",
          "range Range range/start range/limit range/delta",
          "range_1/start Const",
          "range_1/delta Const",
          "range_1 Range range_1/start Size_2 range_1/delta",
          "add/y Const",
          "add AddV2 Size_2 add/y",
          "range_2/delta Const",
          "range_2 Range add Size_1 range_2/delta",
          "Reshape Reshape gradients/grad_ys_0 concat",
          "concat_1/values_1 Pack Size_2",
          "concat_1/axis Const",
          "concat_1 ConcatV2 range concat_1/values_1 range_1 range_2 concat_1/axis",
          "transpose Transpose Reshape concat_1",
          "GatherV2/axis Const",
          "GatherV2 GatherV2 Shape concat_1 GatherV2/axis",
          "add_1/y Const",
          "add_1 AddV2 GatherV2/axis add_1/y",
          "strided_slice_3/stack Pack GatherV2/axis",
          "strided_slice_3/stack_1 Pack add_1",
          "strided_slice_3/stack_2 Const",
          "strided_slice_3 StridedSlice Shape strided_slice_3/stack strided_slice_3/stack_1 "
          "strided_slice_3/stack_2",
          "Size_3 Const",
          "ExpandDims_1/dim Const",
          "ExpandDims_1 ExpandDims Size_3 ExpandDims_1/dim",
          "Reshape_1 Reshape GatherV2/indices ExpandDims_1",
          "UnsortedSegmentSum UnsortedSegmentSum transpose Reshape_1 strided_slice_3",
          "add_2/y Const",
          "add_2 AddV2 range_1 add_2/y",
          "concat_2/values_2 Const",
          "concat_2/axis Const",
          "concat_2 ConcatV2 range add_2 concat_2/values_2 range_2 concat_2/axis",
          "transpose_1 Transpose UnsortedSegmentSum concat_2",
          "Shape_1 Const",
          "Reshape_2 Reshape transpose_1 Shape_1"});
}
