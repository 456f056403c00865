// Batches: which examples are in them, in what order, and with what shapes.
#include "train/input/batch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/train/input/drained.h"
#include "train/input/input_producer.h"

using namespace runnel;

using Ints = std::vector<std::int32_t>;

namespace {

// 0 ... n - 1, one a run.
Output numbers(Graph& g, std::int32_t n) {
  return range_input_producer(g, n, {.num_epochs = 1, .shuffle = false}).dequeue();
}

Ints elements(const Tensor& tensor) {
  const auto values = tensor.values<std::int32_t>();
  return Ints(values.begin(), values.end());
}

Ints joined(const std::vector<Tensor>& batches) {
  Ints out;
  for (const Tensor& batch : batches)
    for (const std::int32_t value : elements(batch)) out.push_back(value);
  return out;
}

Ints sorted(Ints values) {
  std::sort(values.begin(), values.end());
  return values;
}

Ints up_to(int n) {
  Ints out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

TEST_CASE("one thread keeps the order, and what fills no batch is left out") {
  Graph g;
  const Output b = batch({numbers(g, 10)}, 4)[0];
  CHECK(b.shape() == Shape{4});
  const std::vector<Tensor> all = drained(b);
  REQUIRE(all.size() == 2);
  CHECK(elements(all[1]) == Ints{4, 5, 6, 7});
}

TEST_CASE("more threads than any machine has are refused before they are listed") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(1));
  CHECK_THROWS_WITH_AS(batch({x}, 4, {.num_threads = 1'000'000'000}),
                       "batch: num_threads is 1000000000; give 10000 or fewer", InvalidArgument);
  CHECK_THROWS_AS(
      shuffle_batch({x}, 4, {.capacity = 9, .min_after_dequeue = 2, .num_threads = 1'000'000'000}),
      InvalidArgument);
  CHECK_THROWS_WITH_AS(batch_join(std::vector<Outputs>(10001, {x}), 4),
                       "batch_join: 10001 lists, each with a thread; give 10000 or fewer", InvalidArgument);
}

TEST_CASE("a smaller final batch has what is left") {
  Graph g;
  const Output b = batch({numbers(g, 10)}, 4, {.allow_smaller_final_batch = true})[0];
  CHECK(b.shape() == Shape{kUnknown});
  const std::vector<Tensor> all = drained(b);
  REQUIRE(all.size() == 3);
  CHECK(elements(all[2]) == Ints{8, 9});
}

TEST_CASE("several threads bring each example once, in any order") {
  Graph g;
  const Output b = batch({numbers(g, 200)}, 10, {.num_threads = 4, .capacity = 15})[0];
  CHECK(sorted(joined(drained(b))) == up_to(200));
}

TEST_CASE("components of an example stay together, by name too") {
  Graph g;
  const Output x = numbers(g, 60);
  auto named = batch_by_name({{"x", x}, {"minus", -x}}, 6, {.num_threads = 3});
  CHECK(named.size() == 2);
  for (const Tensor& sum : drained(named["x"] + named["minus"])) CHECK(elements(sum) == Ints(6, 0));
}

TEST_CASE("with enqueue_many each run brings many examples") {
  Graph g;
  const Output x = numbers(g, 6);
  const Output pair = concat({expand_dims(x, 0), expand_dims(x, 0)}, 0);
  const Output b = batch({pair}, 3, {.enqueue_many = true})[0];
  CHECK(b.shape() == Shape{3});
  CHECK(joined(drained(b)) == Ints{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
}

TEST_CASE("a dynamic pad fills a batch up with zeros to its largest example") {
  Graph g;
  const Output x = numbers(g, 4);
  const Output ones = fill(expand_dims(x, 0), Tensor::scalar(std::int32_t{1}));
  const Output b = batch({ones}, 4, {.dynamic_pad = true})[0];
  CHECK(b.shape() == Shape{4, kUnknown});
  CHECK(elements(drained(b).at(0)) == Ints{0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1});
}

TEST_CASE("shapes that are not known are refused until they are said") {
  Graph g;
  const Output some = placeholder<float>(g, {kUnknown}, "some"),
               any = placeholder<float>(g, Shape::unknown(), "any");
  CHECK_THROWS_WITH_AS(batch({some}, 2),
                       "batch: examples of some:0 have the shape [?], which is not known in full; say it as "
                       "`shapes`, or batch with dynamic_pad",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(batch({any}, 2),
                       "batch: the rank of any:0 is not known; say the shapes of an example as `shapes`",
                       InvalidArgument);
  CHECK(batch({any}, 2, {.shapes = {Shape{3}}})[0].shape() == Shape{2, 3});
  CHECK(batch({some}, 2, {.dynamic_pad = true})[0].shape() == Shape{2, kUnknown});
  CHECK_THROWS_AS(batch({some}, 2, {.shapes = {Shape{3}, Shape{}}}), InvalidArgument);
  CHECK_THROWS_AS(batch({constant(g, Tensor::scalar(1.0f))}, 2, {.enqueue_many = true}), InvalidArgument);
}

TEST_CASE("what cannot be put into batches is refused") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(1.0f)), n = constant(g, Tensor::scalar(std::int32_t{1}));
  CHECK_THROWS_WITH_AS(batch({}, 2), "batch: there is no tensor to put into batches", InvalidArgument);
  CHECK_THROWS_WITH_AS(batch({x}, 2, {.num_threads = 0}), "batch: num_threads is 0; give 1 or more",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(batch_join({{x}, {n}}, 2), "batch_join: Const_1:0 is int32 where Const:0 is float",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(batch_join({{x}, {x, n}}, 2), "batch_join: one list has 1 tensors, another 2",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(shuffle_batch({x}, 2, {.capacity = 10, .min_after_dequeue = 10}),
                       "shuffle_batch: capacity is 10, min_after_dequeue 10; the capacity must be larger",
                       InvalidArgument);
}

TEST_CASE("batch_join mixes several sources, each example once") {
  Graph g;
  const Output low = numbers(g, 30), high = numbers(g, 30) + 30;
  CHECK(sorted(joined(drained(batch_join({{low}, {high}}, 5)[0]))) == up_to(60));
}

TEST_CASE("a shuffled batch has each example once, far from its place") {
  Graph g;
  const Output b =
      shuffle_batch({numbers(g, 100)}, 10, {.capacity = 80, .min_after_dequeue = 50, .seed = 1})[0];
  CHECK(b.shape() == Shape{10});
  const Ints all = joined(drained(b));
  CHECK(sorted(all) == up_to(100));
  CHECK(all != up_to(100));
  CHECK(*std::max_element(all.begin(), all.begin() + 30) > 50);
}

TEST_CASE("shuffled batches of several sources have each example once, the last one smaller") {
  Graph g;
  const Output low = numbers(g, 31), high = numbers(g, 31) + 31;
  const Output b = shuffle_batch_join(
      {{low}, {high}}, 10, {.capacity = 40, .min_after_dequeue = 20, .allow_smaller_final_batch = true})[0];
  const std::vector<Tensor> all = drained(b);
  CHECK(sorted(joined(all)) == up_to(62));
  CHECK(elements(all.back()).size() == 2);
}

TEST_CASE("a batch size may be a tensor of the graph") {
  Graph g;
  const Output n = constant(g, Tensor::scalar(std::int32_t{5}), {.name = "size"});
  const Output b = batch({numbers(g, 10)}, n)[0];
  CHECK(b.shape() == Shape{5});
  CHECK(drained(b).size() == 2);
}
