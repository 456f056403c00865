// How many threads are active is kept in the session, beside the queue, since the collection makes new
// QueueRunners each time it is read. A thread knows its Filling, never the QueueRunner.
#include "train/supervisor/queue_runner.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "graph/kernel.h"
#include "graph/log.h"
#include "graph/runtime/engine.h"
#include "graph/wire.h"
#include "runnel/queue_runner.pb.h"
#include "train/supervisor/carried_error.h"

namespace runnel {
namespace {

// Of one queue in one session: the threads that are active, by the enqueue operations of their runner.
struct ActiveThreads final : NodeState {
  std::mutex mutex;
  std::map<std::string, int> count;
};

std::string names_of(const std::vector<Operation>& operations) {
  std::string out;
  for (const Operation& operation : operations) out += operation.name() + '\n';
  return out;
}

}  // namespace

struct QueueRunner::Raised {
  std::mutex mutex;
  std::vector<std::exception_ptr> errors;
};

namespace {

// What the threads of one create_threads share.
class Filling : public std::enable_shared_from_this<Filling> {
 public:
  Filling(Session& session, Coordinator* coord, const QueueRunner& runner)
      : session_(session.share()),
        coord_(coord ? coord->share() : nullptr),
        close_op_(runner.close_op()),
        cancel_op_(runner.cancel_op()),
        closed_types_(runner.queue_closed_exception_types()),
        key_(names_of(runner.enqueue_ops())) {
    const Node& queue = runner.queue().node();
    active_ = std::static_pointer_cast<ActiveThreads>(session_->engine()->resource_of(
        {&queue, &typeid(ActiveThreads), [] { return std::make_shared<ActiveThreads>(); }}));
    if (coord_) on_stop_ = coord_->on_stop([token = token_] { token.cancel(); });
  }

  // False if there are active threads already.
  bool begin(int threads) {
    const std::lock_guard hold(active_->mutex);
    int& count = active_->count[key_];
    if (count > 0) return false;
    count = threads;
    return true;
  }

  // For threads that never began; those that did end, too.
  void give_up(int threads) {
    token_.cancel();
    for (int i = 0; i < threads; ++i) leave();
  }

  // Runs `enqueue` until the input ends, a stop or an error. Returns normally for the first two.
  void fill(const Operation& enqueue) {
    bool ended = false;
    try {
      ended = enqueue_until_end(enqueue);
    } catch (...) {
      leave();
      if (token_.cancelled() && code_of(std::current_exception()) == Code::kCancelled) return;
      throw;
    }
    if (leave() == 0 && ended) run_ignoring_errors(close_op_);
  }

  void cancel_on_stop() {
    {
      const Doing waiting("waits for a stop");
      coord_->wait_for_stop();
    }
    run_ignoring_errors(cancel_op_);
  }

 private:
  // True at the end of the input, false at a stop.
  bool enqueue_until_end(const Operation& enqueue) {
    const Doing doing(cat("runs '", enqueue.name(), "'"));
    Prepared call = session_->prepare({.fetches = {enqueue}});
    const RunOptions options{.cancellation = &token_};
    while (!coord_ || !coord_->should_stop()) {
      try {
        call({}, options);
      } catch (const Error& error) {
        if (std::count(closed_types_.begin(), closed_types_.end(), error.code()) > 0) return true;
        throw;
      }
    }
    return false;
  }

  // Returns how many threads are left.
  int leave() {
    const std::lock_guard hold(active_->mutex);
    return --active_->count[key_];
  }

  void run_ignoring_errors(const Operation& operation) {
    const Doing doing(cat("runs '", operation.name(), "'"));
    try {
      session_->run(operation);
    } catch (...) {  // the queue or the session was closed before: what was wanted
    }
  }

  const std::shared_ptr<Session> session_;
  const std::shared_ptr<Coordinator> coord_;  // null if there is none
  const Operation close_op_, cancel_op_;
  const std::vector<Code> closed_types_;
  const std::string key_;
  const CancellationToken token_;
  std::shared_ptr<ActiveThreads> active_;
  OnStop on_stop_;  // last: no call comes any more when the rest goes
};

// Starts all threads, of which the first `enqueuing` run enqueue operations, or lets none go on.
void start_all(const std::vector<CoordinatedThread>& threads, Filling& filling, std::size_t enqueuing) {
  std::size_t started = 0;
  try {
    for (; started < threads.size(); ++started) threads[started].start();
  } catch (...) {
    filling.give_up(static_cast<int>(enqueuing - std::min(started, enqueuing)));
    throw;
  }
}

}  // namespace

// --- making

QueueRunner::QueueRunner() : raised_(std::make_shared<Raised>()) {}

QueueRunner::QueueRunner(Output queue, std::vector<Operation> enqueue_ops, QueueRunnerOptions options)
    : QueueRunner() {
  const std::string& name = queue.node().name();
  if (enqueue_ops.empty())
    throw InvalidArgument(
        cat("QueueRunner '", name, "': there is no enqueue operation; give it one a thread"), options.where);
  if (options.queue_closed_exception_types.empty())
    throw InvalidArgument(
        cat("QueueRunner '", name, "': no error means the end of the input; name one, OutOfRange say"),
        options.where);
  queue_ = queue.node();
  enqueue_ops_ = std::move(enqueue_ops);
  closed_types_ = std::move(options.queue_closed_exception_types);
  close_op_ = options.close_op ? options.close_op : QueueBase(queue).close({.where = options.where});
  cancel_op_ = options.cancel_op
                   ? options.cancel_op
                   : QueueBase(queue).close({.cancel_pending_enqueues = true, .where = options.where});
}

QueueRunner::QueueRunner(const QueueBase& queue, std::vector<Operation> enqueue_ops,
                         QueueRunnerOptions options)
    : QueueRunner(queue.queue_ref(), std::move(enqueue_ops), std::move(options)) {}

QueueRunner QueueRunner::from_proto(Graph& graph, std::string_view queue_runner_def,
                                    std::string_view import_scope) {
  pb::QueueRunnerDef def;
  if (!parse_message(queue_runner_def, def)) throw DataLoss("QueueRunner: these bytes are no QueueRunnerDef");
  const std::string prefix = import_scope.empty() || import_scope.ends_with('/') ? std::string(import_scope)
                                                                                 : cat(import_scope, '/');
  const auto find = [&](const std::string& name, const char* what) -> Operation {
    if (name.empty())
      throw InvalidArgument(cat("QueueRunner '", def.queue_name(), "': its ", what, " has no name"));
    return graph.operation(prefix + name.substr(0, name.find(':')));
  };
  QueueRunner runner;
  runner.queue_ = find(def.queue_name(), "queue");
  for (const std::string& name : def.enqueue_op_name())
    runner.enqueue_ops_.push_back(find(name, "enqueue operation"));
  if (runner.enqueue_ops_.empty())
    throw InvalidArgument(cat("QueueRunner '", def.queue_name(), "': it names no enqueue operation"));
  runner.close_op_ = find(def.close_op_name(), "close operation");
  runner.cancel_op_ = find(def.cancel_op_name(), "cancel operation");
  for (const int code : def.queue_closed_exception_types())
    runner.closed_types_.push_back(static_cast<Code>(code));
  if (runner.closed_types_.empty()) runner.closed_types_ = {Code::kOutOfRange};
  return runner;
}

std::string QueueRunner::to_proto(std::string_view export_scope) const {
  if (!name().starts_with(export_scope)) return "";
  const std::string prefix = export_scope.empty() || export_scope.ends_with('/') ? std::string(export_scope)
                                                                                 : cat(export_scope, '/');
  const auto relative = [&](const Operation& operation) {
    const std::string& full = operation.name();
    return full.starts_with(prefix) ? full.substr(prefix.size()) : full;
  };
  pb::QueueRunnerDef def;
  def.set_queue_name(relative(queue_));
  for (const Operation& enqueue : enqueue_ops_) def.add_enqueue_op_name(relative(enqueue));
  def.set_close_op_name(relative(close_op_));
  def.set_cancel_op_name(relative(cancel_op_));
  for (const Code code : closed_types_) def.add_queue_closed_exception_types(static_cast<int>(code));
  return message_bytes(def, "a queue runner");
}

const std::string& QueueRunner::name() const { return queue_.name(); }

// --- running

std::vector<CoordinatedThread> QueueRunner::create_threads(Session& session, Coordinator* coord,
                                                           CreateThreadsOptions options) const {
  const auto filling = std::make_shared<Filling>(session, coord, *this);
  if (!filling->begin(static_cast<int>(enqueue_ops_.size()))) return {};
  {
    const std::lock_guard hold(raised_->mutex);
    raised_->errors.clear();
  }
  std::vector<CoordinatedThread> threads;
  const auto add = [&](const std::string& part, std::function<void()> body) {
    threads.emplace_back(cat("QueueRunnerThread-", name(), "-", part), std::move(body));
  };
  for (const Operation& enqueue : enqueue_ops_) {
    if (coord) {
      add(enqueue.name(), [filling, enqueue, to = coord->share()] {
        to->stop_on_exception([&] { filling->fill(enqueue); });
      });
    } else {
      add(enqueue.name(), [filling, enqueue, raised = raised_] {
        try {
          filling->fill(enqueue);
        } catch (...) {
          const std::lock_guard hold(raised->mutex);
          raised->errors.push_back(std::current_exception());
          throw;
        }
      });
    }
  }
  if (coord) add("close_on_stop", [filling] { filling->cancel_on_stop(); });
  for (const CoordinatedThread& thread : threads)
    if (coord) coord->register_thread(thread);
  if (options.start) start_all(threads, *filling, enqueue_ops_.size());
  return threads;
}

std::vector<std::exception_ptr> QueueRunner::exceptions_raised() const {
  const std::lock_guard hold(raised_->mutex);
  return raised_->errors;
}

void add_queue_runner(Graph& graph, const QueueRunner& runner, std::string_view collection) {
  graph.add_to_collection(collection, runner.to_proto());
}

std::vector<CoordinatedThread> start_queue_runners(Session& session, Coordinator* coord,
                                                   StartQueueRunnersOptions options) {
  std::vector<CoordinatedThread> threads;
  const Collection items = session.graph().collection(options.collection);
  if (items.empty())
    log_warning(cat("start_queue_runners: the collection ", options.collection,
                    " is empty, so no queue is filled; leave the call out if there is no queue"));
  for (const CollectionItem& item : items) {
    const std::string* def = std::get_if<std::string>(&item);
    if (!def)
      throw InvalidArgument(cat("start_queue_runners: an item of the collection ", options.collection,
                                " is no QueueRunnerDef; put runners there by add_queue_runner"));
    const QueueRunner runner = QueueRunner::from_proto(session.graph(), *def);
    for (CoordinatedThread& thread : runner.create_threads(session, coord, {.start = options.start}))
      threads.push_back(std::move(thread));
  }
  return threads;
}

}  // namespace runnel
