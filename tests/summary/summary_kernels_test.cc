// Summary ops in a session: the bytes that TensorFlow's give, and what happens to values that are not finite.
#include <doctest/doctest.h>

#include <cmath>

#include "graph/float16.h"
#include "graph/graph.h"
#include "graph/log.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "runnel/summary.pb.h"
#include "summary/summary_ops.h"
#include "summary/values/value.h"

using namespace runnel;

namespace {

std::string evaluate(const Output& summary, std::initializer_list<Feed> feeds = {}) {
  Session session(summary.graph());
  return session.run(summary, feeds).scalar<std::string>();
}

template <class T>
std::string scalar_of(T value) {
  Graph g;
  return evaluate(summary::scalar("s", constant(g, Tensor::scalar(value), {})));
}

template <class T>
pb::HistogramProto histogram_of_two(T one = 1, T three = 3) {
  Graph g;
  const Output values = constant(g, Tensor::vector<T>({one, three}), {});
  pb::Summary summary;
  REQUIRE(summary.ParseFromString(evaluate(summary::histogram("h", values))));
  return summary.value(0).histo();
}

}  // namespace

TEST_CASE("a scalar of every type becomes its value as float") {
  CHECK(scalar_of(0.1f) == scalar_value("s", 0.1f));
  CHECK(scalar_of(0.1) == scalar_value("s", 0.1f));
  CHECK(scalar_of(std::int64_t{3}) == scalar_value("s", 3));
  CHECK(scalar_of(std::uint8_t{200}) == scalar_value("s", 200));
  CHECK(scalar_of(std::int16_t{-7}) == scalar_value("s", -7));
  CHECK(scalar_of(nearest_half(0.1)) == scalar_value("s", 0x1.998p-4f));
  CHECK(scalar_of(nearest_bfloat16(0.1)) == scalar_value("s", 0x1.9ap-4f));
  CHECK(scalar_of(NAN) == scalar_value("s", NAN));
}

TEST_CASE("a histogram of every type counts the same numbers") {
  const std::string want = histogram_of_two<float>().SerializeAsString();
  CHECK(histogram_of_two<double>().SerializeAsString() == want);
  CHECK(histogram_of_two<std::int32_t>().SerializeAsString() == want);
  CHECK(histogram_of_two<std::uint64_t>().SerializeAsString() == want);
  CHECK(histogram_of_two<std::int8_t>().sum_squares() == 10);
  CHECK(histogram_of_two(nearest_half(1), nearest_half(3)).SerializeAsString() == want);
  CHECK(histogram_of_two(nearest_bfloat16(1), nearest_bfloat16(3)).SerializeAsString() == want);
}

TEST_CASE("a histogram of no elements is written as one empty bucket") {
  Graph g;
  const Output values = constant(g, Tensor::zeros(DType::kFloat, Shape{0, 3}), {});
  CHECK(evaluate(summary::histogram("h", values)) ==
        histogram_value("h", histogram_of(std::span<const float>())));
}

TEST_CASE("merged summaries of a step hold all values in order") {
  Graph g;
  const Output x = placeholder<float>(g, Shape{}, "x");
  summary::scalar("a", x);
  summary::histogram("b", x);
  pb::Summary summary;
  REQUIRE(summary.ParseFromString(evaluate(summary::merge_all(g), {{x, Tensor::scalar(2.5f)}})));
  REQUIRE(summary.value_size() == 2);
  CHECK(summary.value(0).simple_value() == 2.5f);
  CHECK(summary.value(1).tag() == "b");
  CHECK(summary.value(1).histo().max() == 2.5);
}

TEST_CASE("NaN in a histogram does not end the step; it is logged once for all steps of a plan") {
  Graph g;
  int lines = 0;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) {
    CHECK(line == "histogram 'h': 1 NaN, 0 +Inf, 1 -Inf left out; this is said once");
    ++lines;
  });
  const Output x = placeholder<float>(g, Shape{3}, "x");
  const Output h = summary::histogram("h", x);
  Session session(g);
  for (int i = 0; i < 3; ++i) session.run(h, {{x, Tensor::vector({1.0f, NAN, -INFINITY})}});
  CHECK(lines == 1);
}

TEST_CASE("a strict histogram ends the step with tag and counts") {
  Graph g;
  const Output values = constant(g, Tensor::vector({1.0f, NAN}), {});
  CHECK_THROWS_WITH_AS(evaluate(summary::histogram("h", values, {.strict = true})),
                       "HistogramSummary 'h': histogram 'h': 1 NaN, 0 +Inf, 0 -Inf", InvalidArgument);
}

TEST_CASE("a scalar fed with another shape is refused by the step") {
  Graph g;
  const Output x = placeholder<float>(g, Shape::unknown(), "x");
  CHECK_THROWS_AS(evaluate(summary::scalar("s", x), {{x, Tensor::vector({1.0f, 2.0f})}}), InvalidArgument);
}

TEST_CASE("a tag that occurs twice is refused by the merging step") {
  Graph g;
  const Output x = placeholder(g, DType::kString, Shape{}, "x");
  const Output merged = summary::merge({x, summary::scalar("a", constant(g, Tensor::scalar(1.0f), {}))});
  CHECK_THROWS_WITH_AS(evaluate(merged, {{x, Tensor::scalar(scalar_value("a", 2))}}),
                       "MergeSummary 'Merge/MergeSummary': tag 'a' occurs twice among the summaries to merge",
                       InvalidArgument);
}
