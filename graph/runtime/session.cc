// Session and Prepared: checking requests, finding plans, and running them.
#include "graph/runtime/session.h"

#include <algorithm>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/runtime/cancellation.h"
#include "graph/runtime/engine.h"
#include "graph/runtime/execution.h"
#include "graph/runtime/plan.h"
#include "graph/runtime/run_metadata.h"
#include "graph/runtime/running.h"
#include "graph/runtime/variable_values.h"

namespace runnel {
namespace {

// Runs between two looks at whether the graph grows.
constexpr std::uint64_t kRunsBetweenLooks = 256;

void check_value(const Output& key, const Tensor& value) {
  if (value.dtype() != base_of(key.dtype()) && key.dtype() != DType::kInvalid)
    throw InvalidArgument(cat("Cannot feed a value of dtype ", value ? name_of(value.dtype()) : "none",
                              " for tensor '", key.name(), "', which is ", base_of(key.dtype()), key.shape()),
                          key.node().where(), key.node().name());
  if (!value.shape().compatible_with(key.shape()))
    throw InvalidArgument(cat("Cannot feed a value of shape ", value.shape(), " for tensor '", key.name(),
                              "', which has shape ", key.shape()),
                          key.node().where(), key.node().name());
}

void check_owner(const Graph& graph, const Graph& owner, const std::string& name) {
  if (graph != owner) throw InvalidArgument(cat("'", name, "' is not an element of this session's graph"));
}

void check_fetches(const Graph& graph, std::span<const Fetch> fetches) {
  for (const Fetch& fetch : fetches) {
    if (fetch.output()) {
      check_owner(graph, fetch.output().graph(), fetch.output().name());
    } else {
      check_owner(graph, fetch.operation().graph(), fetch.operation().name());
    }
  }
}

void check_feeds(const Graph& graph, std::span<const Feed> feeds) {
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    check_owner(graph, feeds[i].key.graph(), feeds[i].key.name());
    check_value(feeds[i].key, feeds[i].value);
    for (std::size_t k = 0; k < i; ++k)
      if (feeds[k].key == feeds[i].key)
        throw InvalidArgument(cat("'", feeds[i].key.name(), "' is fed twice"));
  }
}

// Nothing of an earlier run stays in the metadata, whatever happens to this one.
void begin_with(const RunOptions& options) {
  if (options.timeout_in_ms < 0)
    throw InvalidArgument(cat("timeout_in_ms is ", options.timeout_in_ms,
                              "; it must be at least 0, and 0 means that the step may take any time"));
  if (options.run_metadata) *options.run_metadata = {};
}

void count_run(Engine& engine) {
  const std::uint64_t runs = engine.counters.runs.fetch_add(1, std::memory_order_relaxed) + 1;
  if (runs == 1 || runs % kRunsBetweenLooks == 0) engine.graph().note_run(runs);
}

// Runs `plan` on an execution of its pool, which goes back also when the step fails.
void run_pooled(Plan& plan, std::span<const Feed> feeds, const RunOptions& options, Tensor* out) {
  std::unique_ptr<Execution> execution = plan.take();
  struct GiveBack {
    Plan& plan;
    std::unique_ptr<Execution>& execution;
    ~GiveBack() { plan.give_back(std::move(execution)); }
  } give_back{plan, execution};
  execution->run(feeds, options, out);
}

}  // namespace

CancellationToken::CancellationToken() : state_(std::make_shared<State>()) {}
void CancellationToken::cancel() const { state_->cancel(); }
bool CancellationToken::cancelled() const { return state_->flag.load(std::memory_order_acquire); }

Session::Session() : Session(default_graph()) {}
Session::Session(Graph& graph, SessionOptions options) : engine_(std::make_shared<Engine>(graph, options)) {}
Session::Session(std::shared_ptr<Engine> engine) : engine_(std::move(engine)), is_share_(true) {}
Session::~Session() {
  if (!is_share_) close();
}

std::shared_ptr<Session> Session::share() { return std::shared_ptr<Session>(new Session(engine_)); }
void Session::stop_waiting(std::string reason) { engine_->stop_waiting(std::move(reason)); }
void Session::resume_waiting() { engine_->resume_waiting(); }

Graph& Session::graph() const { return engine_->graph(); }
FileSystem& Session::files() const {
  FileSystem* given = engine_->options().file_system;
  return given ? *given : real_file_system();
}
void Session::close() { engine_->close(); }
bool Session::closed() const { return engine_->closed(); }

Tensor Session::run(Fetch fetch, std::initializer_list<Feed> feeds, const RunOptions& options) {
  Tensor out;
  run_into(std::span(&fetch, 1), std::span(feeds.begin(), feeds.size()), options, &out);
  return out;
}

std::vector<Tensor> Session::run(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                                 const RunOptions& options) {
  std::vector<Tensor> out(fetches.size());
  run_into(fetches, feeds, options, out.data());
  return out;
}

void Session::run_into(std::span<const Fetch> fetches, std::span<const Feed> feeds, const RunOptions& options,
                       Tensor* out) {
  begin_with(options);
  Engine& engine = *engine_;
  const Running running(engine);
  check_fetches(engine.graph(), fetches);
  check_feeds(engine.graph(), feeds);
  count_run(engine);
  const std::shared_ptr<Recipe> recipe = engine.recipe_for(fetches, feeds);
  for (;;) {
    const std::shared_ptr<Plan> plan = recipe->plan_for(engine, feeds);
    try {
      return run_pooled(*plan, feeds, options, out);
    } catch (const PlanOutgrown&) {
      recipe->drop(plan);
    }
  }
}

Tensor Session::only(Fetch fetch, std::string_view kind, const std::string& name,
                     std::initializer_list<Feed> feeds, DType type) {
  const Node& node = fetch.output().node();
  const DType has = base_of(fetch.output().dtype());
  if (has != type && has != DType::kInvalid)
    throw InvalidArgument(
        cat(kind, " '", name, "' was asked for as ", type, ", but it is ", has, ": ask for ", has),
        node.where(), node.name());
  Tensor value = run(fetch, feeds);
  if (value.elements() != 1)
    throw InvalidArgument(cat(kind, " '", name, "' was asked for its only element, but it is ", value.dtype(),
                              value.shape(), ": run it and read the values of the tensor"),
                          node.where(), node.name());
  return value;
}

std::vector<Tensor> Session::snapshot(std::span<const Variable> variables) {
  const Running running(*engine_);
  std::vector<VariableSlot*> slots;
  for (const Variable& variable : variables) {
    check_owner(engine_->graph(), variable.graph(), variable.name());
    slots.push_back(engine_->slot_of(variable.parts().variable.node()));
  }
  const VariableLocks locks(*engine_, slots, false);
  std::vector<Tensor> out;
  for (const VariableSlot* slot : slots) {
    if (!slot->buffer)
      throw FailedPrecondition("Attempting to use uninitialized value " + slot->name, {}, slot->name);
    out.emplace_back(slot->dtype, slot->shape, slot->buffer);
  }
  return out;
}

SessionStats Session::stats() const {
  const Engine::Counters& c = engine_->counters;
  return {.runs = c.runs,
          .plans_made = c.plans_made,
          .kernels_run = c.kernels_run,
          .copies_by_writers = c.copies_by_writers,
          .arena_bytes = c.arena_bytes,
          .late_bindings = c.late_bindings};
}

std::string Session::describe(std::span<const Fetch> fetches, std::span<const Feed> feeds) {
  const Running running(*engine_);
  check_fetches(engine_->graph(), fetches);
  check_feeds(engine_->graph(), feeds);
  return engine_->recipe_for(fetches, feeds)->plan_for(*engine_, feeds)->text();
}

class PreparedState {
 public:
  PreparedState(std::shared_ptr<Engine> engine, Call call)
      : engine_(std::move(engine)), results_(call.fetches.size()) {
    check_fetches(engine_->graph(), call.fetches);
    for (const Output& feed : call.feeds) {
      check_owner(engine_->graph(), feed.graph(), feed.name());
      feeds_.push_back({feed, Tensor()});
    }
    recipe_ = engine_->recipe_for(call.fetches, feeds_);
  }

  std::span<const Tensor> run(std::span<const Tensor> values) {
    const Running running(*engine_);
    struct Drop {
      std::vector<Feed>& feeds;
      ~Drop() {
        for (Feed& feed : feeds) feed.value = Tensor();
      }
    } drop{feeds_};
    take(values);
    for (Tensor& result : results_)
      if (result) result = Tensor();  // so that their memory is free for this step
    count_run(*engine_);
    for (;;) {
      if (!execution_ || !plan_->fits(feeds_)) find_plan();
      try {
        execution_->run(feeds_, options_, results_.data());
        return results_;
      } catch (const PlanOutgrown&) {
        recipe_->drop(plan_);
        execution_.reset();
        plan_.reset();
      }
    }
  }

  RunOptions& options() { return options_; }

 private:
  void take(std::span<const Tensor> values) {
    if (values.size() != feeds_.size())
      throw InvalidArgument(cat("this call takes ", feeds_.size(), " feeds, not ", values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      check_value(feeds_[i].key, values[i]);
      feeds_[i].value = values[i];
    }
  }

  void find_plan() {
    if (execution_) plan_->give_back(std::move(execution_));
    plan_ = recipe_->plan_for(*engine_, feeds_);
    execution_ = plan_->take();
  }

  std::shared_ptr<Engine> engine_;
  std::vector<Feed> feeds_;
  std::vector<Tensor> results_;
  RunOptions options_;  // of the next call, or the one that runs
  std::shared_ptr<Recipe> recipe_;
  std::shared_ptr<Plan> plan_;
  std::unique_ptr<Execution> execution_;
};

Prepared Session::prepare(Call call) {
  return Prepared(std::make_unique<PreparedState>(engine_, std::move(call)));
}

Prepared::Prepared(std::unique_ptr<PreparedState> state) : state_(std::move(state)) {}
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;
std::span<const Tensor> Prepared::run(std::span<const Tensor> feeds) { return state_->run(feeds); }
std::span<const Tensor> Prepared::run(std::span<const Tensor> feeds, const RunOptions& options) {
  begin_with(options);
  struct Reset {
    RunOptions& options;
    ~Reset() { options = {}; }
  } reset{state_->options()};
  reset.options = options;
  return run(feeds);
}

}  // namespace runnel
