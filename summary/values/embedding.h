// The files of TensorBoard's Projector page, which turns points of many dimensions into a cloud to look at:
// projector_config.pbtxt in the run's folder, and in projector/NAME/ the points, what is known of each, and
// their pictures. Source: TensorBoard's projector plugin; formats 8.2.
#pragma once

#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "graph/tensor.h"

namespace runnel {

// Something known of every point: a label, a class, a date. Tabs and line ends are not allowed in it.
struct EmbeddingColumn {
  std::string name = "";                 // shown if there are several columns
  std::vector<std::string> values = {};  // one a point
};

struct EmbeddingOptions {
  std::vector<EmbeddingColumn> metadata = {};
  Tensor sprite = {};  // uint8[points, height, width, 1, 3 or 4]: a picture a point; none: dots
};

// Writes the files of one embedding; the one that the folder had under this name before is replaced, others
// stay. The configuration comes last, so a page being loaded never sees it without its files.
//
//   tensor_name  any text of 1 to 80 bytes
//   values       float[points, dimensions]
//   errors       InvalidArgument for other dtypes and shapes, what is not finite, more than 2^27 numbers,
//                columns and sprites of another number of points, texts that are no UTF-8 or break the
//                table, and what sprite_file refuses; FailedPrecondition if the folder has a
//                projector_config.pbtxt that is none; and what the file system says
void write_embedding(FileSystem& files, const std::string& directory, const std::string& tensor_name,
                     const Tensor& values, const EmbeddingOptions& options = {});

}  // namespace runnel
