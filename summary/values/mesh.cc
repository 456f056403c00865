// Everything that the page would fail on without a word is refused here: it draws in the browser, where a NaN
// or an index out of range leaves an empty picture.
#include "summary/values/mesh.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/error.h"
#include "graph/utf8.h"
#include "runnel/plugins.pb.h"
#include "runnel/summary.pb.h"
#include "summary/values/plugin_value.h"

namespace runnel {
namespace {

using Part = pb::MeshPluginData::ContentType;

// `tensor` as [batch, n, 3].
Tensor batched(const Tensor& tensor, DType type, const char* what) {
  const Shape& shape = tensor.shape();
  const int rank = shape.rank();
  if (tensor.dtype() != type || rank < 2 || rank > 3 || shape[rank - 1] != 3 || tensor.elements() == 0)
    throw InvalidArgument(
        cat(what, " is ", kind_of(tensor), ": give ", type, "[batch, n, 3], none of them 0"));
  return rank == 3 ? tensor : tensor.reshaped(Shape{1, shape[0], 3});
}

void check_points(const Tensor& vertices) {
  const auto values = vertices.values<float>();
  const auto odd = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (odd != values.end())
    throw InvalidArgument(cat("coordinate ", odd - values.begin(), " of vertices is ", *odd));
}

void check_faces(const Tensor& faces, const Tensor& vertices) {
  if (faces.shape()[0] != vertices.shape()[0])
    throw InvalidArgument(
        cat("faces is ", kind_of(faces), " for vertices ", kind_of(vertices), ": the batches differ"));
  for (const std::int32_t point : faces.values<std::int32_t>())
    if (point < 0 || point >= vertices.shape()[1])
      throw InvalidArgument(cat("a face names point ", point, " of ", vertices.shape()[1]));
}

void check_colors(const Tensor& colors, const Tensor& vertices) {
  if (!(colors.shape() == vertices.shape()))
    throw InvalidArgument(
        cat("colors is ", kind_of(colors), " for vertices ", kind_of(vertices), ": give one colour a point"));
}

const std::string& checked_json(const std::string& text) {
  google::protobuf::Struct object;
  if (!is_utf8(text) || !google::protobuf::util::JsonStringToMessage(text, &object).ok())
    throw InvalidArgument(cat("config_dict is no JSON object: '", text, "'"));
  return text;
}

void add_part(pb::Summary& summary, const std::string& tag, const Tensor& tensor, pb::MeshPluginData& data,
              Part part, const std::string& description) {
  data.set_content_type(part);
  data.clear_shape();
  for (const std::int64_t dim : tensor.shape().dims()) data.add_shape(static_cast<std::int32_t>(dim));
  auto& value = add_plugin_value(summary, cat(tag, "_", pb::MeshPluginData::ContentType_Name(part)), "mesh",
                                 data.SerializeAsString());
  value.mutable_metadata()->set_summary_description(description);
  write_content(tensor, *value.mutable_tensor());
}

}  // namespace

std::string mesh_value(const std::string& tag, const Tensor& vertices, const MeshOptions& options) {
  const Tensor points = batched(vertices, DType::kFloat, "vertices");
  check_points(points);
  pb::MeshPluginData data;
  data.set_name(checked_text(tag, "the tag"));
  data.set_json_config(checked_json(options.config_dict));
  checked_text(options.description, "description");
  Tensor faces, colors;
  data.set_components(1u << pb::MeshPluginData::VERTEX);
  if (options.faces) {
    check_faces(faces = batched(options.faces, DType::kInt32, "faces"), points);
    data.set_components(data.components() | 1u << pb::MeshPluginData::FACE);
  }
  if (options.colors) {
    check_colors(colors = batched(options.colors, DType::kUint8, "colors"), points);
    data.set_components(data.components() | 1u << pb::MeshPluginData::COLOR);
  }
  pb::Summary summary;
  add_part(summary, tag, points, data, pb::MeshPluginData::VERTEX, options.description);
  if (faces) add_part(summary, tag, faces, data, pb::MeshPluginData::FACE, options.description);
  if (colors) add_part(summary, tag, colors, data, pb::MeshPluginData::COLOR, options.description);
  return serialized(summary);
}

}  // namespace runnel
