// What a Supervisor holds: what it was given, what it made of that, and the run that is going on. Internal to
// the library.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "graph/io/file_system.h"
#include "train/supervisor/step_saver.h"
#include "train/supervisor/supervised_graph.h"
#include "train/supervisor/supervisor.h"
#include "train/supervisor/watchdog.h"

namespace runnel {

// One session and what belongs to it.
class Supervisor::Run {
 public:
  std::shared_ptr<Session> session;
  std::shared_ptr<StepSaver> saver;
  std::shared_ptr<Watchdog> watchdog;
  CoordinatedThread checkpoints;  // the thread that saves
  bool wrote_start = false;
  OnStop ends_waits;
};

struct Supervisor::State {
  State(Graph& g, SupervisorOptions o);

  const SessionManager& manager() const { return own_manager ? *own_manager : *options.session_manager; }

  std::shared_ptr<FileWriter> make_writer() const;
  Run now() {
    const std::lock_guard hold(mutex);
    return {run.session, run.saver, run.watchdog, run.checkpoints, run.wrote_start, {}};
  }
  std::shared_ptr<Watchdog> watchdog() {
    const std::lock_guard hold(mutex);
    if (!run.watchdog) run.watchdog = Watchdog::start(coord);
    return run.watchdog;
  }

  PreparedSession prepare_as_chief(const PrepareOrWaitOptions& o, SessionOptions config);
  void begin(PreparedSession prepared);
  void write_start(Session& session);
  void write_graph() const;
  void save_last(const Run& last);
  void close_writer();

  const SupervisorOptions options;
  const std::shared_ptr<Graph> graph;
  SupervisedGraph ops;
  FileSystem& files;
  std::string logdir, save_path;  // empty where nothing is written
  std::shared_ptr<FileWriter> writer;
  std::unique_ptr<SessionManager> own_manager;
  bool writing = false;  // since the writer was last opened; of who begins and ends runs
  std::mutex mutex;      // guards the next
  Run run;
  Coordinator coord;  // last: what its threads use is there until they have ended
};

}  // namespace runnel
