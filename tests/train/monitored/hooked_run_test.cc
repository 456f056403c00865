// One run with hooks: whose fetches and feeds go where, and who asks for a stop.
#include "train/monitored/hooked_run.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/error.h"
#include "ops/ops.h"
#include "tests/train/monitored/probe_hook.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {
namespace {

std::vector<float> floats(std::span<const Tensor> tensors) {
  std::vector<float> out;
  for (const Tensor& tensor : tensors) out.push_back(tensor.scalar<float>());
  return out;
}

TEST_CASE("a hook that runs the session from inside a run leaves the outer run what is its own") {
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.0f)), b = constant(g, Tensor::scalar(2.0f));
  Session session(g);
  const auto asks = std::make_shared<Probe>(), nests = std::make_shared<Probe>();
  HookedRun run({nests, asks});
  std::vector<float> asked, inner;
  const auto nested = [&] {
    if (inner.size() > 1) return;
    inner.push_back(0);
    Tensor out;
    const Fetch fetch = b;
    run.run(session, std::span(&fetch, 1), {}, {}, &out);
    inner.back() = out.scalar<float>();
  };
  nests->before = [&](SessionRunContext&) { return nested(), std::nullopt; };
  asks->before = [&](SessionRunContext&) { return SessionRunArgs{.fetches = {b}}; };
  nests->after = [&](SessionRunContext&, const SessionRunValues&) { nested(); };
  asks->after = [&](SessionRunContext&, const SessionRunValues& v) { asked = floats(v.results); };
  const Fetch fetches[] = {a, a};
  Tensor out[2];
  run.run(session, fetches, {}, {}, out);
  CHECK(floats(out) == std::vector<float>{1, 1});
  CHECK(asked == std::vector<float>{2});
  CHECK(inner.size() == 2);
}

TEST_CASE("each hook gets the values of its own fetches, and the caller those of his") {
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.0f)), b = constant(g, Tensor::scalar(2.0f)),
               c = constant(g, Tensor::scalar(3.0f));
  Session session(g);
  std::vector<float> first, second;
  const auto one = std::make_shared<Probe>(), two = std::make_shared<Probe>(),
             idle = std::make_shared<Probe>();
  one->before = [&](SessionRunContext&) { return SessionRunArgs{.fetches = {b, c}}; };
  one->after = [&](SessionRunContext&, const SessionRunValues& v) { first = floats(v.results); };
  two->before = [&](SessionRunContext&) { return SessionRunArgs{.fetches = {a}}; };
  two->after = [&](SessionRunContext&, const SessionRunValues& v) { second = floats(v.results); };
  std::size_t idle_results = 9;
  idle->after = [&](SessionRunContext&, const SessionRunValues& v) { idle_results = v.results.size(); };
  HookedRun run({one, idle, two});
  const Fetch fetches[] = {c, a};
  Tensor out[2];
  run.run(session, fetches, {}, {}, out);
  CHECK_FALSE(run.stop());
  CHECK(floats(out) == std::vector<float>{3, 1});
  CHECK(first == std::vector<float>{2, 3});
  CHECK(second == std::vector<float>{1});
  CHECK(idle_results == 0);
  CHECK(session.stats().runs == 1);
}

TEST_CASE("a hook's feeds reach the run beside the caller's") {
  Graph g;
  const Output x = placeholder<float>(g, {}, "x"), y = placeholder<float>(g, {}, "y");
  const Output sum = x + y;
  Session session(g);
  const auto feeder = std::make_shared<Probe>();
  feeder->before = [&](SessionRunContext& context) {
    CHECK(context.original_args().feed_dict.size() == 1);
    CHECK(context.original_args().fetches.front().output() == sum);
    return SessionRunArgs{.feed_dict = {{y, Tensor::scalar(2.0f)}}};
  };
  HookedRun run({feeder});
  const Fetch fetch = sum;
  const Feed feed{x, Tensor::scalar(1.0f)};
  Tensor out;
  run.run(session, {&fetch, 1}, {&feed, 1}, {}, &out);
  CHECK(out.scalar<float>() == 3);
}

TEST_CASE("one tensor fed twice is refused with the names of both") {
  Graph g;
  const Output x = placeholder<float>(g, {}, "x");
  Session session(g);
  const auto one = std::make_shared<Probe>("One"), two = std::make_shared<Probe>("Two");
  one->before = two->before = [&](SessionRunContext&) {
    return SessionRunArgs{.feed_dict = {{x, Tensor::scalar(2.0f)}}};
  };
  const Fetch fetch = x;
  const Feed feed{x, Tensor::scalar(1.0f)};
  Tensor out;
  CHECK_THROWS_WITH_AS(HookedRun({one, two}).run(session, {&fetch, 1}, {}, {}, &out),
                       "'x:0' is fed by Two and by One: one of them must leave it out", FailedPrecondition);
  CHECK_THROWS_WITH_AS(HookedRun({one}).run(session, {&fetch, 1}, {&feed, 1}, {}, &out),
                       "'x:0' is fed by One and by the caller: one of them must leave it out",
                       FailedPrecondition);
}

TEST_CASE("the longest of all timeouts holds, and two cancellations are refused") {
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.0f));
  Session session(g);
  const CancellationToken mine, theirs;
  const auto hook = std::make_shared<Probe>();
  RunOptions seen;
  hook->before = [&](SessionRunContext&) {
    return SessionRunArgs{.options = {.timeout_in_ms = 9000, .cancellation = &theirs}};
  };
  hook->after = [&](SessionRunContext&, const SessionRunValues& v) { seen = v.options; };
  HookedRun run({hook});
  const Fetch fetch = a;
  Tensor out;
  run.run(session, {&fetch, 1}, {}, {.timeout_in_ms = 5000}, &out);
  CHECK(seen.timeout_in_ms == 9000);
  CHECK(seen.cancellation == &theirs);
  CHECK_THROWS_AS(run.run(session, {&fetch, 1}, {}, {.cancellation = &mine}, &out), FailedPrecondition);
}

TEST_CASE("a recording goes to everyone who asked for it, and nobody else's run is recorded") {
  Graph g;
  const Output x = placeholder<float>(g, {}, "x");
  const Output y = square(x);
  Session session(g);
  RunMetadata hooks_own, callers;
  const auto asks = std::make_shared<Probe>(), looks = std::make_shared<Probe>();
  bool ask = true;
  const RunMetadata* seen = nullptr;
  asks->before = [&](SessionRunContext&) {
    return SessionRunArgs{.options = {.run_metadata = ask ? &hooks_own : nullptr}};
  };
  looks->after = [&](SessionRunContext&, const SessionRunValues& v) { seen = v.run_metadata; };
  HookedRun run({asks, looks});
  const Fetch fetch = y;
  const Feed feed{x, Tensor::scalar(1.0f)};
  Tensor out;
  run.run(session, {&fetch, 1}, {&feed, 1}, {.run_metadata = &callers}, &out);
  CHECK(hooks_own.devices.size() == 1);
  CHECK(callers.devices.size() == 1);
  CHECK(seen != nullptr);
  ask = false;
  run.run(session, {&fetch, 1}, {&feed, 1}, {}, &out);
  CHECK(seen == nullptr);
}

TEST_CASE("the first hook that asks for a stop is the one that counts, and the run is finished") {
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.0f));
  Session session(g);
  const auto one = std::make_shared<Probe>("One"), two = std::make_shared<Probe>("Two");
  one->after = [](SessionRunContext& context, const SessionRunValues&) { context.request_stop("too late"); };
  two->before = [](SessionRunContext& context) -> std::optional<SessionRunArgs> {
    context.request_stop(StopCause::kStepsReached, "step 3");
    return {};
  };
  HookedRun run({one, two});
  const Fetch fetch = a;
  Tensor out;
  run.run(session, {&fetch, 1}, {}, {}, &out);
  const auto& stop = run.stop();
  CHECK(out.scalar<float>() == 1);
  REQUIRE(stop);
  CHECK(stop->cause == StopCause::kStepsReached);
  CHECK(stop->hook == "Two");
  CHECK(stop->why == "step 3");
}

TEST_CASE("after a run nothing holds the values any more") {
  Graph g;
  const Variable v = variable(g, 1.0f, "v");
  const Output up = assign_add(v, 1.0f);
  Session session(g);
  session.run(initialize_global_variables(g));
  const auto looks = std::make_shared<Probe>();
  looks->before = [&](SessionRunContext&) { return SessionRunArgs{.fetches = {v}}; };
  HookedRun run({looks});
  const Fetch fetch = Operation(up.node());
  Tensor out;
  for (int i = 0; i < 3; ++i) run.run(session, {&fetch, 1}, {}, {}, &out);
  const std::uint64_t copies = session.stats().copies_by_writers;
  for (int i = 0; i < 10; ++i) run.run(session, {&fetch, 1}, {}, {}, &out);
  CHECK(session.stats().copies_by_writers == copies);
}

}  // namespace
}  // namespace runnel
