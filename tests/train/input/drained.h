// What an input pipeline gives until its end.
#pragma once

#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "train/supervisor/queue_runner.h"

namespace runnel {

// The values of `fetch` in one run after another until OutOfRange, or at most `most` runs. Initialises local
// variables.
inline std::vector<Tensor> drained(Output fetch, std::size_t most = 1000) {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});
  Graph& g = fetch.graph();
  const Operation init = initialize_local_variables(g);
  Session session(g);
  session.run(init);
  Coordinator coord;
  start_queue_runners(session, &coord);
  std::vector<Tensor> out;
  coord.stop_on_exception([&] {
    while (!coord.should_stop() && out.size() < most) out.push_back(session.run(fetch));
  });
  coord.request_stop();
  coord.join({.strict = true});
  return out;
}

// The scalars of all runs.
template <class T>
std::vector<T> drained_scalars(Output fetch, std::size_t most = 1000) {
  std::vector<T> out;
  for (const Tensor& value : drained(fetch, most)) out.push_back(value.scalar<T>());
  return out;
}

}  // namespace runnel
