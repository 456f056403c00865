// The layout of TensorBoard's Custom Scalars page: categories of charts, each with several curves in one
// picture. Source: TensorBoard's custom_scalar plugin (layout.proto); formats 8.2.
#pragma once

#include <string>
#include <vector>

namespace runnel {

// A curve between two others, which shade a band around it. Tags of scalars.
struct CustomScalarsMargin {
  std::string value = "";
  std::string lower = "";
  std::string upper = "";
};

// Either lines or bands.
struct CustomScalarsChart {
  std::string title = "";
  std::vector<std::string> multiline =
      {};  // regular expressions (Python's); every scalar tag with a match is drawn
  std::vector<CustomScalarsMargin> margin = {};
};

struct CustomScalarsCategory {
  std::string title = "";
  std::vector<CustomScalarsChart> chart = {};
  bool closed = false;  // folded up when the page opens
};

// value{custom_scalars__config__, a string: the Layout, metadata} of the plugin "custom_scalars". Throws
// InvalidArgument for a layout without categories, for a chart that has both lines and bands or neither, for
// texts that are no UTF-8, and for patterns that are no regular expressions: what RE2 calls a mistake, but
// not what Python has and RE2 has not (looking around, references back, its escapes and limits).
std::string custom_scalars_value(const std::vector<CustomScalarsCategory>& layout);

}  // namespace runnel
