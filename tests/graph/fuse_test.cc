// Elementwise runs as one step: that they give the bits of single steps, on every number of threads and with
// every kind of operand; which steps are fused, and which are left alone.
#include "graph/runtime/fuse.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/comparison_ops.h"
#include "ops/math_ops.h"
#include "ops/nn_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"

using namespace runnel;

namespace {

constexpr std::int64_t kLarge = (1 << 20) + 3, kSmall = 30000;

Tensor noise(std::int64_t n) {
  Tensor out(DType::kFloat, {n});
  std::uint32_t bits = 1;
  for (float& value : out.mutable_values<float>()) {
    bits = bits * 1664525u + 1013904223u;
    value = static_cast<float>(bits >> 8) / 4194304.0f - 2.0f;
  }
  return out;
}

Tensor part_of(const Tensor& all, std::int64_t begin, std::int64_t end) {
  const std::span<const float> values = all.values<float>();
  return Tensor::vector(std::vector<float>(values.begin() + begin, values.begin() + end));
}

// One output over n elements, from x and y.
using Chain = std::function<Output(const Output& x, const Output& y)>;

// What the chain gives when it runs on parts that are too small to be fused.
std::vector<float> by_parts(const Chain& chain, const Tensor& x, const Tensor& y) {
  Graph g;
  const Output a = placeholder<float>(g, {kUnknown}, "a"), b = placeholder<float>(g, {kUnknown}, "b");
  const Output z = chain(a, b);
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
  std::vector<float> out;
  for (std::int64_t at = 0; at < kLarge; at += kSmall) {
    const std::int64_t end = std::min(at + kSmall, kLarge);
    const Tensor part = session.run(z, {{a, part_of(x, at, end)}, {b, part_of(y, at, end)}});
    out.insert(out.end(), part.values<float>().begin(), part.values<float>().end());
  }
  return out;
}

// The chain over all elements, and its plan.
struct Whole {
  Graph g;
  Output a = placeholder<float>(g, {kLarge}, "a"), b = placeholder<float>(g, {kLarge}, "b");
  Output z;
  std::vector<Feed> feeds;
  explicit Whole(const Chain& chain) : z(chain(a, b)) {
    feeds = {{a, noise(kLarge)}, {b, part_of(noise(kLarge + 1), 1, kLarge + 1)}};
  }
  std::string plan(const Fetch& fetch) {
    Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
    return session.describe(std::span(&fetch, 1), feeds);
  }
};

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

void check_same_bits(const Chain& chain) {
  Whole whole(chain);
  CHECK(count(whole.plan(whole.z), "fused:") >= 1);
  const std::vector<float> expected = by_parts(chain, whole.feeds[0].value, whole.feeds[1].value);
  for (const int threads : {1, 2, 4}) {
    CAPTURE(threads);
    Session session(whole.g, {.intra_op_parallelism_threads = threads});
    for (int step = 0; step < 2; ++step) {
      const Tensor got = session.run(whole.z, {whole.feeds[0], whole.feeds[1]});
      CHECK(std::memcmp(got.data(), expected.data(), expected.size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace

TEST_CASE("a fused chain gives the bits of its steps on every number of threads") {
  check_same_bits([](const Output& x, const Output& y) {
    return sqrt(square(x * 1.5f + y) + 0.1f) / (exp(x) + abs(y)) - relu(tanh(y) * x);
  });
}

TEST_CASE("numbers on either side, values read twice and results of other widths are fused right") {
  check_same_bits([](const Output& x, const Output& y) {
    const Output twice = x + x, inverse = 1.0f / (square(y) + 2.0f);
    const Output larger = greater(twice, y), both = logical_and(larger, less(inverse, 0.4f));
    return select(logical_or(both, logical_not(larger)), twice * inverse, inverse - twice);
  });
}

TEST_CASE("a conversion to wider elements does not overwrite what it has not read") {
  check_same_bits([](const Output& x, const Output& y) {
    const Output flags = greater(x, y), wide = cast(flags, DType::kDouble) + 0.5;
    return cast(wide, DType::kFloat) * x;
  });
}

TEST_CASE("memory that dies inside a run is given to no other value of the run") {
  Graph g;
  const Output half = placeholder<bool>(g, {kLarge}, "half"), x = placeholder<float>(g, {2 * kLarge}, "x");
  const Output flags = concat({half, half}, 0);  // a byte each, in the arena
  const Output both = logical_and(logical_not(flags), flags), scaled = x * 2.0f + 1.0f;
  const Output most = reduce_max(scaled);
  Tensor bits(DType::kBool, {kLarge});
  for (std::int64_t i = 0; i < kLarge; ++i)
    bits.mutable_values<bool>()[static_cast<std::size_t>(i)] = i % 3 == 0;
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
  const auto [b, m] = session.run({both, most}, {{half, bits}, {x, noise(2 * kLarge)}});
  CHECK(std::ranges::count(b.values<bool>(), true) == 0);
  CHECK(m.scalar<float>() > 4);
}

TEST_CASE("values that many later steps need do not overflow the tile") {
  check_same_bits([](const Output& x, const Output& y) {
    std::vector<Output> kept;
    for (int k = 0; k < 12; ++k) kept.push_back(x * (0.5f + static_cast<float>(k)) + y);
    Output sum = y * 0.25f;
    for (int k = 0; k < 12; ++k) sum = sum * 0.5f + kept[static_cast<std::size_t>(k)];
    return sum;
  });
}

TEST_CASE("what only the run reads has no memory, and what others read has") {
  Whole inner([](const Output& x, const Output& y) { return reduce_sum((x * y + 1.0f) * 2.0f); });
  const std::string text = inner.plan(inner.z);
  CHECK(count(text, "fused:") == 1);
  CHECK(count(text, "-> float[1048579] tile") == 2);
  CHECK(count(text, "-> float[1048579] @0") == 1);
  Whole fetched([](const Output& x, const Output& y) { return (x * y + 1.0f) * 2.0f; });
  CHECK(count(fetched.plan(fetched.z), "-> float[1048579] buffer") == 1);
}

TEST_CASE("a value of the run that is fetched, or read through a view later, is right") {
  Whole whole([](const Output& x, const Output& y) { return (x * 2.0f + y) * y; });
  const Output sum = whole.z.node().input(0), doubled = sum.node().input(0);
  const Output later = reduce_max(reshape(sum, {1, kLarge}) * 0.5f);
  Session session(whole.g);
  const auto [z, d, most] = session.run({whole.z, doubled, later}, {whole.feeds[0], whole.feeds[1]});
  const std::span<const float> x = whole.feeds[0].value.values<float>(),
                               y = whole.feeds[1].value.values<float>();
  float expected = -100;
  for (std::size_t i = 0; i < x.size(); ++i) expected = std::max(expected, (x[i] * 2 + y[i]) * 0.5f);
  CHECK(most.scalar<float>() == expected);
  for (std::size_t i = 0; i < x.size(); i += 10001) {
    CHECK(d.values<float>()[i] == x[i] * 2);
    CHECK(z.values<float>()[i] == (x[i] * 2 + y[i]) * y[i]);
  }
}

TEST_CASE("an update of a variable stands between the runs before and after it") {
  Graph g;
  const Variable v = variable(g, noise(kLarge), "v");
  const Output before = (v * 2.0f + 1.0f) * 3.0f;
  const Output update = assign_add(v, before * 0.5f - 1.0f);
  Output after;
  {
    ControlDependencies wait(g, {Operation(update.node())});
    after = (v * 1.0f + 1.0f) * 2.0f;
  }
  Session session(g, {.intra_op_parallelism_threads = 2});
  session.run(initialize_global_variables(g));
  const float old = noise(kLarge).values<float>()[700000];
  const auto [b, a] = session.run({before, after});
  const float expected = (old * 2 + 1) * 3, now = old + (expected * 0.5f - 1);
  CHECK(b.values<float>()[700000] == expected);
  CHECK(a.values<float>()[700000] == (now + 1) * 2);
}

TEST_CASE("small tensors, stretched rows and steps that share nothing are left alone") {
  Graph g;
  const Output x = placeholder<float>(g, {kSmall}, "x"), wide = placeholder<float>(g, {1024, 1024}, "wide");
  const Output row = placeholder<float>(g, {1024}, "row");
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
  const std::vector<Feed> feeds{
      {x, noise(kSmall)}, {wide, noise(1 << 20).reshaped({1024, 1024})}, {row, noise(1024)}};
  for (const Output& y : {(x * 2.0f + 1.0f) * 3.0f, (wide + row) * row, reduce_sum(wide * 2.0f) + 1.0f}) {
    const Fetch fetch = y;
    CHECK(count(session.describe(std::span(&fetch, 1), feeds), "fused:") == 0);
  }
}

TEST_CASE("chains that run side by side are fused each by itself") {
  Whole whole([](const Output& x, const Output& y) {
    const Output a = reduce_sum(exp(exp(x * 0.1f + 1.0f) * 0.1f)), b = reduce_sum(exp(exp(y * 0.1f) - 1.0f));
    return a - b;
  });
  Session one(whole.g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
  Session two(whole.g, {.intra_op_parallelism_threads = 2, .inter_op_parallelism_threads = 2});
  const Fetch fetch = whole.z;
  const std::string text = two.describe(std::span(&fetch, 1), whole.feeds);
  CHECK(count(text, "chain 0: fused:") == 1);
  CHECK(count(text, "chain 1: fused:") == 1);
  const std::vector<Feed>& feeds = whole.feeds;
  CHECK(one.run(whole.z, {feeds[0], feeds[1]}) == two.run(whole.z, {feeds[0], feeds[1]}));
}
