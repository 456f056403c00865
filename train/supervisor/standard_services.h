// The services of a supervised run, each a thread of the coordinator that acts every so often, from the start
// on: saves, summaries, the rate of steps. Source: tf.train.Supervisor's threads (behaviours 13.4).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "summary/file_writer.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/looper_thread.h"
#include "train/supervisor/step_saver.h"
#include "train/supervisor/watchdog.h"

namespace runnel {

// What services share, so that one that does not end in time holds nothing that is gone.
struct ServiceTools {
  std::shared_ptr<Session> session;
  std::shared_ptr<FileWriter> writer;
  std::shared_ptr<Watchdog> watchdog;
  Output global_step = {};  // empty: steps are not known
};

// Calls `act` every `secs` on a thread of its own; the watchdog hears of each `what` that is done.
std::shared_ptr<LooperThread> start_service(Coordinator& coord, const std::shared_ptr<Watchdog>& watchdog,
                                            std::string name, std::string what, double secs,
                                            std::function<void()> act);

// Runs `summary_op` and writes what it gives, at the step of the same run.
std::shared_ptr<LooperThread> start_summary_service(Coordinator& coord, const ServiceTools& tools,
                                                    Output summary_op, double secs);

// Writes `tag`, steps a second since the time before; from the second call on. The first ten are logged, too.
std::shared_ptr<LooperThread> start_step_counter(Coordinator& coord, const ServiceTools& tools,
                                                 std::string tag, double secs);

// Saves, at most once a step.
std::shared_ptr<LooperThread> start_checkpoint_service(Coordinator& coord, const ServiceTools& tools,
                                                       std::shared_ptr<StepSaver> saver, double secs);

}  // namespace runnel
