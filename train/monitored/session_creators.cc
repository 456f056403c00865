// Both creators hand the pieces of their scaffold to a SessionManager.
#include "train/monitored/session_creators.h"

#include <utility>

#include "train/supervisor/coordinator.h"
#include "train/supervisor/session_manager.h"

namespace runnel {
namespace {

SessionManager manager_of(Graph& graph, const Scaffold& scaffold, Clock* clock) {
  return SessionManager(graph, {.local_init_op = scaffold.local_init_op(),
                                .ready_op = scaffold.ready_op(),
                                .ready_for_local_init_op = scaffold.ready_for_local_init_op(),
                                .local_init_feed_dict = scaffold.local_init_feed_dict(),
                                .clock = clock});
}

}  // namespace

SessionCreator::~SessionCreator() = default;

ChiefSessionCreator::ChiefSessionCreator(Graph& graph, ChiefSessionCreatorOptions options)
    : graph_(graph.shared()), options_(std::move(options)) {}

std::shared_ptr<Session> ChiefSessionCreator::create_session(Coordinator* coord) {
  Scaffold& scaffold = options_.scaffold;
  scaffold.finalize(*graph_);
  return manager_of(*graph_, scaffold, options_.clock)
      .prepare_session({.master = options_.master,
                        .init_op = scaffold.init_op(),
                        .saver = scaffold.saver(),
                        .checkpoint_dir = options_.checkpoint_dir,
                        .checkpoint_filename_with_path = options_.checkpoint_filename_with_path,
                        .config = options_.config,
                        .init_feed_dict = scaffold.init_feed_dict(),
                        .init_fn = scaffold.init_fn(),
                        .coord = coord,
                        .restore = options_.restore});
}

WorkerSessionCreator::WorkerSessionCreator(Graph& graph, WorkerSessionCreatorOptions options)
    : graph_(graph.shared()), options_(std::move(options)) {}

std::shared_ptr<Session> WorkerSessionCreator::create_session(Coordinator* coord) {
  Scaffold& scaffold = options_.scaffold;
  scaffold.finalize(*graph_);
  return manager_of(*graph_, scaffold, options_.clock)
      .wait_for_session({.master = options_.master,
                         .config = options_.config,
                         .max_wait_secs = options_.max_wait_secs,
                         .coord = coord});
}

}  // namespace runnel
