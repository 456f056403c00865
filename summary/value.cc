// Fills one Summary.Value and serializes it.
#include "summary/value.h"

#include "runnel/summary.pb.h"

namespace runnel {

std::string scalar_value(const std::string& tag, float value) {
  pb::Summary summary;
  pb::Summary::Value& out = *summary.add_value();
  out.set_tag(tag);
  out.set_simple_value(value);
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

}  // namespace runnel
