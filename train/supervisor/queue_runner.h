// Threads that keep a queue filled: one for each enqueue operation, which it runs again and again until its
// input ends, the coordinator stops or something fails; and one that cancels what waits in the queue when the
// coordinator stops. A graph's collection `queue_runners` says which there are, also for graphs out of a
// `.meta`. TensorFlow's tf.train.QueueRunner (behaviours 6.2).
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "ops/queue_ops.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

struct QueueRunnerOptions {
  Operation close_op = {};   // run when the last thread's input has ended; none: QueueClose is added
  Operation cancel_op = {};  // run on a stop; none: QueueClose with cancel_pending_enqueues is added
  // Codes of an enqueue's error that mean the end of the input. Not empty.
  std::vector<Code> queue_closed_exception_types = {Code::kOutOfRange};
  Location where = Location::here();
};

struct CreateThreadsOptions {
  bool start = false;
};

struct StartQueueRunnersOptions {
  bool start = true;
  std::string collection = keys::kQueueRunners;
};

// A description; copies share the errors that were raised. Its threads share the session and the coordinator,
// so that it, they and the threads may end in any order.
class QueueRunner {
 public:
  // `queue` is the handle of a queue, `enqueue_ops` gets one thread an entry; an operation may stand there
  // more than once. Throws InvalidArgument if enqueue_ops or the exception types are empty.
  QueueRunner(Output queue, std::vector<Operation> enqueue_ops, QueueRunnerOptions options = {});
  QueueRunner(const QueueBase& queue, std::vector<Operation> enqueue_ops, QueueRunnerOptions options = {});
  // From a serialized QueueRunnerDef, whose names are looked up inside `import_scope`. Throws DataLoss for
  // bytes that are none, NotFound for names that are not in the graph, InvalidArgument for what is missing.
  static QueueRunner from_proto(Graph& graph, std::string_view queue_runner_def,
                                std::string_view import_scope = "");
  // A serialized QueueRunnerDef with names relative to `export_scope`; empty if the queue is not in that
  // scope.
  std::string to_proto(std::string_view export_scope = "") const;

  const std::string& name() const;  // the queue's
  const Operation& queue() const { return queue_; }
  const std::vector<Operation>& enqueue_ops() const { return enqueue_ops_; }
  const Operation& close_op() const { return close_op_; }
  const Operation& cancel_op() const { return cancel_op_; }
  const std::vector<Code>& queue_closed_exception_types() const { return closed_types_; }

  // Threads "QueueRunnerThread-QUEUE-OP", registered with `coord` if there is one; then also
  // "QueueRunnerThread-QUEUE-close_on_stop". None while threads of this runner and session are active. The
  // end of the input ends a thread silently, and the last one runs close_op. Other errors stop `coord`;
  // without one they are logged and kept in exceptions_raised(). A stop ends waiting enqueues at once. Throws
  // ResourceExhausted.
  std::vector<CoordinatedThread> create_threads(Session& session, Coordinator* coord = nullptr,
                                                CreateThreadsOptions options = {}) const;
  // Errors of threads without a coordinator since the last create_threads.
  std::vector<std::exception_ptr> exceptions_raised() const;

 private:
  struct Raised;
  QueueRunner();

  Operation queue_, close_op_, cancel_op_;
  std::vector<Operation> enqueue_ops_;
  std::vector<Code> closed_types_;
  std::shared_ptr<Raised> raised_;
};

// Puts the runner's QueueRunnerDef into a collection of the graph.
void add_queue_runner(Graph& graph, const QueueRunner& runner,
                      std::string_view collection = keys::kQueueRunners);

// Creates and starts the threads of all runners in the collection; returns those that are new. An empty
// collection is a warning. Throws as from_proto and create_threads.
std::vector<CoordinatedThread> start_queue_runners(Session& session, Coordinator* coord = nullptr,
                                                   StartQueueRunnersOptions options = {});

}  // namespace runnel
