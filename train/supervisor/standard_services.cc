// What each service does in one call.
#include "train/supervisor/standard_services.h"

#include <cstdint>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "train/checkpoint/step_number.h"

namespace runnel {
namespace {

void record_summary(const ServiceTools& tools, Output summary_op) {
  if (!tools.global_step) {
    log_info("Recording summary.");
    tools.writer->add_summary(tools.session->run(summary_op));
    return;
  }
  const auto [summary, step] = tools.session->run({summary_op, tools.global_step});
  const std::int64_t number = step_number(step, tools.global_step.name());
  log_info(cat("Recording summary at step ", number, "."));
  tools.writer->add_summary(summary, number);
}

class StepCounter {
 public:
  StepCounter(ServiceTools tools, std::string tag, Clock& clock)
      : tools_(std::move(tools)), tag_(std::move(tag)), clock_(clock) {}

  void count() {
    const std::int64_t now = clock_.steady_nanos(), step = read_step(*tools_.session, tools_.global_step);
    if (counted_ && now > time_) {
      const double rate = static_cast<double>(step - step_) / (static_cast<double>(now - time_) * 1e-9);
      tools_.writer->scalar(tag_, rate, step);
      if (logged_ < kLogged) {
        log_info(cat(tag_, ": ", rate));
        ++logged_;
      }
    }
    counted_ = true;
    step_ = step;
    time_ = now;
  }

 private:
  static constexpr int kLogged = 10;
  const ServiceTools tools_;
  const std::string tag_;
  Clock& clock_;
  bool counted_ = false;
  std::int64_t step_ = 0, time_ = 0;
  int logged_ = 0;
};

}  // namespace

std::shared_ptr<LooperThread> start_service(Coordinator& coord, const std::shared_ptr<Watchdog>& watchdog,
                                            std::string name, std::string what, double secs,
                                            std::function<void()> act) {
  const auto number = std::make_shared<int>();
  auto looper = std::make_shared<LooperThread>(
      coord, secs,
      [act = std::move(act), watchdog, number] {
        act();
        watchdog->done(*number);
      },
      std::move(name));
  *number = watchdog->expect(std::move(what), secs, looper->thread());
  looper->start();
  return looper;
}

std::shared_ptr<LooperThread> start_summary_service(Coordinator& coord, const ServiceTools& tools,
                                                    Output summary_op, double secs) {
  return start_service(coord, tools.watchdog, "summary service", "summary", secs,
                       [tools, summary_op] { record_summary(tools, summary_op); });
}

std::shared_ptr<LooperThread> start_step_counter(Coordinator& coord, const ServiceTools& tools,
                                                 std::string tag, double secs) {
  const auto counter = std::make_shared<StepCounter>(tools, std::move(tag), coord.clock());
  return start_service(coord, tools.watchdog, "step counter", "count of steps", secs,
                       [counter] { counter->count(); });
}

std::shared_ptr<LooperThread> start_checkpoint_service(Coordinator& coord, const ServiceTools& tools,
                                                       std::shared_ptr<StepSaver> saver, double secs) {
  return start_service(coord, tools.watchdog, "checkpoint service", "checkpoint", secs,
                       [session = tools.session, saver = std::move(saver)] { saver->save(*session); });
}

}  // namespace runnel
