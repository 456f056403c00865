// Fills one Summary.Value and serializes it.
#include "summary/values/value.h"

#include <set>

#include "graph/error.h"
#include "runnel/summary.pb.h"

namespace runnel {

std::string scalar_value(const std::string& tag, float value) {
  return scalar_values({&tag, 1}, {&value, 1});
}

std::string scalar_values(std::span<const std::string> tags, std::span<const float> values) {
  pb::Summary summary;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    pb::Summary::Value& out = *summary.add_value();
    out.set_tag(tags[i]);
    out.set_simple_value(values[i]);
  }
  return summary.SerializeAsString();
}

std::string histogram_value(const std::string& tag, const Histogram& h) {
  pb::Summary summary;
  pb::Summary::Value& value = *summary.add_value();
  value.set_tag(tag);
  pb::HistogramProto& out = *value.mutable_histo();
  out.set_min(h.min);
  out.set_max(h.max);
  out.set_num(h.num);
  out.set_sum(h.sum);
  out.set_sum_squares(h.sum_squares);
  out.mutable_bucket_limit()->Add(h.limits.begin(), h.limits.end());
  out.mutable_bucket()->Add(h.counts.begin(), h.counts.end());
  return summary.SerializeAsString();
}

std::string merged_values(std::span<const std::string* const> summaries) {
  pb::Summary merged;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    pb::Summary one;
    if (!one.ParseFromString(*summaries[i]))
      throw InvalidArgument(cat("input ", i, " is no serialized Summary"));
    merged.MergeFrom(one);
  }
  std::set<std::string> tags;
  for (const pb::Summary::Value& value : merged.value())
    if (!tags.insert(value.tag()).second)
      throw InvalidArgument(cat("tag '", value.tag(), "' occurs twice among the summaries to merge"));
  return merged.SerializeAsString();
}

}  // namespace runnel
