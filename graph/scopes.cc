// The scope guards: names, control dependencies, devices, colocation, and the default graph. A guard only
// edits its thread's ScopeState and puts it back.
#include <algorithm>
#include <array>

#include "graph/dataflow.h"
#include "graph/dataflow_state.h"
#include "graph/error.h"

namespace runnel {
namespace {

// The fields of a device name; an empty one is not set.
struct Device {
  std::string job, replica, task, type, index;
};

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

// One part of a device name, as "job:ps", "device:CPU:0" or "cpu:0".
void parse_part(std::string_view part, Device& out) {
  const std::size_t colon = part.find(':');
  const std::string_view key = part.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? "" : part.substr(colon + 1);
  if (key == "job" && !value.empty()) {
    out.job = value;
  } else if (key == "replica" && all_digits(value)) {
    out.replica = value;
  } else if (key == "task" && all_digits(value)) {
    out.task = value;
  } else if (key == "device" && !value.empty()) {
    const std::size_t second = value.find(':');
    out.type = upper(value.substr(0, second));
    out.index = second == std::string_view::npos ? "*" : value.substr(second + 1);
  } else if (upper(key) == "CPU" || upper(key) == "GPU") {
    out.type = upper(key);
    out.index = value.empty() ? "*" : value;
  } else {
    throw InvalidArgument(cat("unknown part '", part, "' of a device; write /job:NAME/task:N/device:CPU:0"));
  }
  if (!out.index.empty() && out.index != "*" && !all_digits(out.index))
    throw InvalidArgument(cat("'", out.index, "' is no device number"));
}

Device parse_device(std::string_view name) {
  Device out;
  while (!name.empty()) {
    if (name.front() == '/') name.remove_prefix(1);
    const std::size_t end = std::min(name.find('/'), name.size());
    if (end > 0) parse_part(name.substr(0, end), out);
    name.remove_prefix(end);
  }
  return out;
}

std::string text_of(const Device& device) {
  std::string out;
  if (!device.job.empty()) out += "/job:" + device.job;
  if (!device.replica.empty()) out += "/replica:" + device.replica;
  if (!device.task.empty()) out += "/task:" + device.task;
  if (!device.type.empty()) out += "/device:" + device.type + ":" + device.index;
  return out;
}

thread_local std::vector<Graph*> defaults;

struct GlobalGraph {
  std::mutex lock;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
};
GlobalGraph& global_graph() {
  static auto* global = new GlobalGraph;
  return *global;
}

}  // namespace

std::string merged_device(const ScopeState& scope) {
  Device out;
  for (auto name = scope.devices.rbegin(); name != scope.devices.rend() && *name != "\n"; ++name) {
    const Device outer = parse_device(*name);
    const auto fill = [](std::string& field, const std::string& from) {
      if (field.empty()) field = from;
    };
    fill(out.job, outer.job);
    fill(out.replica, outer.replica);
    fill(out.task, outer.task);
    if (out.type.empty()) out.index = outer.index;
    fill(out.type, outer.type);
  }
  return text_of(out);
}

std::string Graph::current_scope() const {
  std::lock_guard hold(state_->lock);
  return state_->scope().name;
}

NameScope::NameScope(Graph& graph, std::string_view name) : graph_(graph.shared()) {
  Graph::State& state = graph.state();
  std::lock_guard hold(state.lock);
  ScopeState& scope = state.scope();
  before_ = scope.name;
  if (name.empty()) {
    scope_ = "";
  } else if (name.ends_with('/')) {
    scope_ = name;
  } else {
    const std::string full = before_ + std::string(name);
    if (!is_node_name(full)) refuse_name(full, "scope");
    scope_ = state.unique(full, true) + "/";
  }
  scope.name = scope_;
}

NameScope::~NameScope() {
  std::lock_guard hold(graph_->state().lock);
  graph_->state().scope().name = before_;
}

ControlDependencies::ControlDependencies(Graph& graph, std::span<const Operation> operations)
    : graph_(graph.shared()) {
  std::lock_guard hold(graph.state().lock);
  ScopeState::Control control;
  for (const Operation& operation : operations) {
    if (operation.graph() != graph)
      throw InvalidArgument(cat("control dependency '", operation.name(), "' is of another graph"));
    control.nodes.push_back(&operation.node());
  }
  control.first_id = static_cast<int>(graph.state().nodes.size());
  graph.state().scope().controls.push_back(std::move(control));
}

ControlDependencies::ControlDependencies(Graph& graph, Clear) : graph_(graph.shared()) {
  std::lock_guard hold(graph.state().lock);
  graph.state().scope().controls.push_back({.clears = true, .nodes = {}, .first_id = 0});
}

ControlDependencies::~ControlDependencies() {
  std::lock_guard hold(graph_->state().lock);
  graph_->state().scope().controls.pop_back();
}

DeviceScope::DeviceScope(Graph& graph, std::string_view device) : graph_(graph.shared()) {
  parse_device(device);
  std::lock_guard hold(graph.state().lock);
  graph.state().scope().devices.emplace_back(device);
}

DeviceScope::~DeviceScope() {
  std::lock_guard hold(graph_->state().lock);
  graph_->state().scope().devices.pop_back();
}

ColocateWith::ColocateWith(const Node& node) : graph_(node.graph().shared()) {
  std::lock_guard hold(graph_->state().lock);
  // A node that is in a group already leads into that group.
  const AttrValue* group = node.attr("_class");
  graph_->state().scope().colocations.push_back(
      {group ? *group : AttrValue(std::vector<std::string>{"loc:@" + node.name()}), node.device()});
}

ColocateWith::ColocateWith(Graph& graph, std::string_view name) : graph_(graph.shared()) {
  std::lock_guard hold(graph_->state().lock);
  ScopeState& scope = graph_->state().scope();
  const bool open = !scope.colocations.empty() && scope.colocations.back().group;
  const ScopeState::Colocation own{std::vector<std::string>{"loc:@" + std::string(name)},
                                   merged_device(scope)};
  scope.colocations.push_back(open ? ScopeState::Colocation(scope.colocations.back()) : own);
}

ColocateWith::ColocateWith(Graph& graph, Nothing) : graph_(graph.shared()) {
  std::lock_guard hold(graph_->state().lock);
  graph_->state().scope().colocations.push_back({});
}

ColocateWith::~ColocateWith() {
  std::lock_guard hold(graph_->state().lock);
  graph_->state().scope().colocations.pop_back();
}

MadeAt::MadeAt(Graph& graph, Location where) : graph_(graph.shared()) {
  std::lock_guard hold(graph.state().lock);
  Location& made_at = graph.state().scope().made_at;
  before_ = made_at;
  if (where.known()) made_at = where;
}

MadeAt::~MadeAt() {
  std::lock_guard hold(graph_->state().lock);
  graph_->state().scope().made_at = before_;
}

Graph& default_graph() {
  if (!defaults.empty()) return *defaults.back();
  GlobalGraph& global = global_graph();
  std::lock_guard hold(global.lock);
  return *global.graph;
}

void reset_default_graph() {
  if (!defaults.empty())
    throw FailedPrecondition(
        "reset_default_graph: a graph is the default in this block (AsDefault); leave it first");
  GlobalGraph& global = global_graph();
  std::lock_guard hold(global.lock);
  global.graph = std::make_shared<Graph>();
}

AsDefault::AsDefault(Graph& graph) { defaults.push_back(&graph); }
AsDefault::~AsDefault() { defaults.pop_back(); }

}  // namespace runnel
