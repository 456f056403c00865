// A long training run: starts it from the newest checkpoint or from the beginning, saves and summarises in
// the background, feeds it from queues, and ends all of this together, with the last step saved. A small
// layer around Coordinator, Saver and SessionManager. Source: tf.train.Supervisor (behaviours 13); README.md
// has what differs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/looper_thread.h"
#include "train/supervisor/queue_runner.h"
#include "train/supervisor/supervisor_options.h"

namespace runnel {

struct ManagedSessionOptions {
  std::string master = "";  // "": in this process
  SessionOptions config = {};
  bool start_standard_services = true;
  bool close_summary_writer = true;
};

struct PrepareOrWaitOptions {
  std::string master = "";
  SessionOptions config = {};
  bool wait_for_checkpoint = false;
  double max_wait_secs = 7200;
  bool start_standard_services = true;
};

struct StopOptions {
  std::vector<CoordinatedThread> threads = {};  // waited for, besides those that the supervisor started
  bool close_summary_writer = true;
  bool ignore_live_threads = false;  // those that do not end in time are not worth a warning
};

// Shares its graph, which it finalizes. Calls may come from many threads, but for managed_session,
// prepare_or_wait_for_session and stop, which begin and end a run and take turns by the caller's doing. A
// supervisor may have one run after the other.
class Supervisor {
 public:
  // Throws InvalidArgument for arguments that do not fit together, what the file system says if `logdir`
  // cannot be written.
  explicit Supervisor(Graph& graph, SupervisorOptions options = {});
  explicit Supervisor(SupervisorOptions options = {});  // of the default graph
  ~Supervisor();  // stops a run that was not stopped, without a final save
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Runs `body` with a session whose model is restored or initialised, while services run. When it returns or
  // throws, everything is stopped, the last step saved (but after an error), and the session closed. Then
  // throws what `body` or a service threw first. OutOfRange, the end of the input, is a normal end, and so is
  // Cancelled once a stop was requested. A SIGTERM or SIGINT ends the process there, with 128 + signal,
  // instead of returning.
  void managed_session(const std::function<void(Session&)>& body, ManagedSessionOptions options = {});

  // The parts of it, by hand: a session (at once for a chief, when the chief's model is ready for others),
  // services and queue runners started. Throws what SessionManager throws.
  std::shared_ptr<Session> prepare_or_wait_for_session(PrepareOrWaitOptions options = {});
  // Those that the arguments ask for. Throws FailedPrecondition if this is not the chief.
  void start_standard_services(Session& session);
  // Those of the collection `queue_runners`, which prepare_or_wait_for_session starts, or these.
  std::vector<CoordinatedThread> start_queue_runners(Session& session);
  std::vector<CoordinatedThread> start_queue_runners(Session& session,
                                                     const std::vector<QueueRunner>& queue_runners);
  // Calls `target` every so often on a thread of its own until training stops; at once, then by the clock;
  // without an interval, back to back. What it throws stops training.
  std::shared_ptr<LooperThread> loop(std::optional<double> timer_interval_secs, std::function<void()> target);
  template <class Rep, class Period>
  std::shared_ptr<LooperThread> loop(std::chrono::duration<Rep, Period> timer_interval,
                                     std::function<void()> target) {
    return loop(std::chrono::duration<double>(timer_interval).count(), std::move(target));
  }
  // Asks all to stop, waits for the threads, saves the last step, unless there was an error or it is saved,
  // and closes the writer. Throws the first error of a thread. Does not close the session.
  void stop(StopOptions options = {});

  // The coordinator's.
  bool should_stop() const;
  void request_stop();
  void request_stop(StopReason reason);
  void request_stop(std::exception_ptr error);
  bool wait_for_stop();
  template <class F>
  bool stop_on_exception(F&& body) {
    return coord().stop_on_exception(std::forward<F>(body));
  }
  // Why training stopped; kNone while it does not. `stop_reason().exit_code()` is for main() to return.
  StopReason stop_reason() const;

  // Writes what summary ops gave, at `global_step` or the session's step. Throws FailedPrecondition without a
  // writer.
  void summary_computed(Session& session, const Tensor& summary,
                        std::optional<std::int64_t> global_step = {});

  // Empty, null or 0 where there is none; so are writer, periods and save_path where this is not the chief.
  bool is_chief() const;
  const SessionManager& session_manager() const;
  Coordinator& coord();
  Operation init_op() const;
  const std::vector<Feed>& init_feed_dict() const;
  Operation local_init_op() const;
  Output ready_op() const;
  Output ready_for_local_init_op() const;
  std::shared_ptr<FileWriter> summary_writer() const;
  Output summary_op() const;
  double save_summaries_secs() const;
  Output global_step() const;
  Saver* saver() const;
  double save_model_secs() const;
  const std::string& save_path() const;

 private:
  class Run;
  struct State;
  std::shared_ptr<Session> prepare(const PrepareOrWaitOptions& options);
  void stop(const StopOptions& options, bool failed);

  std::unique_ptr<State> state_;
};

// Trains until a stop: calls `train_step` again and again in a managed session, and begins anew, from the
// newest checkpoint, when it throws Aborted. Source: tf.train.basic_train_loop.
void basic_train_loop(Supervisor& supervisor, const std::function<void(Session&)>& train_step,
                      const std::string& master = "");

}  // namespace runnel
