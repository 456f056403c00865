// Producers: what they hand out and how often, and the parts they add to the graph.
#include "train/input/input_producer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/train/input/drained.h"
#include "train/input/limit_epochs.h"

using namespace runnel;

using Strings = std::vector<std::string>;

TEST_CASE("limit_epochs hands its tensor out as often as it says, and no node is added without a limit") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(5.0f));
  CHECK(limit_epochs(x) == x);
  const Output limited = limit_epochs(x, 3);
  CHECK(limited.name() == "limit_epochs:0");
  CHECK(g.variables(keys::kLocalVariables).at(0).name() == "limit_epochs/epochs");
  const Operation init = initialize_local_variables(g);
  Session session(g);
  CHECK_THROWS_WITH_AS(session.run(limited),
                       "Attempting to use uninitialized value limit_epochs/epochs, read by CountUpTo "
                       "'limit_epochs/CountUpTo': run initialize_local_variables first",
                       FailedPrecondition);
  session.run(init);
  for (int i = 0; i < 3; ++i) CHECK(session.get<float>(limited) == 5.0f);
  CHECK_THROWS_AS(session.run(limited), OutOfRange);
  CHECK_THROWS_WITH_AS(limit_epochs(x, 0),
                       "limit_epochs of Const:0: num_epochs is 0; give 1 or more, or none for no limit",
                       InvalidArgument);
}

TEST_CASE("strings come in order, epoch after epoch, and then the queue is closed") {
  Graph g;
  const FIFOQueue queue = string_input_producer(g, {"a", "b", "c"}, {.num_epochs = 2, .shuffle = false});
  CHECK(queue.name() == "input_producer");
  CHECK(drained_scalars<std::string>(queue.dequeue()) == Strings{"a", "b", "c", "a", "b", "c"});
}

TEST_CASE("a tensor of no strings is refused by the producer of strings") {
  Graph g;
  CHECK_THROWS_WITH_AS(string_input_producer(constant(g, Tensor::vector<float>({1, 2}))),
                       "string_input_producer: Const:0 holds float, not strings", InvalidArgument);
}

TEST_CASE("shuffled strings are all there in each epoch") {
  Graph g;
  const FIFOQueue queue = string_input_producer(g, {"a", "b", "c", "d", "e"}, {.num_epochs = 20, .seed = 3});
  const Strings all = drained_scalars<std::string>(queue.dequeue());
  REQUIRE(all.size() == 100);
  std::set<Strings> orders;
  for (std::size_t epoch = 0; epoch < 20; ++epoch) {
    Strings order(all.begin() + static_cast<std::ptrdiff_t>(epoch) * 5,
                  all.begin() + static_cast<std::ptrdiff_t>(epoch) * 5 + 5);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    CHECK(order == Strings{"a", "b", "c", "d", "e"});
  }
  CHECK(orders.size() > 10);
}

TEST_CASE("without a limit there is no end") {
  Graph g;
  const FIFOQueue queue = string_input_producer(g, {"a", "b"}, {.shuffle = false, .capacity = 1});
  CHECK(drained_scalars<std::string>(queue.dequeue(), 500).size() == 500);
}

TEST_CASE("a producer without strings is refused, here or when it runs") {
  Graph g;
  CHECK_THROWS_WITH_AS(string_input_producer(g, {}),
                       "string_input_producer: there is no string to hand out; did a pattern match no file?",
                       InvalidArgument);
  const Output none = placeholder_with_default(constant(g, Tensor::vector(Strings{})), {kUnknown});
  string_input_producer(none, {.name = "files"});
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});
  Session session(g);
  Coordinator coord;
  start_queue_runners(session, &coord);
  coord.wait_for_stop();
  CHECK_THROWS_AS(coord.join(), InvalidArgument);
}

TEST_CASE("a range hands out its numbers, of a tensor or a number") {
  Graph g;
  const FIFOQueue queue = range_input_producer(g, 4, {.num_epochs = 1, .shuffle = false});
  CHECK(drained_scalars<std::int32_t>(queue.dequeue()) == std::vector<std::int32_t>{0, 1, 2, 3});
  Graph h;
  const FIFOQueue other =
      range_input_producer(constant(h, Tensor::scalar(std::int32_t{3})), {.num_epochs = 1, .seed = 1});
  std::vector<std::int32_t> all = drained_scalars<std::int32_t>(other.dequeue());
  std::sort(all.begin(), all.end());
  CHECK(all == std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("slices of several tensors are of the same place") {
  Graph g;
  const Output x = constant(g, Tensor::matrix<float>({{1, 10}, {2, 20}, {3, 30}}));
  const Output y = constant(g, Tensor::vector<float>({1, 2, 3}));
  const Outputs slices = slice_input_producer({x, y}, {.num_epochs = 5, .seed = 1});
  CHECK(slices[0].shape() == Shape{2});
  CHECK(slices[1].shape() == Shape{});
  const std::vector<Tensor> all = drained(slices[0] - slices[1]);
  CHECK(all.size() == 15);
  for (const Tensor& row : all) CHECK(row.values<float>()[0] == 0.0f);
  CHECK_THROWS_AS(slice_input_producer({}), InvalidArgument);
}

TEST_CASE("rows of an unknown shape are refused until it is said") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown, kUnknown}, "x");
  CHECK_THROWS_WITH_AS(
      input_producer(x),
      "input_producer: rows of x:0 have the shape [?], which is not known in full; say it as element_shape",
      InvalidArgument);
  CHECK(input_producer(x, {.element_shape = Shape{2}}).shapes() == std::vector<Shape>{Shape{2}});
  CHECK_THROWS_AS(input_producer(x, {.element_shape = Shape{}}), InvalidArgument);
  CHECK_THROWS_AS(input_producer(constant(g, Tensor::scalar(1.0f))), InvalidArgument);
}

TEST_CASE("a producer adds a runner, and a summary of how full its queue is") {
  Graph g;
  string_input_producer(g, {"a"}, {.capacity = 8, .name = "files"});
  CHECK(g.collection(keys::kQueueRunners).size() == 1);
  const Collection summaries = g.collection(keys::kSummaries);
  REQUIRE(summaries.size() == 1);
  CHECK(std::get<Output>(summaries[0]).name() == "files/fraction_of_8_full:0");
  input_producer(constant(g, Tensor::vector<float>({1})));
  CHECK(g.collection(keys::kQueueRunners).size() == 2);
  CHECK(g.collection(keys::kSummaries).size() == 1);
}

TEST_CASE("runners of a graph out of a file fill its queues, under a scope and when it is finalized") {
  Graph g;
  range_input_producer(g, 4, {.num_epochs = 1, .shuffle = false}).dequeue({.name = "next"});
  const std::string file = export_meta_graph_def(g);
  Graph h;
  import_meta_graph_def(h, file, {.import_scope = "m"});
  CHECK(drained_scalars<std::int32_t>(h.output("m/next:0")) == std::vector<std::int32_t>{0, 1, 2, 3});
  h.finalize();
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});
  Session session(h);
  Coordinator coord;
  CHECK(start_queue_runners(session, &coord).at(0).name() ==
        "QueueRunnerThread-m/input_producer-m/input_producer/input_producer_EnqueueMany");
  coord.wait_for_stop();  // local variables are not initialised
  CHECK_THROWS_AS(coord.join(), FailedPrecondition);
}
