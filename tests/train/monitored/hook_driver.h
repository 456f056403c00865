// Drives hooks by hand in the documented order, without recovery, queues or signals, so that what one hook
// does can be seen alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/monitored/hooked_run.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

// A model that counts: each run of `train` is one update, of the step and of a twin which is saved with it.
struct Counting {
  explicit Counting(bool resource = false) {
    step = create_global_step(graph, {.use_resource = resource});
    twin = variable(graph, std::int64_t{0}, "twin", {.use_resource = resource});
    loss = 1.0f / (1.0f + cast(twin, DType::kFloat));
    train = group({assign_add(step, 1).node(), assign_add(twin, 1).node()});
    init = initialize_global_variables(graph);
  }
  Graph graph;
  Variable step, twin;
  Output loss;
  Operation train, init;
};

class HookDriver {
 public:
  HookDriver(Graph& graph, Operation init, std::vector<Hook> hooks, Clock* clock = nullptr)
      : graph_(graph), init_(init), runs_(std::move(hooks)), coord({.clock = clock}) {
    for (const Hook& hook : runs_.hooks()) hook->begin(graph);
    open();
  }

  // A session as new, in which `steps` updates are done already.
  void open(int steps = 0, Operation train = {}) {
    session = std::make_unique<Session>(graph_);
    session->run(init_);
    for (int i = 0; i < steps; ++i) session->run(train);
    for (const Hook& hook : runs_.hooks()) hook->after_create_session(*session, coord);
  }

  std::vector<Tensor> run(const std::vector<Fetch>& fetches) {
    std::vector<Tensor> out(fetches.size());
    runs_.run(*session, fetches, {}, {}, out.data());
    if (!stop) stop = runs_.stop();
    return out;
  }
  void run(Operation train, int times) {
    for (int i = 0; i < times; ++i) run({train});
  }

  void end() {
    for (const Hook& hook : runs_.hooks()) hook->end(*session);
  }

 private:
  Graph& graph_;
  Operation init_;
  HookedRun runs_;

 public:
  Coordinator coord;
  std::unique_ptr<Session> session;
  std::optional<SessionRunContext::StopRequest> stop;
};

}  // namespace runnel
