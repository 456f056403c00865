// The layout is a message within a string tensor.
#include "summary/values/custom_scalars.h"

#include <re2/re2.h>

#include "graph/error.h"
#include "runnel/plugins.pb.h"
#include "runnel/summary.pb.h"
#include "summary/values/plugin_value.h"

namespace runnel {
namespace {

// Python's expressions are not RE2's: what only RE2 lacks, or has a limit for, is let pass.
bool may_be_pythons(const RE2& pattern) {
  switch (pattern.error_code()) {
    case RE2::ErrorBadEscape:   // \1 \Z
    case RE2::ErrorRepeatOp:    // a*+
    case RE2::ErrorRepeatSize:  // a{2000}
    case RE2::ErrorBadPerlOp:   // (?=a)
    case RE2::ErrorBadNamedCapture:
    case RE2::ErrorPatternTooLarge:
    case RE2::ErrorInternal: return true;
    default: break;
  }
  // Some releases of RE2 call the operators of groups a missing parenthesis; [: is nothing special in Python.
  const std::string& where = pattern.error_arg();
  const bool is_operator = where.starts_with("(?") && where != pattern.pattern();
  return is_operator || where.find("[:") != std::string::npos;
}

const std::string& checked_pattern(const std::string& tag) {
  const RE2 pattern(checked_text(tag, "a tag"), RE2::Quiet);
  if (!pattern.ok() && !may_be_pythons(pattern))
    throw InvalidArgument(cat("'", tag, "' is no regular expression (", pattern.error(),
                              "): put \\ before a character that is meant as it is"));
  return tag;
}

void write_chart(const CustomScalarsChart& chart, pb::CustomScalarsLayout::Chart& out) {
  if (chart.multiline.empty() == chart.margin.empty())
    throw InvalidArgument(cat("chart '", chart.title, "' has ",
                              chart.margin.empty() ? "neither multiline nor" : "both multiline and",
                              " margin: give one of them"));
  out.set_title(checked_text(chart.title, "a title"));
  for (const std::string& tag : chart.multiline) out.mutable_multiline()->add_tag(checked_pattern(tag));
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
