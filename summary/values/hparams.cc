// All that is said lies in the metadata; the tensor of each value is an empty one.
#include "summary/values/hparams.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

#include "graph/error.h"
#include "runnel/plugins.pb.h"
#include "runnel/summary.pb.h"
#include "summary/values/plugin_value.h"

namespace runnel::hp {
namespace {

std::string value_with(const std::string& tag, const pb::HParamsPluginData& data) {
  pb::Summary summary;
  pb::Summary::Value& value = add_plugin_value(summary, tag, "hparams", data.SerializeAsString());
  write_content(Tensor(DType::kFloat, Shape{0}), *value.mutable_tensor());
  return serialized(summary);
}

// A NaN or an infinity anywhere makes the whole table fail, since JSON has no such numbers.
double shown(double number, const std::string& name) {
  if (!std::isfinite(number))
    throw InvalidArgument(cat("'", name, "' has the number ", number, ", which TensorBoard cannot show"));
  return number;
}

void write_value(const Value& value, const std::string& name, pb::HParamValue& out) {
  if (const bool* flag = std::get_if<bool>(&value.of))
    out.set_bool_value(*flag);
  else if (const double* number = std::get_if<double>(&value.of))
    out.set_number_value(shown(*number, name));
  else
    out.set_string_value(checked_text(std::get<std::string>(value.of), "a value"));
}

void add_name(std::set<std::string>& names, const std::string& name, const char* what) {
  if (name.empty()) throw InvalidArgument(cat("a ", what, " has no name"));
  if (!names.insert(checked_text(name, "a name")).second)
    throw InvalidArgument(cat("the ", what, " '", name, "' occurs twice"));
}

pb::HParamInfo::DataType type_of(const Value& value) {
  constexpr pb::HParamInfo::DataType kTypes[] = {
      pb::HParamInfo::DATA_TYPE_BOOL, pb::HParamInfo::DATA_TYPE_FLOAT64, pb::HParamInfo::DATA_TYPE_STRING};
  return kTypes[value.of.index()];
}

void write_interval(const RealInterval& domain, const std::string& name, pb::HParamInfo& out) {
  if (shown(domain.min_value, name) > shown(domain.max_value, name))
    throw InvalidArgument(cat("the interval of '", name, "' begins at ", domain.min_value,
                              " and ends before, at ", domain.max_value));
  out.set_type(pb::HParamInfo::DATA_TYPE_FLOAT64);
  out.mutable_domain_interval()->set_min_value(domain.min_value);
  out.mutable_domain_interval()->set_max_value(domain.max_value);
}

// Sorted, as TensorBoard's own function leaves them.
void write_discrete(const Discrete& domain, const std::string& name, pb::HParamInfo& out) {
  if (domain.values.empty()) throw InvalidArgument(cat("the domain of '", name, "' has no values"));
  std::vector<Value> sorted = domain.values;
  for (const Value& value : sorted)
    if (value.of.index() != sorted[0].of.index())
      throw InvalidArgument(
          cat("the domain of '", name, "' mixes truth values, numbers and texts: give one kind"));
  std::sort(sorted.begin(), sorted.end(), [](const Value& a, const Value& b) { return a.of < b.of; });
  out.set_type(type_of(sorted[0]));
  for (const Value& value : sorted) write_value(value, name, *out.mutable_domain_discrete()->add_values());
}

void write_hparam(const HParam& hparam, pb::HParamInfo& out) {
  out.set_name(hparam.name);
  out.set_display_name(checked_text(hparam.display_name, "a display_name"));
  out.set_description(checked_text(hparam.description, "a description"));
  if (const auto* interval = std::get_if<RealInterval>(&hparam.domain))
    write_interval(*interval, hparam.name, out);
  else if (const auto* discrete = std::get_if<Discrete>(&hparam.domain))
    write_discrete(*discrete, hparam.name, out);
}

void write_metric(const Metric& metric, pb::MetricInfo& out) {
  out.mutable_name()->set_group(checked_text(metric.group, "a group"));
  out.mutable_name()->set_tag(metric.tag);
  out.set_display_name(checked_text(metric.display_name, "a display_name"));
  out.set_description(checked_text(metric.description, "a description"));
  out.set_dataset_type(static_cast<pb::MetricInfo::DatasetType>(metric.dataset_type));
}

// FNV-1a, 64 bits, in hex, over names and values; a length before each text keeps neighbours apart.
std::string hash_of(const std::map<std::string, Value>& values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const std::string& text) {
    for (const unsigned char byte : cat(text.size(), ":", text)) hash = (hash ^ byte) * 0x100000001b3u;
  };
  for (const auto& [name, value] : values) {
    add(name);
    char number[32];
    if (const bool* flag = std::get_if<bool>(&value.of))
      add(*flag ? "true" : "false");
    else if (const double* real = std::get_if<double>(&value.of))
      add({number, std::to_chars(number, number + sizeof number, *real).ptr});
    else
      add(std::get<std::string>(value.of));
  }
  char digits[16];
  const std::string_view text(digits, std::to_chars(digits, digits + sizeof digits, hash, 16).ptr);
  return std::string(16 - text.size(), '0').append(text);
}

}  // namespace

std::string config_value(const std::vector<HParam>& hparams, const std::vector<Metric>& metrics,
                         const ConfigOptions& options, double now) {
  pb::HParamsPluginData data;
  pb::HParamsExperiment& experiment = *data.mutable_experiment();
  experiment.set_description(checked_text(options.description, "the description"));
  experiment.set_user(checked_text(options.user, "the user"));
  experiment.set_time_created_secs(options.time_created_secs.value_or(now));
  std::set<std::string> names, tags;
  for (const HParam& hparam : hparams) {
    add_name(names, hparam.name, "hyperparameter");
    write_hparam(hparam, *experiment.add_hparam_infos());
  }
  for (const Metric& metric : metrics) {
    if (metric.tag.empty()) throw InvalidArgument("a metric has no tag");
    add_name(tags, cat(metric.group, "/", metric.tag), "metric");
    write_metric(metric, *experiment.add_metric_infos());
  }
  return value_with("_hparams_/experiment", data);
}

std::string session_value(const std::map<std::string, Value>& values, const SessionOptions& options,
                          double now) {
  pb::HParamsPluginData data;
  pb::SessionStartInfo& start = *data.mutable_session_start_info();
  for (const auto& [name, value] : values) {
    if (name.empty()) throw InvalidArgument("a hyperparameter has no name");
    auto& out = *start.add_hparams();
    out.set_key(checked_text(name, "a name"));
    write_value(value, name, *out.mutable_value());
  }
  start.set_model_uri(checked_text(options.model_uri, "model_uri"));
  start.set_monitor_url(checked_text(options.monitor_url, "monitor_url"));
  start.set_group_name(options.trial_id.empty() ? hash_of(values)
                                                : checked_text(options.trial_id, "trial_id"));
  start.set_start_time_secs(options.start_time_secs.value_or(now));
  return value_with("_hparams_/session_start_info", data);
}

std::string end_value(Status status, const EndOptions& options, double now) {
  pb::HParamsPluginData data;
  pb::SessionEndInfo& end = *data.mutable_session_end_info();
  end.set_status(static_cast<pb::SessionEndInfo::Status>(status));
  end.set_end_time_secs(options.end_time_secs.value_or(now));
  return value_with("_hparams_/session_end_info", data);
}

}  // namespace runnel::hp
