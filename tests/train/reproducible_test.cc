// The same program gives the same bits: whatever else is in the graph, whatever number of threads, run after
// run (cases E10 and E12).
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "graph/io/memory_file_system.h"
#include "graph/runtime/session.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/train.h"

namespace {

using namespace runnel;

constexpr int kThreads[] = {1, 2, 3, 8};

Tensor drawn(bool with_others, int threads) {
  Graph g({.seed = 42});
  if (with_others) {
    const Output x = identity(constant(g, Tensor::scalar(1.0f)));
    for (const char* tag : {"a", "b", "c"}) summary::scalar(tag, x);
  }
  const Output y = random_normal<float>(g, Shape{1, 5}, 0.0f, 1.0f, {.name = "y"});
  Session session(g, {.intra_op_parallelism_threads = threads});
  return session.run(y);
}

TEST_CASE("summaries made before a random op change none of its numbers, nor do threads") {
  const Tensor alone = drawn(false, 1);
  CHECK(drawn(true, 1) == alone);
  CHECK(drawn(true, 8) == alone);
}

TEST_CASE("a million equal numbers have their mean, with the same bits for every number of threads") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output mean = reduce_mean(x);
  const Tensor values = Tensor::vector(std::vector<float>(1'000'000, 0.6931f));
  std::vector<float> results;
  for (const int threads : kThreads) {
    Session session(g, {.intra_op_parallelism_threads = threads});
    results.push_back(session.run(mean, {{x, values}}).scalar<float>());
  }
  CHECK(std::abs(results[0] - 0.6931f) < 1e-6f);
  CHECK(results == std::vector<float>(std::size(kThreads), results[0]));
}

TEST_CASE("twenty million ones add up to twenty million, for every number of threads") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output sum = reduce_sum(x);
  const Tensor ones = Tensor::vector(std::vector<float>(20'000'000, 1.0f));
  for (const int threads : kThreads) {
    CAPTURE(threads);
    Session session(g, {.intra_op_parallelism_threads = threads});
    CHECK(session.run(sum, {{x, ones}}).scalar<float>() == 20'000'000.0f);
  }
}

// The data file of 200 steps on a line.
std::string trained() {
  MemoryFileSystem files;
  files.make_directory("run");
  Graph g({.seed = 3});
  const Variable w = variable(random_uniform<float>(g, Shape{1}, -1.0f, 1.0f), "w");
  const Output loss =
      reduce_mean(square(w * Tensor::vector<float>({1, 2, 3}) - Tensor::vector<float>({2, 4, 6})));
  const Operation step = Adam(0.01f).minimize(loss);
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  for (int i = 0; i < 200; ++i) session.run(step);
  const std::string prefix = Saver(g).save(session, "run/line");
  std::string bytes;
  for (const char* end : {".index", ".data-00000-of-00001", ".meta"}) bytes += read_file(files, prefix + end);
  return bytes;
}

TEST_CASE("two runs of 200 steps save the same bytes") { CHECK(trained() == trained()); }

}  // namespace
