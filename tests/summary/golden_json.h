// Golden files in JSON: floats are C99 hex in strings, integers are numbers.
#pragma once

#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "graph/io/file_system.h"

namespace runnel {

using Json = google::protobuf::Value;

// The file of that name under tests/golden.
inline Json golden_json(const std::string& name) {
  Json out;
  const std::string text = read_file(real_file_system(), join_path(RUNNEL_GOLDEN, name));
  REQUIRE(google::protobuf::util::JsonStringToMessage(text, &out).ok());
  return out;
}

inline const Json& field(const Json& object, const char* name) {
  return object.struct_value().fields().at(name);
}
inline bool has_field(const Json& object, const char* name) {
  return object.struct_value().fields().contains(name);
}

inline double number(const Json& value) {
  return value.has_string_value() ? std::strtod(value.string_value().c_str(), nullptr) : value.number_value();
}

inline std::vector<double> numbers(const Json& list) {
  std::vector<double> out;
  for (const Json& value : list.list_value().values()) out.push_back(number(value));
  return out;
}

}  // namespace runnel
