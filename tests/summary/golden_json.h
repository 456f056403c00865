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

// The entry of golden/summaries of that name.
inline Json golden_summary(const std::string& name) {
  const Json all = golden_json("summaries/summaries.json");
  for (const Json& entry : all.list_value().values())
    if (field(entry, "name").string_value() == name) return entry;
  FAIL("golden/summaries has no case ", name);
  return {};
}

// The bytes as the golden files write them.
template <class Bytes>
std::string hex(const Bytes& bytes) {
  std::string out;
  for (const char c : bytes) out += {"0123456789abcdef"[c >> 4 & 15], "0123456789abcdef"[c & 15]};
  return out;
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
