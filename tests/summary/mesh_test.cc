// Meshes against TensorBoard's own function, and what is refused.
#include "summary/values/mesh.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "tests/summary/golden_plugins.h"

using namespace runnel;

namespace {

Tensor triangle() { return Tensor::from<float>({1, 3, 3}, {0, 0, 0, 1, 0, 0, 0, 1, 0}); }
Tensor face(std::int32_t last) { return Tensor::from<std::int32_t>({1, 1, 3}, {0, 1, last}); }
Tensor colors() { return Tensor::from<std::uint8_t>({1, 3, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255}); }

pb::Summary parsed(const std::string& bytes) {
  pb::Summary summary;
  REQUIRE(summary.ParseFromString(bytes));
  return summary;
}

}  // namespace

TEST_CASE("points, faces and colours have the bytes of TensorBoard's function") {
  const pb::Summary ours = parsed(mesh_value("mesh", triangle(), {.faces = face(2), .colors = colors()}));
  REQUIRE(ours.value_size() == 3);
  for (const pb::Summary::Value& value : ours.value()) {
    CAPTURE(value.tag());
    pb::Summary::Value golden = golden_plugin_value(value.tag());
    golden.mutable_metadata()->clear_display_name();  // the older function, which made the file, sets one
    CHECK(value.SerializeAsString() == golden.SerializeAsString());
  }
}

TEST_CASE("points alone are a cloud, and say that there is nothing else") {
  const pb::Summary::Value value = value_in(mesh_value("cloud", triangle()));
  CHECK(value.tag() == "cloud_VERTEX");
  CHECK(content_of<pb::MeshPluginData>(value).components() == 2);
}

TEST_CASE("the batch may be left out when it is one") {
  const Tensor flat = triangle().reshaped({3, 3});
  CHECK(mesh_value("m", flat, {.faces = face(2).reshaped({1, 3}), .colors = colors().reshaped({3, 3})}) ==
        mesh_value("m", triangle(), {.faces = face(2), .colors = colors()}));
}

TEST_CASE("the scene and a description go along") {
  const char* scene = R"({"material": {"cls": "PointsMaterial", "size": 0.1}})";
  const auto value = value_in(mesh_value("m", triangle(), {.config_dict = scene, .description = "*what*"}));
  CHECK(content_of<pb::MeshPluginData>(value).json_config() == scene);
  CHECK(value.metadata().summary_description() == "*what*");
}

TEST_CASE("points of another type, shape or without a place are refused") {
  CHECK_THROWS_WITH_AS(mesh_value("m", Tensor::zeros(DType::kDouble, {4, 3})),
                       "vertices is double[4,3]: give float[batch, n, 3], none of them 0", InvalidArgument);
  for (const Shape& shape :
       {Shape{3}, Shape{4, 2}, Shape{1, 1, 4, 3}, Shape{0, 3}, Shape{0, 2, 3}, Shape{}}) {
    CAPTURE(shape);
    CHECK_THROWS_AS(mesh_value("m", Tensor::zeros(DType::kFloat, shape)), InvalidArgument);
  }
  CHECK_THROWS_AS(mesh_value("m", Tensor()), InvalidArgument);
  CHECK_THROWS_WITH_AS(mesh_value("m", Tensor::from<float>({1, 3}, {0, NAN, 0})),
                       "coordinate 1 of vertices is nan", InvalidArgument);
}

TEST_CASE("faces and colours must belong to the points") {
  CHECK_THROWS_WITH_AS(mesh_value("m", triangle(), {.faces = face(3)}), "a face names point 3 of 3",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(mesh_value("m", triangle(), {.faces = face(-1)}), "a face names point -1 of 3",
                       InvalidArgument);
  CHECK_THROWS_AS(mesh_value("m", triangle(), {.faces = Tensor::zeros(DType::kInt64, {1, 1, 3})}),
                  InvalidArgument);
  CHECK_THROWS_AS(mesh_value("m", triangle(), {.faces = Tensor::zeros(DType::kInt32, {2, 1, 3})}),
                  InvalidArgument);
  CHECK_THROWS_WITH_AS(mesh_value("m", triangle(), {.colors = Tensor::zeros(DType::kUint8, {1, 2, 3})}),
                       "colors is uint8[1,2,3] for vertices float[1,3,3]: give one colour a point",
                       InvalidArgument);
}

TEST_CASE("a scene that is no JSON object is refused, since the page would stay empty") {
  for (const char* scene : {"", "{", "[1]", "{\"a\": \"\xff\"}"}) {
    CAPTURE(scene);
    CHECK_THROWS_AS(mesh_value("m", triangle(), {.config_dict = scene}), InvalidArgument);
  }
}
