// Values of events as text, CSV and JSON.
#pragma once

#include <cstdint>
#include <string>

#include "summary/summary.h"

namespace runnel {

// The shortest text that reads back as the same number.
std::string number_text(const EventPoint& point);
std::string number_json(const EventPoint& point);

// A value's members of a JSON object: "value" of a text, "width", "height" and "bytes" of pictures, "bytes"
// of sounds and graphs, "dtype", "shape" and "values" of other tensors. `about` is the first value of its
// tag.
std::string value_json(const EventValue& about, const EventValue& value);

// A text as it is, everything else as JSON.
std::string value_text(const EventValue& about, const EventValue& value);

// What is damaged, and the option that helps if one does; with `advice` false, without it.
std::string damage_line(const EventDamage& damage, bool advice = true);

// "1 file", "2 files".
std::string counted(std::uint64_t number, const char* what);

// In quotes if a CSV reader needs them.
std::string csv_text(const std::string& text);

}  // namespace runnel
