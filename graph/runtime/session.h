// Running a graph. A Session owns the values of variables and other state, turns each request (fetches and
// feeds) into a plan once, and runs the plan every time after. Any number of threads may run steps of one
// session at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "graph/tensor.h"

namespace runnel {

class FileSystem;
struct RunMetadata;

// What a run is asked for: a tensor, an operation (which returns an empty Tensor), or a variable's value.
class Fetch {
 public:
  Fetch(Output output) : output_(output) {}
  Fetch(Operation operation) : operation_(operation) {}
  Fetch(const Variable& variable) : output_(variable.value()) {}
  const Output& output() const { return output_; }
  const Operation& operation() const { return operation_; }

 private:
  Output output_;
  Operation operation_;
};

// A value for a tensor of the graph; any tensor may be fed. The dtype must be the tensor's, the shape
// compatible.
struct Feed {
  Output key;
  Tensor value;
};

// Asks running steps to stop, from any thread: they end with Cancelled. Copies share one state.
class CancellationToken {
 public:
  CancellationToken();
  void cancel() const;
  bool cancelled() const;

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

struct RunOptions {
  std::int64_t timeout_in_ms = 0;                   // over it the step ends with DeadlineExceeded; 0: none
  const CancellationToken* cancellation = nullptr;  // must outlive the run
  // Filled with what each kernel of the step took, those that ran before an error too; recording costs time.
  RunMetadata* run_metadata = nullptr;
};

struct SessionOptions {
  // Threads that share one large kernel; 0: one a processor.
  int intra_op_parallelism_threads = 0;
  // Independent branches of a step that run at once, where that is worth a thread; 0: one a processor, 1 or
  // less: all on the caller's thread. The session starts as many threads as the larger of the two says, less
  // the caller's; (1, 1) starts none.
  int inter_op_parallelism_threads = 0;
  std::int64_t operation_timeout_in_ms = 0;  // for runs that state none
  // Plans kept, the least recently used going first.
  int plan_cache_size = 256;
  bool log_plans = false;  // each new plan to the log, as RUNNEL_LOG_PLAN=1 does for all sessions
  // What ops that read and write files use; borrowed, outlives the session. None means the machine's files.
  FileSystem* file_system = nullptr;
};

// What tests and benches count.
struct SessionStats {
  std::uint64_t runs = 0;
  std::uint64_t plans_made = 0;
  std::uint64_t kernels_run = 0;        // in the last finished step
  std::uint64_t copies_by_writers = 0;  // variables copied because someone else held the value
  std::uint64_t arena_bytes = 0;        // of the plan made last
  std::uint64_t late_bindings = 0;      // kernels bound while a step ran
};

struct Call {
  std::vector<Output> feeds = {};
  std::vector<Fetch> fetches = {};
};

class Engine;
class PreparedState;

// A call prepared once and run often. Its results are its own and are overwritten by the next call; a copy of
// one keeps its values. One thread at a time; make one a thread. Outlives its Session safely: then it throws.
class Prepared {
 public:
  explicit Prepared(std::unique_ptr<PreparedState> state);
  Prepared(Prepared&&) noexcept;
  Prepared& operator=(Prepared&&) noexcept;
  ~Prepared();

  // Feeds in the order of Call::feeds; returns the fetches in theirs.
  std::span<const Tensor> operator()(std::initializer_list<Tensor> feeds = {}) {
    return run(std::span(feeds.begin(), feeds.size()));
  }
  std::span<const Tensor> operator()(std::span<const Tensor> feeds) { return run(feeds); }
  std::span<const Tensor> operator()(std::initializer_list<Tensor> feeds, const RunOptions& options) {
    return run(std::span(feeds.begin(), feeds.size()), options);
  }
  std::span<const Tensor> operator()(std::span<const Tensor> feeds, const RunOptions& options) {
    return run(feeds, options);
  }

 private:
  std::span<const Tensor> run(std::span<const Tensor> feeds);
  std::span<const Tensor> run(std::span<const Tensor> feeds, const RunOptions& options);
  std::unique_ptr<PreparedState> state_;
};

// Everything but the constructor is thread-safe. The destructor closes the session, unless it is a share.
class Session {
 public:
  Session();  // of the default graph
  explicit Session(Graph& graph, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs what the fetches need, once each, and returns their values. Throws InvalidArgument for feeds that do
  // not fit and placeholders without one, FailedPrecondition for uninitialised variables and a closed
  // session, and what kernels throw, with the node's name. Writes done before an error stay done.
  Tensor run(Fetch fetch, std::initializer_list<Feed> feeds = {}, const RunOptions& options = {});
  template <std::size_t N>
  std::array<Tensor, N> run(const Fetch (&fetches)[N], std::initializer_list<Feed> feeds = {},
                            const RunOptions& options = {}) {
    std::array<Tensor, N> out;
    run_into(std::span<const Fetch>(fetches), std::span(feeds.begin(), feeds.size()), options, out.data());
    return out;
  }
  std::vector<Tensor> run(std::span<const Fetch> fetches, std::initializer_list<Feed> feeds = {},
                          const RunOptions& options = {}) {
    return run(fetches, std::span(feeds.begin(), feeds.size()), options);
  }
  std::vector<Tensor> run(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                          const RunOptions& options = {});

  // The plan as a callable, for loops that want no look-up. Checks the signature now, shapes at each call.
  Prepared prepare(Call call);

  // The only element of a scalar (or of what has a single element): a variable's value, or a tensor's in a
  // run. Throws InvalidArgument, naming it, if T is not its dtype (then nothing runs) or it has more
  // elements.
  template <class T>
  T get(const Variable& variable) {
    return only(variable, "variable", variable.name(), {}, dtype_of<T>()).template scalar<T>();
  }
  template <class T>
  T get(Output output, std::initializer_list<Feed> feeds = {}) {
    return only(output, "tensor", output.name(), feeds, dtype_of<T>()).template scalar<T>();
  }

  // All values of these variables between two steps: a cut that no step is in the middle of. Uninitialised
  // ones throw FailedPrecondition.
  std::vector<Tensor> snapshot(std::span<const Variable> variables);

  // Cancels running steps, waits for them, and refuses later ones. May be called twice.
  void close();
  bool closed() const;

  // Another handle of the same session, which may outlive this one: closing either closes both, and so does
  // the end of the one that was made with the graph; the end of a share closes nothing.
  std::shared_ptr<Session> share();

  // From now on a step that would have to wait (for a queue) ends at once with Cancelled, which tells the
  // reason, and so do those that wait now. Steps that need not wait run on.
  void stop_waiting(std::string reason);
  void resume_waiting();

  Graph& graph() const;
  FileSystem& files() const;  // of SessionOptions, or the machine's
  SessionStats stats() const;
  // The plan for a request, as text: kernels in order, shapes, offsets, bytes. `feeds` give the shapes.
  std::string describe(std::span<const Fetch> fetches, std::span<const Feed> feeds = {});

  const std::shared_ptr<Engine>& engine() const { return engine_; }

 private:
  explicit Session(std::shared_ptr<Engine> engine);  // a share
  void run_into(std::span<const Fetch> fetches, std::span<const Feed> feeds, const RunOptions& options,
                Tensor* out);
  Tensor only(Fetch fetch, std::string_view kind, const std::string& name, std::initializer_list<Feed> feeds,
              DType type);
  std::shared_ptr<Engine> engine_;
  bool is_share_ = false;
};

}  // namespace runnel
