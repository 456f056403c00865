// The arguments of a Supervisor: TensorFlow's, in its order and with its defaults (behaviours 13.1), then
// ours.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "summary/file_writer.h"
#include "train/checkpoint/restore_options.h"
#include "train/checkpoint/saver.h"
#include "train/setting.h"
#include "train/supervisor/session_manager.h"

namespace runnel {

// What is left at its default is taken from the collection of that name, the first item, or made and put
// there; `none` does without. Pointers are borrowed.
struct SupervisorOptions {
  Setting<Output> ready_op = {};                 // or the names of variables without a value; none: no check
  Setting<Output> ready_for_local_init_op = {};  // or none
  bool is_chief =
      true;  // one that is not waits for the chief's model, and writes neither checkpoints nor events
  Setting<Operation> init_op = {};  // or the initialisation of all global variables
  std::vector<Feed> init_feed_dict = {};
  Setting<Operation> local_init_op = {};  // or the initialisation of local variables and tables
  std::string logdir = "";                // of checkpoints and events, made if it is not there; "": neither
  Setting<Output> summary_op = {};        // or all summaries merged; none: no summary service
  Setting<Saver*> saver = {};             // or one of all variables; none: no checkpoints
  Setting<Output> global_step = {};  // or the integer variable called global_step; none: steps are not known
  double save_summaries_secs = 120;  // 0: neither summary service nor step counter
  double save_model_secs = 600;      // 0: no checkpoint service and no final save
  double recovery_wait_secs = 30;
  double stop_grace_secs = 120;  // how long threads may take to end; 5 at most after a signal
  std::string checkpoint_basename = "model.ckpt";
  const SessionManager* session_manager = nullptr;           // or one of the operations above
  Setting<std::shared_ptr<FileWriter>> summary_writer = {};  // or one in logdir; none: no events
  std::function<void(Session&)> init_fn = {};                // runs after init_op, if nothing was restored
  RunOptions local_init_run_options = {};

  bool final_save = true;             // save the last step when training ends, but for an error
  bool handle_signals = true;         // SIGTERM and SIGINT stop a managed session (stop_signals.h)
  bool strict_threads = false;        // a thread that does not end within the grace is an error
  RestoreOptions restore = {};        // how a checkpoint that does not fit the graph is taken
  Clock* clock = nullptr;             // of all waiting and of events; none means the machine's
  FileSystem* file_system = nullptr;  // none means the machine's files
  Location where = Location::here();
};

}  // namespace runnel
