// Something that is done at even intervals until training stops: a save, a summary, a look at a counter. The
// grid of times is fixed at the start; a call that overruns is followed at once by those it missed.
// TensorFlow's tf.train.LooperThread (behaviours 7.2).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "train/supervisor/coordinator.h"

namespace runnel {

// Made by std::make_shared, since its thread shares it: it may be let go while the thread runs. Registered
// with the coordinator when made, started by start(). The first call comes at once. What a call throws stops
// the coordinator. A class of its own kind overrides run_loop, and start_loop and stop_loop for what comes
// before and after.
class LooperThread : public std::enable_shared_from_this<LooperThread> {
 public:
  // Without an interval the calls come back to back. Throws InvalidArgument for one that is negative or not a
  // number.
  LooperThread(Coordinator& coord, std::optional<double> timer_interval_secs,
               std::function<void()> target = {}, std::string name = "LooperThread");
  virtual ~LooperThread() = default;
  LooperThread(const LooperThread&) = delete;
  LooperThread& operator=(const LooperThread&) = delete;

  // Makes one and starts it.
  static std::shared_ptr<LooperThread> loop(Coordinator& coord, std::optional<double> timer_interval_secs,
                                            std::function<void()> target, std::string name = "LooperThread");

  // Throws FailedPrecondition if it was started before or was not made by std::make_shared.
  void start();
  const CoordinatedThread& thread() const { return thread_; }

  virtual void start_loop() {}  // once, before the first call
  virtual void run_loop();      // each call: the target
  virtual void stop_loop() {}   // once, after the last call, unless something was thrown

 protected:
  Coordinator& coordinator() const { return *coord_; }

 private:
  void run();
  void run_on_grid();

  const std::shared_ptr<Coordinator> coord_;
  const std::optional<double> interval_secs_;
  const std::function<void()> target_;
  const CoordinatedThread thread_;
};

}  // namespace runnel
