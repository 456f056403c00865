// Sessions with a model that is ready to train: restored from the newest checkpoint that is whole, or
// initialised, and checked. A chief prepares one; other replicas wait until it has. Source:
// tf.train.SessionManager (behaviours 12); README.md has what differs.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "train/checkpoint/restore_options.h"
#include "train/checkpoint/saver.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

struct SessionManagerOptions {
  Operation local_init_op = {};         // for what no checkpoint holds: local variables, tables
  Output ready_op = {};                 // string[?]: the names of what has no value yet; none: not checked
  Output ready_for_local_init_op = {};  // the same, before local_init_op runs
  double recovery_wait_secs = 30;       // between two looks at what is waited for
  RunOptions local_init_run_options = {};
  std::vector<Feed> local_init_feed_dict = {};
  Clock* clock = nullptr;  // borrowed; none means the machine's
  Location where = Location::here();
};

struct PrepareSessionOptions {
  std::string master = "";                         // "": in this process
  Operation init_op = {};                          // runs if nothing is restored
  Saver* saver = nullptr;                          // borrowed; none: nothing is restored
  std::string checkpoint_dir = "";                 // its newest checkpoint that is whole
  std::string checkpoint_filename_with_path = "";  // or this one
  bool wait_for_checkpoint = false;                // until the directory has one
  double max_wait_secs = 7200;                     // for it; then the model is initialised
  SessionOptions config = {};
  std::vector<Feed> init_feed_dict = {};       // for init_op
  std::function<void(Session&)> init_fn = {};  // runs after init_op
  Coordinator* coord = nullptr;                // borrowed; all waiting ends with Cancelled when it stops
  RestoreOptions restore = {};  // `.partial`: what the checkpoint lacks starts at its initial value
};

struct PreparedSession {
  std::shared_ptr<Session> session;
  std::string restored_from = "";  // the checkpoint; "" if init_op and init_fn gave the values
  RestoreReport report = {};       // of the restore
};

struct RecoverSessionOptions {
  std::string master = "";
  Saver* saver = nullptr;
  std::string checkpoint_dir = "";
  std::string checkpoint_filename_with_path = "";
  bool wait_for_checkpoint = false;
  double max_wait_secs = 7200;
  SessionOptions config = {};
  Coordinator* coord = nullptr;
  RestoreOptions restore = {};
};

struct WaitForSessionOptions {
  std::string master = "";
  SessionOptions config = {};
  double max_wait_secs = std::numeric_limits<double>::infinity();
  Coordinator* coord = nullptr;
};

struct RecoveredSession {
  std::shared_ptr<Session> session;
  bool recovered = false;  // restored, and the model is ready
};

// Shares its graph. Calls may come from many threads. All of them throw Unimplemented for a master other than
// "", InvalidArgument for a max_wait_secs of NaN, and Cancelled if `coord` stops before the session is there.
class SessionManager {
 public:
  // Throws InvalidArgument for a ready_for_local_init_op without a local_init_op, and for times that are no
  // time.
  explicit SessionManager(Graph& graph, SessionManagerOptions options = {});

  // 1. restores the newest checkpoint of the directory that can be read to its end (damaged ones are passed
  //    over, with a line in the log each), then initialises the variables of the graph that still have no
  //    value, and logs which; 2. or, if there is none, runs init_op and then init_fn; 3. runs local_init_op;
  // 4. asks ready_op. Throws FailedPrecondition if the model is not ready then, or nothing could give it
  // values; DataLoss if all checkpoints are damaged; NotFound or InvalidArgument if the checkpoint does not
  // fit the graph; what the operations throw.
  std::shared_ptr<Session> prepare_session(PrepareSessionOptions options = {}) const {
    return prepare(std::move(options)).session;
  }
  // The same, and where the values are from.
  PreparedSession prepare(PrepareSessionOptions options = {}) const;

  // The same without init_op and init_fn: a session that is not recovered may have variables without a value.
  RecoveredSession recover_session(RecoverSessionOptions options = {}) const;

  // For those who are not chief: tries until the model is ready. Throws DeadlineExceeded, saying what was
  // missing, when another wait would last beyond max_wait_secs.
  std::shared_ptr<Session> wait_for_session(WaitForSessionOptions options = {}) const;

 private:
  struct Readiness;
  struct From;
  std::shared_ptr<Session> open(const std::string& master, const SessionOptions& config) const;
  // Fills in where the values are from; false if nothing was restored.
  bool restore(PreparedSession& prepared, const From& from) const;
  std::string checkpoint_in(Session& session, const From& from) const;
  Readiness run_local_init(Session& session) const;
  void require_ready(Session& session, const PrepareSessionOptions& o) const;

  std::shared_ptr<Graph> graph_;
  SessionManagerOptions options_;
};

}  // namespace runnel
