// Saves checkpoints now and then, at the start and at the end, and writes the graph beside them. Source:
// tf.train.CheckpointSaverHook and CheckpointSaverListener (behaviours 15).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint/saver.h"
#include "train/monitored/global_step_reader.h"
#include "train/monitored/hook.h"
#include "train/monitored/scaffold.h"
#include "train/monitored/second_or_step_timer.h"

namespace runnel {

class FileWriter;
class SessionNotes;

// Told of what a CheckpointSaverHook does. Each call does nothing unless it is overridden.
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  virtual void begin(Graph&) {}  // nodes may still be added
  virtual void before_save(Session&, std::int64_t /*global_step*/) {}
  // True asks for the end of training; not after the save with which a session begins.
  virtual bool after_save(Session&, std::int64_t /*global_step*/) { return false; }
  virtual void end(Session&, std::int64_t /*global_step*/) {}
};

// A period, or both (whichever comes first); at most one of saver and scaffold, without them the only item of
// the graph's collection `savers`.
struct CheckpointSaverHookOptions {
  std::optional<double> save_secs = {};
  std::optional<std::int64_t> save_steps = {};
  Saver* saver = nullptr;  // borrowed
  std::string checkpoint_basename = "model.ckpt";
  std::optional<Scaffold> scaffold = {};
  std::vector<std::shared_ptr<CheckpointSaverListener>> listeners = {};
  bool save_graph_def = true;  // graph.pbtxt, and a `.meta` beside each checkpoint
  Clock* clock = nullptr;      // borrowed; none means the machine's
  Location where = Location::here();
};

// CHECKPOINT_DIR/BASENAME-N holds N updates: the step in the name is read in the same cut as the values.
// Several hooks that save to one path write each step once; their listeners are called all the same.
class CheckpointSaverHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for no directory, no period, or saver and scaffold both.
  explicit CheckpointSaverHook(std::string checkpoint_dir, CheckpointSaverHookOptions options = {});
  ~CheckpointSaverHook() override;

  // One listener more, unless it is one of them already. Throws InvalidArgument for a null one. Requires: no
  // session has begun.
  void add_listener(std::shared_ptr<CheckpointSaverListener> listener);

  std::string name() const override { return "CheckpointSaverHook"; }
  void begin(Graph& graph) override;
  // Writes graph.pbtxt and the graph's events, and saves. Throws what Saver::save throws, and
  // FailedPrecondition if there is no saver to save with.
  void after_create_session(Session& session, Coordinator& coord) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;
  void end(Session& session) override;  // saves, unless this step is saved

 private:
  bool save(Session& session, std::int64_t step);  // true if a listener asks for the end
  void write(Session& session, std::int64_t step);
  void write_graph(Session& session);
  Saver& saver(Session& session);
  Saver& saver_of_collection(Session& session);

  const std::string checkpoint_dir_, path_;
  CheckpointSaverHookOptions options_;
  SecondOrStepTimer timer_;
  GlobalStepReader step_;
  std::shared_ptr<FileWriter> writer_;
  std::shared_ptr<SessionNotes> notes_;
  std::optional<std::int64_t> told_;  // the step of the last save that listeners were told of
  std::unique_ptr<Saver> own_saver_;  // of the collection, if no other hook has it
};

Hook checkpoint_saver(std::string checkpoint_dir, CheckpointSaverHookOptions options);

}  // namespace runnel
