// A call that trains and evaluates, maybe in turn and with waits between: SIGTERM and Ctrl-C end whatever
// part of it is running, and the process when all is saved.
#pragma once

#include <optional>

#include "graph/error.h"
#include "train/estimator/run_config.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/stop_signals.h"

namespace runnel {

// Hears signals while it lives, if the RunConfig says so. Its parts are given `coord` to follow.
struct Stoppable {
  // Runs `body`, and ends the process after it if a signal came meanwhile.
  template <class Body>
  static auto run(const RunConfig& config, Body body) {
    Stoppable call(config);
    try {
      auto result = body(call);
      exit_if_signalled(call.coord.stop_reason());
      return result;
    } catch (const Cancelled&) {
      exit_if_signalled(call.coord.stop_reason());  // what the stop cut short
      throw;
    }
  }

  bool stopped() const { return coord.should_stop(); }

  Coordinator coord;

 private:
  explicit Stoppable(const RunConfig& config) : coord({.clock = &config.clock()}) {
    if (config.handle_signals()) signals_.emplace(coord);
  }
  std::optional<StopSignals> signals_;
};

}  // namespace runnel
