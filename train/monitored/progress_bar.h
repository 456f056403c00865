// How far training is, for the person who waits: a bar drawn over on a terminal, plain lines now and then
// elsewhere, with rate, time to go, and the loss. Not in TensorFlow. `ProgressBar` is the drawing, for loops
// of one's own; `progress_bar(steps)` the hook.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "train/monitored/global_step_reader.h"
#include "train/monitored/hook.h"

namespace runnel {

struct ProgressBarOptions {
  Output loss = {};                                  // the hook shows it if it is given
  double bar_secs = 0.1;                             // between two drawings of the bar
  double line_secs = 10;                             // between two lines
  std::string unit = "step";                         // what is counted
  std::optional<bool> terminal = {};                 // draw a bar; none: if stderr is a terminal
  std::function<void(std::string_view)> write = {};  // none: to stderr
  Clock* clock = nullptr;                            // borrowed; none means the machine's
  Location where = Location::here();
};

// Looks at the clock at each update and draws when it is due. One thread at a time.
class ProgressBar {
 public:
  // Throws InvalidArgument for a number of steps below 1 and for times that are negative or no number.
  explicit ProgressBar(std::int64_t steps, ProgressBarOptions options = {});
  ~ProgressBar();  // leaves the bar's line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // So many steps are done. `note` ("loss 0.25") is asked for when it is drawn. With the last step it
  // finishes.
  void update(std::int64_t done, const std::function<std::string()>& note = {});
  // Draws the last state, with the time taken in place of that to go, once.
  void finish(std::int64_t done, const std::string& note = "");
  // What is measured begins anew: the next update is the first.
  void restart();

 private:
  struct Moment {
    std::int64_t done = 0, steady_nanos = 0;
  };
  void measure(const Moment& now);
  void draw(std::int64_t done, const std::string& rate_and_time, const std::string& note, bool last);
  std::string rate_text(double rate) const;
  void write(std::string_view text) const;
  std::string bar(double share, std::size_t room) const;

  const std::int64_t steps_;
  const ProgressBarOptions options_;
  Clock& clock_;
  const bool terminal_;
  std::int64_t due_ = 0;                // the steady time of the next drawing
  std::optional<Moment> first_, last_;  // updates that were drawn
  double rate_ = 0;                     // steps a second, of the last seconds; 0: not known yet
  bool line_open_ = false;              // the bar is drawn and its line not left
  bool finished_ = false;
};

// Counts by the global step, which begins above 0 in a session that goes on; in a graph without one by runs.
// Fetches something only in runs that are to be shown, and in the one that should be the last.
class ProgressBarHook final : public SessionRunHook {
 public:
  explicit ProgressBarHook(std::int64_t steps, ProgressBarOptions options = {});

  std::string name() const override { return "ProgressBarHook"; }
  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coord) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;
  void end(Session& session) override;

 private:
  std::string note() const;

  const Output loss_;
  const std::int64_t steps_;
  const double secs_between_looks_;
  Clock& clock_;
  ProgressBar bar_;
  std::optional<GlobalStepReader> step_;
  std::int64_t done_ = 0;       // when the step was fetched last
  std::int64_t runs_ = 0;       // since then
  std::int64_t next_look_ = 0;  // the steady time of the next fetch
  bool looks_ = false;          // in the run that is under way
  Tensor last_loss_;
};

// `steps`: the last one, as stop_at_step takes it.
Hook progress_bar(std::int64_t steps, ProgressBarOptions options = {});

}  // namespace runnel
