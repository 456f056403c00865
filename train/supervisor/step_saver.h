// The checkpoints of a supervised run: PATH-STEP for each step at which there is a save, never two of one
// step, with the step and the values of one moment.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "summary/file_writer.h"
#include "train/checkpoint/saver.h"

namespace runnel {

// The value of an integer scalar of the graph. Throws InvalidArgument for another tensor.
std::int64_t read_step(Session& session, Output global_step);

// What was added to this log is in its file then. What cannot be written is a warning, and no reason to leave
// a step unsaved.
void flush_events(FileWriter& log);

// Calls take turns.
class StepSaver {
 public:
  // Without a global step all saves go to PATH, and each call saves; without a writer, no event says so.
  StepSaver(std::shared_ptr<Saver> saver, std::string path, Output global_step,
            std::shared_ptr<FileWriter> writer)
      : saver_(std::move(saver)),
        path_(std::move(path)),
        global_step_(global_step),
        writer_(std::move(writer)) {}

  // The checkpoint PATH-STEP is there, whole; another one says nothing.
  void note_restored(Session& session, const std::string& prefix);
  // Saves, unless this step is saved; returns whether it did. Events that were added before are in their file
  // first, so that a run which goes on from the checkpoint has those of all steps before it; not after a
  // signal, when a disk of events that hangs would take the time there is for the save.
  bool save(Session& session);

 private:
  const std::shared_ptr<Saver> saver_;
  const std::string path_;
  const Output global_step_;
  const std::shared_ptr<FileWriter> writer_;
  std::mutex mutex_;  // guards what follows, and is held while a save runs
  std::optional<std::int64_t> saved_;
};

}  // namespace runnel
