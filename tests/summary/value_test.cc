// Serialized values, byte for byte what TensorFlow's summary ops return (golden/summaries).
#include "summary/values/value.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

// The bytes that TensorFlow gave for the case, in hex.
std::string golden_hex(const std::string& name) {
  return field(golden_summary(name), "summary_hex").string_value();
}

std::string merged(const std::vector<std::string>& summaries) {
  std::vector<const std::string*> list;
  for (const std::string& summary : summaries) list.push_back(&summary);
  return merged_values(list);
}

}  // namespace

TEST_CASE("scalars have TensorFlow's bytes, zero and what is not finite too") {
  CHECK(hex(scalar_value("s", 0.1f)) == golden_hex("scalar_float"));
  CHECK(hex(scalar_value("s", 0.0f)) == golden_hex("scalar_zero"));
  CHECK(hex(scalar_value("s", static_cast<float>(0.1))) == golden_hex("scalar_double"));
  CHECK(hex(scalar_value("s", static_cast<float>((std::int64_t{1} << 40) + 1))) ==
        golden_hex("scalar_int64"));
  CHECK(hex(scalar_value("s", NAN)) == golden_hex("scalar_nan"));
  CHECK(hex(scalar_value("s", -INFINITY)) == golden_hex("scalar_inf"));
}

TEST_CASE("several tags give several values, in order") {
  const std::vector<std::string> tags = {"a", "b", "c", "d"};
  const std::vector<float> values = {1, 2, 3, 4};
  CHECK(hex(scalar_values(tags, values)) == golden_hex("scalar_many_tags"));
}

TEST_CASE("a histogram has TensorFlow's bytes") {
  const std::vector<float> values = {1, 2, 3};
  CHECK(hex(histogram_value("h", histogram_of(std::span<const float>(values)))) == golden_hex("histogram"));
}

TEST_CASE("merging keeps all values in order") {
  CHECK(hex(merged({scalar_value("a", 1), scalar_value("b", 2)})) == golden_hex("merge"));
}

TEST_CASE("merging refuses a tag that occurs twice, and what is no summary") {
  CHECK_THROWS_WITH_AS(merged({scalar_value("a", 1), scalar_value("b", 2), scalar_value("a", 3)}),
                       "tag 'a' occurs twice among the summaries to merge", InvalidArgument);
  CHECK_THROWS_WITH_AS(merged({scalar_value("a", 1), "\xff"}), "input 1 is no serialized Summary",
                       InvalidArgument);
}
