// Bodies and clouds of points in space, which TensorBoard's Mesh page lets a person turn and look at. Source:
// TensorBoard's mesh plugin (summary_v2.py); formats 8.2.
#pragma once

#include <string>

#include "graph/tensor.h"

namespace runnel {

struct MeshOptions {
  Tensor faces = {};   // int32[batch, triangles, 3]: which points make each triangle; none: points alone
  Tensor colors = {};  // uint8[batch, points, 3]: red, green, blue; none: TensorBoard's own
  // A JSON object for the scene: {"camera": {"cls": "PerspectiveCamera", "fov": 75}, "lights": [...],
  // "material": {...}}.
  std::string config_dict = "{}";
  std::string description = "";  // Markdown
};

// A Summary with one value a part, TAG_VERTEX, TAG_FACE and TAG_COLOR, of the plugin "mesh".
//
//   vertices  float[batch, points, 3]; the batch may be missing in all three tensors if it is 1
//   errors    InvalidArgument for other dtypes and shapes, different batches, an empty dimension, points that
//             are not finite, a face of a point that is not there, colours that are not one a point, more
//             than 1 GiB, and a config_dict that is no JSON object
std::string mesh_value(const std::string& tag, const Tensor& vertices, const MeshOptions& options = {});

}  // namespace runnel
