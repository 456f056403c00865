// What queues refuse, what they share, and old graphs' forms of their ops.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "queue_probe.h"

using namespace runnel;

TEST_CASE("components that do not fit are refused, here where shapes are known and else by the step") {
  Graph g;
  const FIFOQueue q(g, 5, {DType::kInt32, DType::kFloat}, {.shapes = {Shape{}, Shape{2}}, .name = "q"});
  const Output x = placeholder<float>(g, Shape::unknown(), "x");
  CHECK_THROWS_WITH_AS(q.enqueue({1}), "1 components are given, but queue 'q' holds 2", InvalidArgument);
  CHECK_THROWS_WITH_AS(q.enqueue({1, Tensor::vector<float>({1, 2, 3})}),
                       "component 1 has shape [3], but queue 'q' holds [2] there", InvalidArgument);
  CHECK_THROWS_AS(q.enqueue_many({1, x}), InvalidArgument);
  CHECK_THROWS_AS(q.enqueue({Tensor::scalar(1.0f), x}), InvalidArgument);
  const Operation one = q.enqueue({1, x}, {.name = "one"});
  const Operation many = q.enqueue_many({Tensor::vector<std::int32_t>({1}), x}, {.name = "many"});
  Session session(g);
  CHECK(
      refusal(session, one, {{x, Tensor::vector<float>({1, 2, 3})}}) ==
      "InvalidArgument: QueueEnqueueV2 'one': component 1 has shape [3], but FIFOQueue 'q' holds [2] there");
  CHECK(refusal(session, many, {{x, Tensor::scalar(1.0f)}}) ==
        "InvalidArgument: QueueEnqueueManyV2 'many': component 1 is a scalar, not a batch of elements for "
        "FIFOQueue 'q'");
  CHECK(refusal(session, many, {{x, Tensor::zeros(DType::kFloat, {2, 2})}}) ==
        "InvalidArgument: QueueEnqueueManyV2 'many': the batch for FIFOQueue 'q' has 1 elements in component "
        "0 and 2 in component 1");
}

TEST_CASE(
    "a batch of scalars, or of two lengths, is refused when built, whether the queue has shapes or not") {
  Graph g;
  const FIFOQueue q(g, 5, {DType::kInt32, DType::kInt32}, {.name = "q"});
  const Tensor one = Tensor::vector<std::int32_t>({1}), two = Tensor::vector<std::int32_t>({1, 2});
  CHECK_THROWS_WITH_AS(q.enqueue_many({one, 1}),
                       "component 1 is a scalar, not a batch of elements for queue 'q'", InvalidArgument);
  CHECK_THROWS_WITH_AS(q.enqueue_many({one, two}),
                       "the batch for queue 'q' has 1 elements in one component and 2 in component 1",
                       InvalidArgument);
  CHECK_NOTHROW(q.enqueue({one, 1}));
}

TEST_CASE("a queue that pads wants a shape for each component") {
  Graph g;
  const std::vector<DType> types{DType::kInt32, DType::kInt32};
  CHECK_THROWS_WITH_AS(PaddingFIFOQueue(g, 5, types, {}, {.name = "p"}),
                       "PaddingFIFOQueueV2 'p': no shapes are given; a queue that pads wants one a component",
                       InvalidArgument);
  CHECK_THROWS_AS(PaddingFIFOQueue(g, 5, types, {Shape{}}), InvalidArgument);
  const Output raw = g.add("PaddingFIFOQueueV2", {}, {{"component_types", types}}, "raw");
  Session session(g);
  CHECK(refusal(session, QueueBase(raw).size()) ==
        "InvalidArgument: PaddingFIFOQueueV2 'raw': there are no shapes: give one for each component");
}

TEST_CASE("a capacity that no int32 can count is refused, in graphs of others by the step") {
  Graph g;
  const std::vector<DType> types{DType::kInt32};
  const std::int64_t large = std::int64_t{1} << 31;
  CHECK_THROWS_WITH_AS(FIFOQueue(g, large, types, {.name = "q"}),
                       "FIFOQueueV2 'q': the capacity is 2147483648; at most 2147483647 elements can be "
                       "counted, and -1 means no bound",
                       InvalidArgument);
  CHECK_THROWS_AS(RandomShuffleQueue(g, -large - 1, 0, types), InvalidArgument);
  const Output largest = FIFOQueue(g, large - 1, types).size();
  const Output raw = g.add("FIFOQueueV2", {}, {{"component_types", types}, {"capacity", large}}, "raw");
  const Output unmixed = RandomShuffleQueue(g, -1, large, types, {.name = "mixed"}).size();
  Session session(g);
  CHECK(session.run(largest) == Tensor::scalar(0));
  CHECK(refusal(session, QueueBase(raw).size())
            .starts_with("InvalidArgument: FIFOQueueV2 'raw': the capacity"));
  CHECK(
      refusal(session, unmixed).starts_with("InvalidArgument: RandomShuffleQueueV2 'mixed': the min_after"));
}

TEST_CASE("a reader takes names from a queue of single strings alone") {
  Graph g;
  const TextLineReader reader(g);
  const FIFOQueue numbers(g, 5, {DType::kInt32}, {.name = "q"});
  CHECK_THROWS_WITH_AS(reader.read(numbers),
                       "a reader takes names from a queue of single strings, which queue 'q' is not",
                       InvalidArgument);
  const FIFOQueue pairs(g, 5, {DType::kString, DType::kString});
  CHECK_THROWS_AS(reader.read_up_to(pairs, 2), InvalidArgument);
  const FIFOQueue rows(g, 5, {DType::kString}, {.shapes = {Shape{2}}});
  CHECK_THROWS_AS(reader.read(rows), InvalidArgument);
}

TEST_CASE("what is taken must be what the queue holds, and n at least zero") {
  Graph g;
  const FIFOQueue q(g, 5, {DType::kInt32}, {.shapes = {Shape{}}, .name = "q"});
  const Node& wrong =
      g.add("QueueDequeueV2", {q.queue_ref()}, {{"component_types", std::vector{DType::kFloat}}}, "d");
  const Output negative = q.dequeue_many(-1);
  Session session(g);
  CHECK(refusal(session, wrong.output(0)) ==
        "InvalidArgument: QueueDequeueV2 'd': component 0 is asked for as float, but FIFOQueue 'q' holds "
        "int32 there");
  CHECK(refusal(session, negative) ==
        "InvalidArgument: QueueDequeueManyV2 'q_DequeueMany': -1 elements were asked of FIFOQueue 'q'; n "
        "must be at least 0");
}

TEST_CASE("a queue of one shared_name is one queue, if both nodes say the same of it") {
  Graph g;
  const std::vector<DType> ints{DType::kInt32};
  const FIFOQueue a(g, 5, ints, {.shared_name = "common"}), b(g, 5, ints, {.shared_name = "common"});
  const FIFOQueue larger(g, 6, ints, {.shared_name = "common", .name = "larger"});
  const RandomShuffleQueue mixed(g, 5, 1, ints, {.shared_name = "common", .name = "mixed"});
  const Operation put = a.enqueue({3});
  const Output got = b.dequeue();
  Session session(g);
  session.run(put);
  CHECK(session.run(got) == Tensor::scalar(3));
  CHECK(refusal(session, larger.size()) ==
        "InvalidArgument: FIFOQueueV2 'larger': Shared queue 'common' has capacity 5, but capacity 6 was "
        "asked for: give one of them another shared_name");
  CHECK(refusal(session, mixed.size()).find("has type FIFOQueue, but type RandomShuffleQueue") !=
        std::string::npos);
}

TEST_CASE("a handle that is fed or is no queue's is refused") {
  Graph g;
  const Output fed = g.add("Placeholder", {}, {{"dtype", DType::kString}, {"shape", Shape{2}}}, "handle");
  CHECK_THROWS_AS(QueueBase{fed}, InvalidArgument);
  const FIFOQueue q(g, 5, {DType::kInt32});
  const Output old = g.add("FIFOQueue", {}, {{"component_types", std::vector{DType::kInt32}}}, "old");
  const Output size = QueueBase(old).size();
  Session session(g);
  CHECK(session.run(size) == Tensor::scalar(0));
  CHECK(refusal(session, size, {{old, Tensor::vector<std::string>({"", "old"})}})
            .find("handle is no handle that a node of this graph makes") != std::string::npos);
}

TEST_CASE("a queue cannot be fetched, only what is in it") {
  Graph g;
  const FIFOQueue q(g, 5, {DType::kInt32});
  Session session(g);
  CHECK_THROWS_AS(session.run(q.queue_ref()), Unimplemented);
  CHECK(session.run(q.size()) == Tensor::scalar(0));
}

TEST_CASE("the ops of old graphs do the same behind string handles") {
  Graph g;
  const Output handle = g.add(
      "FIFOQueue", {},
      {{"component_types", std::vector{DType::kInt32}}, {"shapes", std::vector{Shape{}}}, {"capacity", 9}},
      "old");
  const QueueBase q(g.add("RefIdentity", {handle}).output(0));
  const Operation put = q.enqueue_many({Tensor::vector<std::int32_t>({1, 2, 3, 4})}), close = q.close();
  const Output one = q.dequeue(), two = q.dequeue_many(2), rest = q.dequeue_up_to(5);
  CHECK(put.node().op() == "QueueEnqueueMany");
  Session session(g);
  CHECK(session.run(handle) == Tensor::vector<std::string>({"", "old"}));
  session.run(put);
  CHECK(session.run(one) == Tensor::scalar(1));
  CHECK(session.run(two) == Tensor::vector<std::int32_t>({2, 3}));
  session.run(close);
  CHECK(session.run(rest) == Tensor::vector<std::int32_t>({4}));
  CHECK(session.run(q.is_closed()).scalar<bool>());
}

TEST_CASE("a large tensor goes through a queue without a copy") {
  Graph g;
  const FIFOQueue q(g, 5, {DType::kFloat}, {.shapes = {Shape{1000}}});
  const Output x = placeholder<float>(g, {1000}, "x");
  const Operation put = q.enqueue({x});
  const Output got = q.dequeue();
  Session session(g);
  Tensor in = Tensor::zeros(DType::kFloat, Shape{1000});
  session.run(put, {{x, in}});
  CHECK(session.run(got).data() == in.data());
  session.run(put, {{x, in}});
  in.mutable_values<float>()[0] = 1;  // who fed it may write it afterwards
  CHECK(session.run(got).values<float>()[0] == 0);
}

TEST_CASE("a counter in front of an enqueue counts each element, and ends the filling at its limit") {
  Graph g;
  const Variable v = variable(g, std::int64_t{0}, "epochs");
  const Output count = g.add("CountUpTo", {v.parts().variable}, {{"limit", 3}}, "count");
  const FIFOQueue q(g, 5, {DType::kInt64}, {.shapes = {Shape{}}});
  const Operation put = q.enqueue({count}), init = initialize_global_variables(g);
  const Output all = q.dequeue_many(3);
  Session session(g);
  session.run(init);
  for (int i = 0; i < 3; ++i) session.run(put);
  CHECK_THROWS_AS(session.run(put), OutOfRange);
  CHECK(session.run(all) == Tensor::vector<std::int64_t>({0, 1, 2}));
}

TEST_CASE("a graph with a queue goes out as a file and comes in again with its shapes") {
  Graph g, again;
  const PaddingFIFOQueue q(g, 5, {DType::kInt32, DType::kString}, {{kUnknown}, {}}, {.name = "q"});
  const Output batch = q.dequeue_many(4)[0];
  again.import_graph_def(g.to_graph_def());
  CHECK(again.output(batch.name()).shape() == Shape{4, kUnknown});
  const QueueBase found(again.output("q:0"));
  CHECK(found.dtypes() == q.dtypes());
  CHECK(found.shapes() == q.shapes());
}
