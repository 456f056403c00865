// The steps of a start, in order.
#include "train/supervisor/session_manager.h"

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/restored_tensors.h"
#include "train/supervisor/missing_values.h"
#include "train/supervisor/saved_model_initializers.h"

namespace runnel {
namespace {

double checked_wait(double secs, Location where) {
  if (!std::isnan(secs)) return secs;
  throw InvalidArgument("SessionManager: max_wait_secs is NaN; give seconds, or infinity to wait without end",
                        where);
}

std::string shown(const Operation& operation) { return operation ? operation.name() : "none"; }

// Waits on a clock, and no longer once a coordinator stops. While it lives, a step of `session` that waits
// for input ends at a stop, too.
class StoppableWait {
 public:
  StoppableWait(Clock* clock, Coordinator* coord) : clock_(clock ? *clock : system_clock()), coord_(coord) {
    if (coord_) on_stop_.emplace(coord_->on_stop([this] { stop(); }));
  }

  // Throws Cancelled, saying what was waited for, when stopped.
  void wait(double seconds, const std::string& for_what) {
    std::unique_lock lock(mutex_);
    if (clock_.wait_until(condition_, lock, clock_.deadline_in(seconds), [&] { return stopped_; })) {
      lock.unlock();
      throw Cancelled(cat("no longer waiting for ", for_what, ": ", coord_->stop_reason().text));
    }
  }
  // Seconds since this object was made.
  double waited() const { return static_cast<double>(clock_.steady_nanos() - start_) * 1e-9; }
  // Ends the session's waits at a stop.
  void watch(std::weak_ptr<Session> session) {
    std::unique_lock lock(mutex_);
    session_ = std::move(session);
    const bool stopped = stopped_;
    lock.unlock();
    if (stopped) stop();
  }

 private:
  void stop() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    condition_.notify_all();
    const std::shared_ptr<Session> session = session_.lock();
    lock.unlock();
    if (session) session->stop_waiting(coord_->stop_reason().text);
  }

  Clock& clock_;
  const std::int64_t start_ = clock_.steady_nanos();
  Coordinator* const coord_;
  std::mutex mutex_;
  std::condition_variable condition_;
  bool stopped_ = false;
  std::weak_ptr<Session> session_;
  std::optional<OnStop> on_stop_;  // last: no call of it after what it uses is gone
};

// The names that a saver will look for and this checkpoint lacks.
std::vector<std::string> names_missing(const Saver& saver, const std::string& prefix, FileSystem& files) {
  const CheckpointReader reader(prefix, {.file_system = &files});
  const SaverNodes& nodes = saver.nodes();
  std::vector<std::string> out;
  for (const RestoredTensor& wanted : restored_by(nodes.restore, nodes.filename).list)
    if (!reader.has(wanted.key) && (out.empty() || out.back() != wanted.key)) out.push_back(wanted.key);
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += cat(out.empty() ? "" : ", ", name);
  return out;
}

}  // namespace

// Where values may come from.
struct SessionManager::From {
  Saver* saver;
  const std::string& directory;
  const std::string& file;
  bool wait;
  double max_wait_secs;
  const RestoreOptions& restore;
  StoppableWait& waiting;
};

struct SessionManager::Readiness {
  bool ready = true;
  std::string why = "";

  static Readiness of(Session& session, Output op);
};

SessionManager::Readiness SessionManager::Readiness::of(Session& session, Output op) {
  if (!op) return {};
  try {
    const Tensor names = session.run(op);
    if (names.dtype() != DType::kString || names.elements() == 0) return {};
    const auto all = names.values<std::string>();
    return {false, cat("Variables not initialized: ", listed({all.begin(), all.end()}))};
  } catch (const FailedPrecondition& error) {
    if (error.message().find("uninitialized") != std::string::npos) return {false, error.message()};
    log_warning(cat("asking '", op.name(), "' whether the model is ready failed: ", error.message()));
    throw;
  }
}

SessionManager::SessionManager(Graph& graph, SessionManagerOptions options)
    : graph_(graph.shared()), options_(std::move(options)) {
  if (options_.ready_for_local_init_op && !options_.local_init_op)
    throw InvalidArgument(
        cat("SessionManager: ready_for_local_init_op '", options_.ready_for_local_init_op.name(),
            "' is given without a local_init_op that would wait for it: give both"),
        options_.where);
  if (!(options_.recovery_wait_secs > 0))
    throw InvalidArgument(cat("SessionManager: recovery_wait_secs is ", options_.recovery_wait_secs,
                              "; it must be more than 0"),
                          options_.where);
}

std::shared_ptr<Session> SessionManager::open(const std::string& master, const SessionOptions& config) const {
  if (!master.empty())
    throw Unimplemented(cat("master is '", master,
                            "': remote targets are not there yet; give '' to train in "
                            "this process"),
                        options_.where);
  return std::make_shared<Session>(*graph_, config);
}

// The directory's newest whole checkpoint; "" if there is none, and waiting for one is over.
std::string SessionManager::checkpoint_in(Session& session, const From& from) const {
  for (double waited = 0;; waited += options_.recovery_wait_secs) {
    try {
      return latest_checkpoint(from.directory, {.verify = true, .file_system = &session.files()});
    } catch (const NotFound& error) {
      if (!from.wait || waited >= from.max_wait_secs) {
        if (session.files().exists(join_path(from.directory, "checkpoint")))
          log_warning(cat("training starts from the beginning, not where it was: ", error.message()));
        return "";
      }
    }
    log_info(cat("Waiting for checkpoint to be available in '", from.directory, "'."));
    from.waiting.wait(options_.recovery_wait_secs, cat("a checkpoint in '", from.directory, "'"));
  }
}

bool SessionManager::restore(PreparedSession& prepared, const From& from) const {
  Session& session = *prepared.session;
  if (!from.directory.empty() && !from.file.empty())
    throw InvalidArgument(cat("checkpoint_dir '", from.directory, "' and checkpoint_filename_with_path '",
                              from.file, "' are both given: give one of them"),
                          options_.where);
  if (!from.saver || (from.directory.empty() && from.file.empty())) return false;
  const std::string prefix = from.file.empty() ? checkpoint_in(session, from) : from.file;
  if (prefix.empty()) return false;
  for (const Operation& operation : saved_model_initializers(session.graph())) session.run(operation);
  try {
    prepared.report = from.saver->restore(session, prefix, from.restore);
  } catch (const Error& error) {
    const Code code = error.code();
    if (from.directory.empty() || (code != Code::kNotFound && code != Code::kInvalidArgument)) throw;
    const std::vector<std::string> missing = names_missing(*from.saver, prefix, session.files());
    throw_error(code,
                cat("found checkpoint '", prefix, "' in logdir '", from.directory, "', but ",
                    missing.empty() ? std::string("it is of another graph")
                                    : cat("the graph has ", missing.size(),
                                          missing.size() == 1 ? " variable that is" : " variables that are",
                                          " not in it: ", listed(missing)),
                    "; go on with what fits by a partial restore (.restore = {.partial = true}), or "
                    "train anew in another logdir; ",
                    error.message()));
  }
  log_info(cat("Restored the model from '", prefix, "'."));
  initialize_missing_values(session);
  prepared.restored_from = prefix;
  return true;
}

// Runs local_init_op if the model is ready for it.
SessionManager::Readiness SessionManager::run_local_init(Session& session) const {
  if (!options_.local_init_op) return {};
  Readiness ready = Readiness::of(session, options_.ready_for_local_init_op);
  if (!ready.ready) return ready;
  log_info("Running local_init_op.");
  const Fetch fetch = options_.local_init_op;
  (void)session.run(std::span(&fetch, 1), std::span<const Feed>(options_.local_init_feed_dict),
                    options_.local_init_run_options);
  log_info("Done running local_init_op.");
  return {};
}

void SessionManager::require_ready(Session& session, const PrepareSessionOptions& o) const {
  const auto refuse = [&](const std::string& what, const std::string& why) {
    throw FailedPrecondition(cat("Init operations did not make model ready", what,
                                 ". Init op: ", shown(o.init_op), ", init fn: ", o.init_fn ? "given" : "none",
                                 ", local_init_op: ", shown(options_.local_init_op), ", error: ", why),
                             options_.where);
  };
  if (const Readiness local = run_local_init(session); !local.ready) refuse(" for local_init", local.why);
  if (const Readiness all = Readiness::of(session, options_.ready_op); !all.ready) refuse("", all.why);
}

PreparedSession SessionManager::prepare(PrepareSessionOptions o) const {
  o.max_wait_secs = checked_wait(o.max_wait_secs, options_.where);
  PreparedSession out{open(o.master, o.config)};
  StoppableWait waiting(options_.clock, o.coord);
  waiting.watch(out.session);
  if (!restore(out, {o.saver, o.checkpoint_dir, o.checkpoint_filename_with_path, o.wait_for_checkpoint,
                     o.max_wait_secs, o.restore, waiting})) {
    if (!o.init_op && !o.init_fn && !options_.local_init_op)
      throw FailedPrecondition(
          "Model is not initialized and no init_op or init_fn or local_init_op was given: give one, or a "
          "checkpoint to restore",
          options_.where);
    if (o.init_op) {
      const Fetch fetch = o.init_op;
      (void)out.session->run(std::span(&fetch, 1), std::span<const Feed>(o.init_feed_dict));
    }
    if (o.init_fn) o.init_fn(*out.session);
  }
  require_ready(*out.session, o);
  return out;
}

RecoveredSession SessionManager::recover_session(RecoverSessionOptions o) const {
  o.max_wait_secs = checked_wait(o.max_wait_secs, options_.where);
  PreparedSession prepared{open(o.master, o.config)};
  const std::shared_ptr<Session>& session = prepared.session;
  StoppableWait waiting(options_.clock, o.coord);
  waiting.watch(session);
  const bool restored = restore(prepared, {o.saver, o.checkpoint_dir, o.checkpoint_filename_with_path,
                                           o.wait_for_checkpoint, o.max_wait_secs, o.restore, waiting});
  Readiness ready = run_local_init(*session);
  if (!restored) return {session, false};
  const char* what = "for local_init_op";
  if (ready.ready) {
    ready = Readiness::of(*session, options_.ready_op);
    what = "to train";
  }
  if (!ready.ready) log_info(cat("the restored model is not ready ", what, ": ", ready.why));
  return {session, ready.ready};
}

std::shared_ptr<Session> SessionManager::wait_for_session(WaitForSessionOptions o) const {
  o.max_wait_secs = checked_wait(o.max_wait_secs, options_.where);
  StoppableWait waiting(options_.clock, o.coord);
  for (;;) {
    std::shared_ptr<Session> session = open(o.master, o.config);
    waiting.watch(session);
    const Readiness local = run_local_init(*session);
    const Readiness all = local.ready ? Readiness::of(*session, options_.ready_op) : Readiness{};
    if (local.ready && all.ready) return session;
    session->close();
    const std::string state = cat("Ready_for_local_init_op: ", local.ready ? "ready" : local.why,
                                  ", ready: ", local.ready ? all.why : "not asked yet");
    if (o.max_wait_secs - waiting.waited() - options_.recovery_wait_secs < 0)
      throw DeadlineExceeded(cat("Session was not ready after waiting ", o.max_wait_secs, " secs. ", state),
                             options_.where);
    log_info(cat("Waiting for model to be ready. ", state));
    waiting.wait(options_.recovery_wait_secs, "the chief to make the model ready");
  }
}

}  // namespace runnel
