// The layout is a message within a string tensor.
#include "summary/values/custom_scalars.h"

#include "graph/error.h"
#include "runnel/plugins.pb.h"
#include "runnel/summary.pb.h"
#include "summary/values/plugin_value.h"

namespace runnel {
namespace {

void write_chart(const CustomScalarsChart& chart, pb::CustomScalarsLayout::Chart& out) {
  if (chart.multiline.empty() == chart.margin.empty())
    throw InvalidArgument(cat("chart '", chart.title, "' has ",
                              chart.margin.empty() ? "neither multiline nor" : "both multiline and",
                              " margin: give one of them"));
  out.set_title(checked_text(chart.title, "a title"));
  for (const std::string& tag : chart.multiline) out.mutable_multiline()->add_tag(checked_text(tag, "a tag"));
  for (const CustomScalarsMargin& margin : chart.margin) {
    auto& series = *out.mutable_margin()->add_series();
    series.set_value(checked_text(margin.value, "a tag"));
    series.set_lower(checked_text(margin.lower, "a tag"));
    series.set_upper(checked_text(margin.upper, "a tag"));
  }
}

}  // namespace

std::string custom_scalars_value(const std::vector<CustomScalarsCategory>& layout) {
  if (layout.empty()) throw InvalidArgument("the layout has no categories");
  pb::CustomScalarsLayout message;
  for (const CustomScalarsCategory& category : layout) {
    auto& out = *message.add_category();
    out.set_title(checked_text(category.title, "a title"));
    out.set_closed(category.closed);
    for (const CustomScalarsChart& chart : category.chart) write_chart(chart, *out.add_chart());
  }
  pb::Summary summary;
  auto& value = add_plugin_value(summary, "custom_scalars__config__", "custom_scalars", "");
  value.mutable_tensor()->set_dtype(pb::DT_STRING);
  value.mutable_tensor()->mutable_tensor_shape();
  value.mutable_tensor()->add_string_val(message.SerializeAsString());
  return serialized(summary);
}

}  // namespace runnel
