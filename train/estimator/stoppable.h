// A call that trains and evaluates, maybe in turn and with waits between: SIGTERM and Ctrl-C end whatever
// part of it is running, and the process when all is saved.
#pragma once

#include <exception>
#include <optional>

#include "graph/error.h"
#include "graph/log.h"
#include "train/estimator/run_config.h"
#include "train/supervisor/carried_error.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/stop_signals.h"

namespace runnel {

// Hears signals while it lives, if the RunConfig says so. Its parts are given `coord` to follow.
struct Stoppable {
  // Runs `body`, and ends the process after it if a signal came meanwhile, also if it throws.
  template <class Body>
  static auto run(const RunConfig& config, Body body) {
    Stoppable call(config);
    try {
      auto result = body(call);
      exit_if_signalled(call.coord.stop_reason());
      return result;
    } catch (...) {
      call.end_if_signalled(std::current_exception());
      throw;
    }
  }

  bool stopped() const { return coord.should_stop(); }

  Coordinator coord;

 private:
  explicit Stoppable(const RunConfig& config) : coord({.clock = &config.clock()}) {
    if (config.handle_signals()) signals_.emplace(coord);
  }
  void end_if_signalled(const std::exception_ptr& error) const {
    const StopReason reason = coord.stop_reason();
    if (is_signalled(reason) && code_of(error) != Code::kCancelled)  // which is what the stop cut short
      log_error(cat("training ended with an error: ", text_of(error)));
    exit_if_signalled(reason);
  }
  std::optional<StopSignals> signals_;
};

}  // namespace runnel
