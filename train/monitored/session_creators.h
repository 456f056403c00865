// Where a MonitoredSession gets its session from, at the start and after each failure that it recovers from:
// a chief restores or initialises the model, a worker waits until the chief has. Source:
// tf.train.SessionCreator, ChiefSessionCreator, WorkerSessionCreator (behaviours 14.2).
#pragma once

#include <memory>
#include <string>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "train/checkpoint/restore_options.h"
#include "train/monitored/scaffold.h"

namespace runnel {

class Coordinator;

// The base of creators. One thread at a time.
class SessionCreator {
 public:
  virtual ~SessionCreator();
  // A session with a model that is ready. Waiting for anything ends with Cancelled when `coord` (borrowed;
  // none never stops) stops. Aborted and Unavailable mean that it may be tried again.
  virtual std::shared_ptr<Session> create_session(Coordinator* coord = nullptr) = 0;
};

struct ChiefSessionCreatorOptions {
  Scaffold scaffold = {};
  std::string master = "";  // "": in this process; the only one yet
  SessionOptions config = {};
  std::string checkpoint_dir = "";                 // its newest whole checkpoint is restored
  std::string checkpoint_filename_with_path = "";  // or this one
  RestoreOptions restore = {};                     // of the restore: `.partial` for an older checkpoint
  Clock* clock = nullptr;                          // borrowed; none means the machine's
};

// Finalises the scaffold, then restores the model or initialises it (SessionManager::prepare_session).
class ChiefSessionCreator final : public SessionCreator {
 public:
  explicit ChiefSessionCreator(Graph& graph, ChiefSessionCreatorOptions options = {});
  std::shared_ptr<Session> create_session(Coordinator* coord = nullptr) override;

 private:
  std::shared_ptr<Graph> graph_;
  ChiefSessionCreatorOptions options_;
};

struct WorkerSessionCreatorOptions {
  Scaffold scaffold = {};
  std::string master = "";
  SessionOptions config = {};
  double max_wait_secs = 1800;
  Clock* clock = nullptr;
};

// Finalises the scaffold, then waits until the model is ready (SessionManager::wait_for_session).
class WorkerSessionCreator final : public SessionCreator {
 public:
  explicit WorkerSessionCreator(Graph& graph, WorkerSessionCreatorOptions options = {});
  std::shared_ptr<Session> create_session(Coordinator* coord = nullptr) override;

 private:
  std::shared_ptr<Graph> graph_;
  WorkerSessionCreatorOptions options_;
};

}  // namespace runnel
