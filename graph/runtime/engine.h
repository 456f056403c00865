// What one session holds: the values of variables, the state of other ops, the plans made so far, the
// threads, and whether it is closed. Shared by the Session's copies, by prepared calls and by running steps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include "graph/kernel.h"
#include "graph/runtime/session.h"
#include "graph/runtime/thread_pool.h"
#include "graph/runtime/variable_slot.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

class Plan;

// Hash and equality of what a run asks for: the fetches, then the feeds.
struct RequestKey {
  std::vector<std::pair<const void*, int>> parts;
  bool operator==(const RequestKey&) const = default;
};
struct RequestHash {
  std::size_t operator()(const RequestKey& key) const;
};

// The plans of one request, one for each set of shapes, and one without shapes after too many of them.
class Recipe {
 public:
  explicit Recipe(Signature signature) : signature_(std::move(signature)) {}
  const Signature& signature() const { return signature_; }
  // The plan for these shapes, made if there is none.
  std::shared_ptr<Plan> plan_for(Engine& engine, std::span<const Feed> feeds);
  // Forgets a plan that variables have outgrown.
  void drop(const std::shared_ptr<Plan>& plan);

 private:
  Signature signature_;
  std::shared_mutex mutex_;
  std::vector<std::shared_ptr<Plan>> plans_;
  std::atomic<int> shapes_seen_{0};
};

class Engine {
 public:
  Engine(Graph& graph, SessionOptions options);
  ~Engine();

  Graph& graph() const { return *graph_; }
  const SessionOptions& options() const { return options_; }

  VariableSlot* slot_of(const Node& variable);
  std::shared_ptr<NodeState> state_of(const Node& node,
                                      const std::function<std::shared_ptr<NodeState>()>& make);
  std::shared_ptr<NodeState> resource_of(const ResourceRequest& request);
  std::shared_ptr<Recipe> recipe_for(std::span<const Fetch> fetches, std::span<const Feed> feeds);

  // Marks a step as running, or throws FailedPrecondition when the session is closed.
  void begin_step();
  void end_step();
  // The part of close() that waits for nobody: steps that run are cancelled, later ones refused.
  void refuse_steps();
  void close();
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // Wakers of parked steps, so that close() reaches them.
  void add_parked(const std::shared_ptr<Waker>& waker);
  void remove_parked(const std::shared_ptr<Waker>& waker);
  // Session::stop_waiting and resume_waiting.
  void stop_waiting(std::string reason);
  void resume_waiting();
  // Why no step may wait now, if so.
  std::optional<std::string> no_waiting() const;

  ThreadPool* pool() const { return pool_.get(); }        // null where one thread does all
  int kernel_threads() const { return kernel_threads_; }  // that share one kernel
  int chain_threads() const { return chain_threads_; }    // for independent branches of one step
  LockRoom& lock_room() { return lock_room_; }

  // Goes up whenever a variable's buffer is replaced; executions look whether they have to read pointers
  // anew.
  std::atomic<std::uint64_t> epoch{1};

  struct Counters {
    std::atomic<std::uint64_t> runs{0}, plans_made{0}, kernels_run{0}, copies_by_writers{0}, arena_bytes{0},
        late_bindings{0};
  };
  Counters counters;

 private:
  VariableSlot& slot_named_by(const Node& variable);

  const std::shared_ptr<Graph> graph_;  // first: nodes outlive all that knows them
  SessionOptions options_;
  LockRoom lock_room_;
  const int kernel_threads_, chain_threads_;
  std::unique_ptr<ThreadPool> pool_;

  std::mutex state_mutex_;
  std::map<std::string, std::unique_ptr<VariableSlot>> slots_;
  std::unordered_map<const Node*, VariableSlot*> slots_of_nodes_;  // looked up before
  std::unordered_map<const Node*, std::shared_ptr<NodeState>> states_;
  using ResourceKey = std::tuple<std::string, std::string, std::type_index>;  // container, name, what it is
  std::map<ResourceKey, std::shared_ptr<NodeState>> resources_;

  std::shared_mutex recipe_mutex_;
  struct Entry {
    std::shared_ptr<Recipe> recipe;
    std::atomic<std::uint64_t> used{0};
  };
  std::unordered_map<RequestKey, std::unique_ptr<Entry>, RequestHash> recipes_;
  std::atomic<std::uint64_t> use_counter_{0};

  std::atomic<bool> closed_{false};
  std::atomic<int> running_{0};
  mutable std::mutex close_mutex_;
  std::condition_variable idle_;
  std::vector<std::shared_ptr<Waker>> parked_;
  std::optional<std::string> no_waiting_;
};

}  // namespace runnel
