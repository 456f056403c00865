// Serialized Summary messages of one value: what FileWriter writes and what the summary ops return. Strings,
// since protobuf does not show in headers. Source: formats 7 and 8.
#pragma once

#include <string>

#include "summary/histogram.h"

namespace runnel {

// value{tag, simple_value}.
std::string scalar_value(const std::string& tag, float value);

// value{tag, histo}.
std::string histogram_value(const std::string& tag, const Histogram& histogram);

}  // namespace runnel
