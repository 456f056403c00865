// Serialized Summary messages of one value: what FileWriter writes and what the summary ops return. Strings,
// since protobuf does not show in headers. Source: formats 7 and 8.
#pragma once

#include <span>
#include <string>

#include "summary/values/histogram.h"

namespace runnel {

// value{tag, simple_value}.
std::string scalar_value(const std::string& tag, float value);

// One value{tag, simple_value} a tag. Requires: as many values.
std::string scalar_values(std::span<const std::string> tags, std::span<const float> values);

// value{tag, histo}.
std::string histogram_value(const std::string& tag, const Histogram& histogram);

// The values of all summaries in order. Throws InvalidArgument if one is no Summary or a tag occurs twice.
std::string merged_values(std::span<const std::string* const> summaries);

}  // namespace runnel
