// The orders of queues: at random with TensorFlow's numbers, padded, by priority.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "graph/graph.h"
#include "kernels/queue/rows.h"
#include "ops/ops.h"
#include "queue_probe.h"

using namespace runnel;

namespace {

Tensor numbers(std::int32_t n) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return Tensor::vector(out);
}

std::vector<std::int32_t> taken(Session& session, Output got, int n) {
  std::vector<std::int32_t> out;
  for (int i = 0; i < n; ++i) out.push_back(session.run(got).scalar<std::int32_t>());
  return out;
}

}  // namespace

// The numbers come from TensorFlow 2.21: RandomShuffleQueue(100, 0, [int32], shapes=[[]], seed=7), twelve
// elements in, five, a batch of five and two out; and set_random_seed(5) with seed=11 and three that stay.
TEST_CASE("shuffles as TensorFlow does for the same seeds") {
  Graph g;
  const RandomShuffleQueue q(g, 100, 0, {DType::kInt32}, {.shapes = {Shape{}}, .seed = 7});
  const Operation put = q.enqueue_many({numbers(12)});
  const Output got = q.dequeue(), five = q.dequeue_many(5);
  Session session(g);
  session.run(put);
  CHECK(taken(session, got, 5) == std::vector<std::int32_t>{3, 10, 5, 4, 0});
  CHECK(session.run(five) == Tensor::vector<std::int32_t>({8, 7, 6, 9, 1}));
  CHECK(taken(session, got, 2) == std::vector<std::int32_t>{11, 2});
}

TEST_CASE("keeps min_after_dequeue elements while it is open, and drains when it is closed") {
  Graph g({.seed = 5});
  const RandomShuffleQueue q(g, 100, 3, {DType::kInt32}, {.shapes = {Shape{}}, .seed = 11});
  const Operation put = q.enqueue_many({numbers(12)}), close = q.close();
  const Output got = q.dequeue();
  Session session(g);
  session.run(put);
  CHECK(taken(session, got, 9) == std::vector<std::int32_t>{6, 1, 11, 5, 2, 9, 4, 7, 10});
  CHECK_THROWS_AS(session.run(got, {}, {.timeout_in_ms = 1}), DeadlineExceeded);
  session.run(close);
  CHECK(taken(session, got, 3) == std::vector<std::int32_t>{0, 8, 3});
  CHECK_THROWS_AS(session.run(got), OutOfRange);
}

TEST_CASE("a shuffled queue without a seed gives all of its elements, in one order or another") {
  Graph g;
  const RandomShuffleQueue q(g, -1, 0, {DType::kInt32}, {.shapes = {Shape{}}});
  const Operation put = q.enqueue_many({numbers(50)});
  const Output got = q.dequeue();
  Session session(g);
  session.run(put);
  std::vector<std::int32_t> out = taken(session, got, 50);
  CHECK_FALSE(std::ranges::is_sorted(out));
  std::ranges::sort(out);
  CHECK(Tensor::vector(out) == numbers(50));
}

TEST_CASE("a graph's seed and a shared_name settle a shuffled queue's order, whatever its node is called") {
  Graph g({.seed = 5});
  const auto seed2 = [&](const char* shared, const char* name) {
    return RandomShuffleQueue(g, 9, 0, {DType::kInt32}, {.shared_name = shared, .name = name})
        .queue_ref()
        .node()
        .integer("seed2");
  };
  CHECK(seed2("s", "a") == seed2("s", "b"));
  CHECK(seed2("", "c") != seed2("", "d"));
}

TEST_CASE("a capacity that is not larger than what must stay is refused") {
  Graph g;
  const RandomShuffleQueue q(g, 3, 5, {DType::kInt32});
  const Output size = q.size();
  Session session(g);
  CHECK_THROWS_AS(session.run(size), InvalidArgument);
}

TEST_CASE("a padded batch takes the largest of its elements in each dimension and zeros for the rest") {
  Graph g;
  const PaddingFIFOQueue q(g, 9, {DType::kInt32, DType::kString}, {{kUnknown, 2}, {kUnknown}});
  const Output x = placeholder<std::int32_t>(g, {kUnknown, 2}, "x"),
               s = placeholder<std::string>(g, {kUnknown}, "s");
  const Operation put = q.enqueue({x, s}), close = q.close();
  const QueueItem two = q.dequeue_many(2), rest = q.dequeue_up_to(5);
  CHECK(two[0].shape() == Shape{2, kUnknown, 2});
  Session session(g);
  session.run(put,
              {{x, Tensor::matrix<std::int32_t>({{1, 2}})}, {s, Tensor::vector<std::string>({"a", "b"})}});
  session.run(put,
              {{x, Tensor::matrix<std::int32_t>({{3, 4}, {5, 6}})}, {s, Tensor(DType::kString, Shape{0})}});
  session.run(put, {{x, Tensor(DType::kInt32, {0, 2})}, {s, Tensor::vector<std::string>({"c"})}});
  session.run(close);
  const auto [padded, words] = session.run({two[0], two[1]});
  CHECK(padded == Tensor::from<std::int32_t>({2, 2, 2}, std::vector<std::int32_t>{1, 2, 0, 0, 3, 4, 5, 6}));
  CHECK(words == Tensor::from<std::string>({2, 2}, std::vector<std::string>{"a", "b", "", ""}));
  CHECK(session.run(rest[0]) == Tensor(DType::kInt32, {1, 0, 2}));
}

TEST_CASE("elements whose batch is too large for memory stay in the queue") {
  Graph g;
  const PaddingFIFOQueue q(g, 9, {DType::kUint8}, {{kUnknown, kUnknown}});
  const Output x = placeholder<std::uint8_t>(g, {kUnknown, kUnknown}, "x");
  const Operation put = q.enqueue({x});
  const QueueItem two = q.dequeue_many(2), one = q.dequeue();
  const Output size = q.size();
  Session session(g);
  constexpr std::int64_t kLong = 1 << 24;
  session.run(put, {{x, Tensor::zeros(DType::kUint8, {1, kLong})}});
  session.run(put, {{x, Tensor::zeros(DType::kUint8, {kLong, 1})}});
  CHECK_THROWS_AS(session.run(two[0]), ResourceExhausted);
  REQUIRE(session.get<std::int32_t>(size) == 2);
  CHECK(session.run(one[0]).shape() == Shape{1, kLong});
  CHECK(session.run(one[0]).shape() == Shape{kLong, 1});
}

TEST_CASE("padding puts an element of any rank into the corner of its place") {
  const Tensor small = Tensor::from<float>({1, 2, 1}, std::vector<float>{1, 2});
  const Tensor large = Tensor::from<float>({2, 1, 2}, std::vector<float>{3, 4, 5, 6});
  CHECK(
      batch_of(DType::kFloat, Shape::unknown_of_rank(3), {small, large}) ==
      Tensor::from<float>({2, 2, 2, 2}, std::vector<float>{1, 0, 2, 0, 0, 0, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0}));
  CHECK(batch_of(DType::kFloat, {kUnknown, 3}, {}).shape() == Shape{0, 0, 3});
  CHECK_THROWS_AS(batch_of(DType::kFloat, Shape::unknown(), {small, Tensor::scalar(1.0f)}), InvalidArgument);
}

// From TensorFlow 2.21, which leaves the order of equals to its heap.
TEST_CASE("the smallest priority comes first, and equals in TensorFlow's order") {
  Graph g;
  const PriorityQueue q(g, 100, {DType::kInt32}, {.shapes = {Shape{}}});
  const Operation put =
      q.enqueue_many({Tensor::vector<std::int64_t>({3, 1, 1, 2, 1, 3, 2, 1, 1, 2, 2}), numbers(11)});
  const QueueItem got = q.dequeue();
  CHECK(got[0].dtype() == DType::kInt64);
  Session session(g);
  session.run(put);
  CHECK(taken(session, got[1], 11) == std::vector<std::int32_t>{1, 2, 4, 7, 8, 6, 10, 3, 9, 0, 5});
}

TEST_CASE("a batch of a priority queue takes nothing before all of it is there") {
  Graph g;
  const PriorityQueue q(g, 5, {DType::kInt32}, {.shapes = {Shape{}}});
  const Output priority = placeholder<std::int64_t>(g, {}, "p");
  const Operation put = q.enqueue({priority, 7});
  const Output two = q.dequeue_many(2)[0];
  Session session(g);
  OnThread waits(session, two);
  await_waiting(session, q, 1);
  session.run(put, {{priority, Tensor::scalar<std::int64_t>(2)}});
  CHECK(session.run(q.size()) == Tensor::scalar(1));
  session.run(put, {{priority, Tensor::scalar<std::int64_t>(1)}});
  CHECK(waits.value() == Tensor::vector<std::int64_t>({1, 2}));
}
