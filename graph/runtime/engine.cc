// Sessions' shared state: look-ups of variables, states and recipes, and closing.
#include "graph/runtime/engine.h"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>

#include "graph/error.h"
#include "graph/runtime/execution.h"
#include "graph/runtime/plan.h"

namespace runnel {
namespace {

// After this many different shapes of one request, a plan that takes any shape serves the rest.
constexpr int kMostShapes = 8;

int thread_count(int wanted, const char* option) {
  if (wanted < 0)
    throw InvalidArgument(
        cat(option, " is ", wanted, "; it must be at least 0, and 0 means one a processor"));
  if (wanted > 0) return wanted;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

std::size_t RequestHash::operator()(const RequestKey& key) const {
  std::size_t hash = 14695981039346656037ull;
  for (const auto& [pointer, index] : key.parts)
    hash = (hash ^ (reinterpret_cast<std::size_t>(pointer) + static_cast<std::size_t>(index))) *
           1099511628211ull;
  return hash ^ (hash >> 32);
}

std::shared_ptr<Plan> Recipe::plan_for(Engine& engine, std::span<const Feed> feeds) {
  {
    std::shared_lock hold(mutex_);
    for (const auto& plan : plans_)
      if (plan->same_shapes(feeds)) return plan;
    for (const auto& plan : plans_)
      if (plan->dynamic) return plan;
  }
  std::vector<Shape> shapes;
  const bool any_shape = !feeds.empty() && shapes_seen_.fetch_add(1) >= kMostShapes;
  for (const Feed& feed : feeds) shapes.push_back(any_shape ? Shape::unknown() : feed.value.shape());
  std::shared_ptr<Plan> plan = Plan::make(engine, signature_, shapes);
  std::unique_lock hold(mutex_);
  plans_.push_back(plan);
  return plan;
}

void Recipe::drop(const std::shared_ptr<Plan>& plan) {
  std::unique_lock hold(mutex_);
  std::erase(plans_, plan);
}

Engine::Engine(Graph& graph, SessionOptions options)
    : graph_(graph.shared()),
      options_(options),
      kernel_threads_(thread_count(options.intra_op_parallelism_threads, "intra_op_parallelism_threads")),
      chain_threads_(
          options.inter_op_parallelism_threads < 0
              ? 1
              : thread_count(options.inter_op_parallelism_threads, "inter_op_parallelism_threads")) {
  if (options.operation_timeout_in_ms < 0)
    throw InvalidArgument(cat("operation_timeout_in_ms is ", options.operation_timeout_in_ms,
                              "; it must be at least 0, and 0 means that a step may take any time"));
  openblas_set_num_threads(1);  // process-wide; large products are split over our own threads
  const int threads = std::max(kernel_threads_, chain_threads_);
  if (threads > 1) pool_ = std::make_unique<ThreadPool>(threads - 1);
  const char* log = std::getenv("RUNNEL_LOG_PLAN");
  if (log && std::string_view(log) == "1") options_.log_plans = true;
}

Engine::~Engine() = default;

VariableSlot* Engine::slot_of(const Node& variable) {
  std::lock_guard hold(state_mutex_);
  VariableSlot*& known = slots_of_nodes_[&variable];
  if (!known) known = &slot_named_by(variable);
  return known;
}

// Requires: the mutex is held.
VariableSlot& Engine::slot_named_by(const Node& variable) {
  const AttrValue* shared = variable.attr("shared_name");
  const std::string* name = shared ? shared->if_is<std::string>() : nullptr;
  const std::string& key = name && !name->empty() ? *name : variable.name();
  std::unique_ptr<VariableSlot>& slot = slots_[key];
  if (!slot)
    slot = std::make_unique<VariableSlot>(key, variable.type("dtype"), static_cast<int>(slots_.size()));
  if (slot->dtype != variable.type("dtype"))
    throw InvalidArgument(
        cat("variable '", key, "' holds ", slot->dtype, "; this node takes it for ", variable.type("dtype")),
        variable.where(), variable.name());
  return *slot;
}

std::shared_ptr<NodeState> Engine::state_of(const Node& node,
                                            const std::function<std::shared_ptr<NodeState>()>& make) {
  std::lock_guard hold(state_mutex_);
  std::shared_ptr<NodeState>& state = states_[&node];
  if (!state) state = make();
  return state;
}

std::shared_ptr<NodeState> Engine::resource_of(const ResourceRequest& request) {
  const auto attr_of = [&](const char* name) {
    const AttrValue* attr = request.maker->attr(name);
    const std::string* text = attr ? attr->if_is<std::string>() : nullptr;
    return text ? *text : std::string();
  };
  const std::string shared = attr_of("shared_name");
  const ResourceKey key{attr_of("container"), shared.empty() ? request.maker->name() : shared,
                        std::type_index(*request.type)};
  std::lock_guard hold(state_mutex_);
  const auto at = resources_.find(key);
  if (at != resources_.end()) return at->second;
  if (!request.make) return nullptr;
  return resources_.emplace(key, request.make()).first->second;
}

std::shared_ptr<Recipe> Engine::recipe_for(std::span<const Fetch> fetches, std::span<const Feed> feeds) {
  thread_local RequestKey key;  // kept, so that looking up takes no memory
  key.parts.clear();
  for (const Fetch& fetch : fetches) {
    if (fetch.output()) {
      key.parts.emplace_back(&fetch.output().node(), fetch.output().index());
    } else {
      key.parts.emplace_back(&fetch.operation().node(), -1);
    }
  }
  key.parts.emplace_back(nullptr, 0);
  for (const Feed& feed : feeds) key.parts.emplace_back(&feed.key.node(), feed.key.index());
  const std::uint64_t now = use_counter_.load(std::memory_order_relaxed);
  {
    std::shared_lock hold(recipe_mutex_);
    const auto at = recipes_.find(key);
    if (at != recipes_.end()) {
      at->second->used.store(now, std::memory_order_relaxed);
      return at->second->recipe;
    }
  }
  Signature signature;
  signature.fetches.assign(fetches.begin(), fetches.end());
  for (const Feed& feed : feeds) signature.feeds.push_back(feed.key);
  std::unique_lock hold(recipe_mutex_);
  std::unique_ptr<Entry>& entry = recipes_[key];
  if (!entry) entry = std::make_unique<Entry>();
  if (!entry->recipe) entry->recipe = std::make_shared<Recipe>(std::move(signature));
  entry->used.store(use_counter_.fetch_add(1) + 1);
  const std::shared_ptr<Recipe> recipe = entry->recipe;
  if (recipes_.size() > static_cast<std::size_t>(std::max(1, options_.plan_cache_size))) {
    const auto oldest =
        std::ranges::min_element(recipes_, {}, [](const auto& item) { return item.second->used.load(); });
    if (oldest->second->recipe != recipe) recipes_.erase(oldest);
  }
  return recipe;
}

void Engine::begin_step() {
  running_.fetch_add(1, std::memory_order_seq_cst);
  if (!closed_.load(std::memory_order_seq_cst)) return;
  end_step();
  throw FailedPrecondition("Attempted to use a closed Session.");
}

void Engine::end_step() {
  if (running_.fetch_sub(1, std::memory_order_seq_cst) != 1 || !closed_.load(std::memory_order_seq_cst))
    return;
  std::lock_guard hold(close_mutex_);
  idle_.notify_all();
}

void Engine::refuse_steps() {
  closed_.store(true, std::memory_order_seq_cst);
  {
    const std::lock_guard hold(close_mutex_);
    for (const std::shared_ptr<Waker>& waker : parked_) waker->wake();
  }
  lock_room_.wake_all();
}

void Engine::close() {
  refuse_steps();
  std::unique_lock hold(close_mutex_);
  idle_.wait(hold, [&] { return running_.load() == 0; });
}

void Engine::stop_waiting(std::string reason) {
  std::lock_guard hold(close_mutex_);
  no_waiting_ = std::move(reason);
  for (const std::shared_ptr<Waker>& waker : parked_) waker->wake();
}

void Engine::resume_waiting() {
  std::lock_guard hold(close_mutex_);
  no_waiting_.reset();
}

std::optional<std::string> Engine::no_waiting() const {
  std::lock_guard hold(close_mutex_);
  return no_waiting_;
}

void Engine::add_parked(const std::shared_ptr<Waker>& waker) {
  std::lock_guard hold(close_mutex_);
  parked_.push_back(waker);
}

void Engine::remove_parked(const std::shared_ptr<Waker>& waker) {
  std::lock_guard hold(close_mutex_);
  const auto at = std::ranges::find(parked_, waker);
  if (at != parked_.end()) parked_.erase(at);
}

}  // namespace runnel
