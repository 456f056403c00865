// What a step costs: prepared calls of the models on one thread, plain Session::run, the same under a
// monitored session, and our matrix product beside OpenBLAS called directly. Prints the BLAS kernel that ran:
// times of large products mean little without it. Nothing here checks results; tests do.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "benches/models.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "train/monitored/monitored_session.h"
#include "train/monitored/nan_tensor_hook.h"

namespace runnel::benches {
namespace {

const char* const kModels[] = {"linear_regression/constant", "linear_regression/fed",  "mlp/4-16-16-3/16",
                               "mlp/784-128-128-10/32",      "mlp/784-512-512-10/128", "add_chain/1000"};
const std::int64_t kProductSizes[] = {16, 64, 256, 512, 1024};

SessionOptions one_thread() { return {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1}; }

void prepared(benchmark::State& state, const std::string& name) {
  const Model model = model_of(name);
  Session session(*model.graph, one_thread());
  session.run(model.init);
  Prepared step = session.prepare({.feeds = model.inputs, .fetches = {model.step}});
  for (auto _ : state) step(model.feeds);
  state.counters["kernels"] = static_cast<double>(session.stats().kernels_run);
  if (!model.loss) return;
  std::vector<Feed> feeds;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) feeds.push_back({model.inputs[i], model.feeds[i]});
  const Fetch fetches[] = {model.loss};
  state.counters["loss"] = session.run(fetches, feeds)[0].scalar<float>();  // falls if it trains
}

void plain_run(benchmark::State& state) {
  const Model model = linear_regression(false);
  Session session(*model.graph, one_thread());
  session.run(model.init);
  for (auto _ : state) session.run(model.step);
}

// What a monitored session adds to it, with so many hooks that look at the loss of each run.
void monitored_run(benchmark::State& state) {
  const Model model = linear_regression(false);
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});
  std::vector<Hook> hooks;
  for (int i = 0; i < state.range(0); ++i) hooks.push_back(nan_tensor(model.loss));
  SingularMonitoredSession session(*model.graph,
                                   {.hooks = hooks, .config = one_thread(), .handle_signals = false});
  for (auto _ : state) session.run(model.step);
}

Tensor random_matrix(std::int64_t n) {
  std::mt19937 bits(static_cast<unsigned>(n));
  std::normal_distribution<float> normal;
  Tensor out(DType::kFloat, {n, n});
  for (float& value : out.mutable_values<float>()) value = normal(bits);
  return out;
}

void count_flops(benchmark::State& state, std::int64_t n) {
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(n * n * n),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void sgemm_ours(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  Graph g;
  const Output a = placeholder<float>(g, {n, n}, "a"), b = placeholder<float>(g, {n, n}, "b");
  Session session(g, one_thread());
  Prepared product = session.prepare({.feeds = {a, b}, .fetches = {Operation(matmul(a, b).node())}});
  const Tensor feeds[] = {random_matrix(n), random_matrix(n)};
  for (auto _ : state) product(std::span<const Tensor>(feeds));
  count_flops(state, n);
}

void sgemm_openblas(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  openblas_set_num_threads(1);
  const Tensor a = random_matrix(n), b = random_matrix(n);
  Tensor c(DType::kFloat, {n, n});
  const auto size = static_cast<blasint>(n);
  const float *from_a = a.values<float>().data(), *from_b = b.values<float>().data();
  float* to = c.mutable_values<float>().data();
  for (auto _ : state)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, from_a, size, from_b, size, 0,
                to, size);
  count_flops(state, n);
}

// Two branches that meet at the end, each of four products too small to be shared by threads themselves.
void two_branches(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  Graph g;
  const Output x = placeholder<float>(g, {n, n}, "x");
  Output a = x, b = x * 0.5f;
  for (int k = 0; k < 4; ++k) {
    a = matmul(a, x);
    b = matmul(b, x);
  }
  const int threads = static_cast<int>(state.range(1));
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = threads});
  Prepared call = session.prepare({.feeds = {x}, .fetches = {Operation((a + b).node())}});
  const Tensor fed = random_matrix(n);
  for (auto _ : state) call(std::span(&fed, 1));
}

// Eight elementwise operations one after the other, and a sum, so that nothing but the input is large.
void elementwise_chain(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  Graph g;
  const Output x = placeholder<float>(g, {n}, "x");
  const Output y = square(x * 0.5f + 1.0f) - x;
  const Output z = relu(y) * 0.25f;
  Session session(g, one_thread());
  Prepared call = session.prepare({.feeds = {x}, .fetches = {reduce_sum(maximum(z, x) + y)}});
  Tensor fed(DType::kFloat, {n});
  std::ranges::fill(fed.mutable_values<float>(), 0.5f);
  for (auto _ : state) call(std::span(&fed, 1));
  state.counters["kernels"] = static_cast<double>(session.stats().kernels_run);
}

// OpenBLAS reads these before main; they must not choose another kernel than the processor's own.
void run_without_blas_settings(char** argv) {
  const char* const kSettings[] = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"};
  bool any = false;
  for (const char* setting : kSettings) {
    any |= std::getenv(setting) != nullptr;
    unsetenv(setting);
  }
  if (any) execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace runnel::benches

int main(int argc, char** argv) {
  using namespace runnel::benches;
  run_without_blas_settings(argv);
  benchmark::AddCustomContext("OpenBLAS kernel", openblas_get_corename());
  benchmark::AddCustomContext("OPENBLAS_CORETYPE, OPENBLAS_L2_SIZE", "unset");
  for (const char* name : kModels)
    benchmark::RegisterBenchmark(name, [name](benchmark::State& state) { prepared(state, name); });
  benchmark::RegisterBenchmark("run/linear_regression", plain_run);
  benchmark::RegisterBenchmark("monitored/linear_regression", monitored_run)
      ->ArgName("hooks")
      ->DenseRange(0, 3);
  for (const std::int64_t n : kProductSizes) {
    benchmark::RegisterBenchmark("sgemm", sgemm_ours)->Arg(n);
    benchmark::RegisterBenchmark("sgemm_openblas", sgemm_openblas)->Arg(n);
  }
  benchmark::RegisterBenchmark("two_branches", two_branches)
      ->ArgNames({"n", "threads"})
      ->ArgsProduct({{64, 128, 256}, {1, 2}})
      ->UseRealTime();
  benchmark::RegisterBenchmark("elementwise_chain", elementwise_chain)
      ->RangeMultiplier(4)
      ->Range(1 << 16, 1 << 22);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
