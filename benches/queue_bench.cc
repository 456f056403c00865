// What queues cost: an element in and out in steps of their own and in one step, a thread that fills while
// another empties, and batches. `tf_queue.py` does the same in TensorFlow. Nothing here checks results; tests
// do.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"

namespace runnel::benches {
namespace {

constexpr SessionOptions kOneThread{.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1};

// A FIFO queue of vectors of `floats`, and the steps on it.
struct Line {
  Graph g;
  FIFOQueue queue;
  Operation put;
  Output taken;
  Line(std::int64_t capacity, std::int64_t floats)
      : queue(g, capacity, {DType::kFloat}, {.shapes = {Shape{floats}}}),
        put(queue.enqueue({Tensor::zeros(DType::kFloat, Shape{floats})})),
        taken(queue.dequeue()) {}
};

void in_and_out(benchmark::State& state) {
  Line line(10, state.range(0));
  Session session(line.g, kOneThread);
  Prepared put = session.prepare({.fetches = {line.put}}), take = session.prepare({.fetches = {line.taken}});
  for (auto _ : state) {
    put();
    benchmark::DoNotOptimize(take()[0].data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(in_and_out)->Arg(1)->Arg(1000);

void in_and_out_in_one_step(benchmark::State& state) {
  Line line(10, 1);
  Session session(line.g, kOneThread);
  Prepared both = session.prepare({.fetches = {line.put, line.taken}});
  for (auto _ : state) benchmark::DoNotOptimize(both()[1].data());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(in_and_out_in_one_step);

// One thread fills, this one empties.
void across_threads(benchmark::State& state) {
  Line line(32, 1000);
  const Operation stop = line.queue.close({.cancel_pending_enqueues = true});
  Session session(line.g, kOneThread);
  std::thread fills([&] {
    Prepared put = session.prepare({.fetches = {line.put}});
    try {
      for (;;) put();
    } catch (const Cancelled&) {  // the measuring is over
    }
  });
  Prepared take = session.prepare({.fetches = {line.taken}});
  for (auto _ : state) benchmark::DoNotOptimize(take()[0].data());
  session.run(stop);
  fills.join();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(across_threads)->UseRealTime();

// A batch of 128 vectors in, and out again, split into elements in between.
void batches(benchmark::State& state) {
  Graph g;
  const FIFOQueue queue(g, 256, {DType::kFloat}, {.shapes = {Shape{784}}});
  const Operation put = queue.enqueue_many({Tensor::zeros(DType::kFloat, {128, 784})});
  const Output taken = queue.dequeue_many(128);
  Session session(g, kOneThread);
  Prepared fill = session.prepare({.fetches = {put}}), take = session.prepare({.fetches = {taken}});
  for (auto _ : state) {
    fill();
    benchmark::DoNotOptimize(take()[0].data());
  }
  state.SetItemsProcessed(state.iterations() * 128);
}
BENCHMARK(batches);

}  // namespace
}  // namespace runnel::benches

BENCHMARK_MAIN();
