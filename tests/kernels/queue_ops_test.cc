// What FIFO queues do: order, waiting, batches, closing, and what is refused.
#include "ops/queue_ops.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "queue_probe.h"
#include "tests/graph/scratch_directory.h"
#include "train/checkpoint/saver.h"

using namespace runnel;

namespace {

// A queue of int32 scalars with the ops that tests use.
struct Ints {
  Graph g;
  FIFOQueue queue;
  Output x = placeholder<std::int32_t>(g, {}, "x"), xs = placeholder<std::int32_t>(g, {kUnknown}, "xs");
  Operation put = queue.enqueue({x}), put_many = queue.enqueue_many({xs}), close = queue.close();
  Output got = queue.dequeue(), size = queue.size(), closed = queue.is_closed();
  Session session{g};

  explicit Ints(std::int64_t capacity)
      : queue(g, capacity, {DType::kInt32}, {.shapes = {Shape{}}, .name = "q"}) {}
  void fill(const std::vector<std::int32_t>& values) {
    session.run(put_many, {{xs, Tensor::vector(values)}});
  }
  std::int32_t take() { return session.run(got).scalar<std::int32_t>(); }
  std::int32_t count() { return session.run(size).scalar<std::int32_t>(); }
};

}  // namespace

TEST_CASE("what went in first comes out first, alone and in batches") {
  Ints f(10);
  const Output three = f.queue.dequeue_many(3);
  CHECK(three.shape() == Shape{3});
  f.fill({1, 2, 3, 4, 5});
  f.session.run(f.put, {{f.x, Tensor::scalar(6)}});
  CHECK(f.count() == 6);
  CHECK(f.take() == 1);
  CHECK(f.session.run(three) == Tensor::vector<std::int32_t>({2, 3, 4}));
  CHECK(f.take() == 5);
  CHECK(f.count() == 1);
}

TEST_CASE("nodes are named after the queue as TensorFlow names them") {
  Graph g;
  const NameScope scope(g, "in");
  const FIFOQueue queue(g, 3, {DType::kInt32}, {.shapes = {Shape{}}});
  CHECK(queue.name() == "in/fifo_queue");
  const Operation put = queue.enqueue({1});
  CHECK(put.name() == "in/fifo_queue_enqueue");
  CHECK(put.node().input(1).name() == "in/fifo_queue_enqueue/component_0:0");
  CHECK(queue.enqueue({2}).name() == "in/fifo_queue_enqueue_1");
  CHECK(queue.enqueue_many({Tensor::vector<std::int32_t>({1})}).name() == "in/fifo_queue_EnqueueMany");
  CHECK(queue.dequeue()[0].name() == "in/fifo_queue_Dequeue:0");
  CHECK(queue.dequeue_many(2)[0].node().input(1).name() == "in/fifo_queue_DequeueMany/n:0");
  CHECK(queue.dequeue_up_to(2)[0].name() == "in/fifo_queue_DequeueUpTo:0");
  CHECK(queue.size().name() == "in/fifo_queue_Size:0");
  CHECK(queue.is_closed().name() == "in/fifo_queue_Is_Closed:0");
  CHECK(queue.close().name() == "in/fifo_queue_Close");
}

TEST_CASE("rows of a batch go in one at a time as room appears") {
  Ints f(2);
  const Operation five = f.queue.enqueue_many({Tensor::vector<std::int32_t>({1, 2, 3, 4, 5})});
  OnThread waits(f.session, five);
  await_waiting(f.session, f.queue, 1);
  CHECK(f.count() == 2);
  for (int i = 1; i <= 5; ++i) CHECK(f.take() == i);
  CHECK(waits.failed() == Code{});
}

TEST_CASE("the one who waits first is served first, and others wait behind") {
  Ints f(10);
  const Output three = f.queue.dequeue_many(3);
  f.count();
  OnThread first(f.session, three);
  await_waiting(f.session, f.queue, 1);
  f.fill({1, 2});
  CHECK(f.count() == 0);  // they are taken already
  OnThread second(f.session, f.got);
  await_waiting(f.session, f.queue, 2);
  f.fill({3, 4});
  CHECK(first.value() == Tensor::vector<std::int32_t>({1, 2, 3}));
  CHECK(second.value() == Tensor::scalar(4));
}

TEST_CASE("a batch that the closed queue cannot fill puts back what it had taken") {
  Ints f(10);
  const Output three = f.queue.dequeue_many(3);
  OnThread waits(f.session, three);
  await_waiting(f.session, f.queue, 1);
  f.fill({1, 2});
  f.session.run(f.close);
  CHECK(waits.failed() == Code::kOutOfRange);
  CHECK(waits.text() ==
        "QueueDequeueManyV2 'q_DequeueMany': FIFOQueue 'q' is closed and has insufficient elements "
        "(requested 3, current size 2)");
  CHECK(f.take() == 1);
  CHECK(f.take() == 2);
  CHECK(refusal(f.session, f.got) ==
        "OutOfRange: QueueDequeueV2 'q_Dequeue': FIFOQueue 'q' is closed and has insufficient elements "
        "(requested 1, current size 0)");
}

TEST_CASE("up to n waits for n while the queue is open, and takes what is left once it is closed") {
  Ints f(10);
  const Output some = f.queue.dequeue_up_to(3);
  CHECK(some.shape() == Shape{kUnknown});
  OnThread waits(f.session, some);
  await_waiting(f.session, f.queue, 1);
  f.fill({1, 2, 3, 4, 5});
  CHECK(waits.value() == Tensor::vector<std::int32_t>({1, 2, 3}));
  f.session.run(f.close);
  CHECK(f.session.run(some) == Tensor::vector<std::int32_t>({4, 5}));
  CHECK(refusal(f.session, some).starts_with("OutOfRange: "));
}

TEST_CASE("closing waits for the enqueues before it, and a second closing is refused") {
  Ints f(1);
  f.fill({1});
  const Operation put = f.queue.enqueue({2});
  OnThread puts(f.session, put);
  await_waiting(f.session, f.queue, 1);
  OnThread closes(f.session, f.close);
  await_waiting(f.session, f.queue, 2);
  CHECK_FALSE(f.session.run(f.closed).scalar<bool>());
  CHECK(f.take() == 1);
  CHECK(puts.failed() == Code{});
  CHECK(closes.failed() == Code{});
  CHECK(f.session.run(f.closed).scalar<bool>());
  CHECK(f.take() == 2);
  CHECK(refusal(f.session, f.close) == "Cancelled: QueueCloseV2 'q_Close': FIFOQueue 'q' is already closed.");
  CHECK(refusal(f.session, put) == "Cancelled: QueueEnqueueV2 'q_enqueue_1': FIFOQueue 'q' is closed.");
}

TEST_CASE("closing with cancel_pending_enqueues ends enqueues that wait, at once and as often as asked") {
  Ints f(1);
  f.fill({1});
  const Operation put = f.queue.enqueue({2}), cancel = f.queue.close({.cancel_pending_enqueues = true});
  OnThread puts(f.session, put);
  await_waiting(f.session, f.queue, 1);
  f.session.run(cancel);
  CHECK(puts.failed() == Code::kCancelled);
  CHECK(puts.text() ==
        "QueueEnqueueV2 'q_enqueue_1': Enqueue operation was cancelled on FIFOQueue 'q', which was closed");
  f.session.run(cancel);
  CHECK(f.take() == 1);
}

TEST_CASE("a step that holds an enqueue and the dequeue that waits for it ends on one thread") {
  Graph g;
  const FIFOQueue queue(g, 1, {DType::kFloat}, {.shapes = {Shape{}}});
  const Output got = queue.dequeue();
  const Operation put = queue.enqueue({5.0f});
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
  for (int i = 0; i < 3; ++i) {
    const auto [value, none] = session.run({got, put});
    CHECK(value == Tensor::scalar(5.0f));
  }
}

TEST_CASE("a dequeue that waits blocks no snapshot and no save, though its step will write the variable") {
  Graph g;
  const FIFOQueue queue(g, 1, {DType::kFloat}, {.shapes = {Shape{}}});
  const Variable v = variable(g, 1.0f, "v");
  const Operation update(assign_add(v, Output(queue.dequeue())).node());
  const Operation put = queue.enqueue({2.0f}), init = initialize_global_variables(g);
  Saver saver(g);
  Session session(g);
  session.run(init);
  OnThread waits(session, update);
  await_waiting(session, queue, 1);
  const std::vector<Variable> variables{v};
  CHECK(session.snapshot(variables)[0] == Tensor::scalar(1.0f));
  const ScratchDirectory scratch;
  CHECK(saver.save(session, scratch / "model") == scratch / "model");
  session.run(put);
  CHECK(waits.failed() == Code{});
  CHECK(session.get<float>(v) == 3);
}

TEST_CASE("an attempt whose time is up is forgotten, and gives back what it had taken") {
  Ints f(10);
  const Output three = f.queue.dequeue_many(3);
  f.fill({1, 2});
  CHECK_THROWS_AS(f.session.run(three, {}, {.timeout_in_ms = 1}), DeadlineExceeded);
  CHECK(queue_in(f.session, f.queue)->waiting() == 0);
  CHECK(f.count() == 2);
  CHECK(f.take() == 1);
}

TEST_CASE("a prepared call goes on after one that waited in vain, and what it gave before stays as it was") {
  Ints f(10);
  Prepared take = f.session.prepare({.fetches = {f.got}}),
           put = f.session.prepare({.feeds = {f.x}, .fetches = {f.put}});
  Tensor first;
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS(take({}, {.timeout_in_ms = 1}), DeadlineExceeded);
    put({Tensor::scalar(i)});
    const Tensor got = take()[0];
    CHECK(got == Tensor::scalar(i));
    if (i == 0) first = got;
  }
  CHECK(first == Tensor::scalar(0));
}

TEST_CASE("two dequeues of one step take two elements, whichever of them had to wait") {
  Ints f(10);
  const Output other = f.queue.dequeue();
  f.fill({1});
  const std::vector<Fetch> both{f.got, other};
  std::vector<Tensor> got;
  std::jthread waits([&] { got = f.session.run(both); });
  await_waiting(f.session, f.queue, 1);
  f.fill({2});
  waits.join();
  CHECK(got[0].scalar<std::int32_t>() + got[1].scalar<std::int32_t>() == 3);
}

TEST_CASE("batches of zero elements go in and come out at once, of a closed queue too") {
  Ints f(1);
  const Output none = f.queue.dequeue_many(0);
  f.fill({});
  CHECK(f.session.run(none) == Tensor(DType::kInt32, Shape{0}));
  f.session.run(f.close);
  f.fill({});
  CHECK(f.session.run(none) == Tensor(DType::kInt32, Shape{0}));
}

TEST_CASE("a queue without a bound takes all, and one of capacity zero nothing") {
  Ints f(-1), none(0);
  f.fill(std::vector<std::int32_t>(1000, 7));
  CHECK(f.count() == 1000);
  CHECK_THROWS_AS(none.session.run(none.queue.enqueue({1}), {}, {.timeout_in_ms = 1}), DeadlineExceeded);
}

TEST_CASE("components may be strings and of any shape, and have names") {
  Graph g;
  const FIFOQueue queue(g, 3, {DType::kString, DType::kFloat}, {.names = {"key", "value"}});
  const Output value = placeholder<float>(g, Shape::unknown(), "value");
  const Operation put = queue.enqueue({{"value", value}, {"key", Tensor::scalar("a")}});
  const QueueItem item = queue.dequeue();
  CHECK(item.by_name().at("key") == item[0]);
  CHECK_FALSE(item["value"].shape().has_rank());
  CHECK_THROWS_AS(queue.enqueue({value, value}), InvalidArgument);
  CHECK_THROWS_AS(queue.enqueue({{"value", value}}), InvalidArgument);
  Session session(g);
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}}) {
    session.run(put, {{value, Tensor::zeros(DType::kFloat, shape)}});
    const auto [key, got] = session.run({item["key"], item["value"]});
    CHECK(key == Tensor::scalar("a"));
    CHECK(got == Tensor::zeros(DType::kFloat, shape));
  }
  CHECK(refusal(session, queue.dequeue_many(1)[0]).starts_with("InvalidArgument: QueueDequeueManyV2 "));
}
