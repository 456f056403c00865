// The graph: an append-only store of nodes with unique names, scopes, control edges, devices and collections.
// Builders (ops/) add nodes through `add`, which does all checking, so that a mistake is reported at the line
// that made it. Names and collection keys are TensorFlow's (formats 6.1, behaviours 2).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "graph/node.h"
#include "graph/op_spec.h"

namespace runnel {

// One input argument of a node to be added: a tensor, or a list of tensors for a list argument.
class Argument {
 public:
  Argument(Output one) : outputs_{one} {}
  Argument(const Node& node) : outputs_{Output(node)} {}
  Argument(const Outputs& list) : outputs_(list), is_list_(true) {}
  const Outputs& outputs() const { return outputs_; }
  bool is_list() const { return is_list_; }

 private:
  Outputs outputs_;
  bool is_list_ = false;
};

// What a collection holds.
using CollectionItem = std::variant<Output, Operation, Variable, std::string, std::int64_t, float>;
using Collection = std::vector<CollectionItem>;

// TensorFlow's collection keys.
namespace keys {
inline constexpr const char* kGlobalVariables = "variables";
inline constexpr const char* kTrainableVariables = "trainable_variables";
inline constexpr const char* kLocalVariables = "local_variables";
inline constexpr const char* kModelVariables = "model_variables";
inline constexpr const char* kMetricVariables = "metric_variables";
inline constexpr const char* kMovingAverageVariables = "moving_average_variables";
inline constexpr const char* kSummaries = "summaries";
inline constexpr const char* kQueueRunners = "queue_runners";
inline constexpr const char* kTableInitializers = "table_initializer";
inline constexpr const char* kSavers = "savers";
inline constexpr const char* kLosses = "losses";
inline constexpr const char* kRegularizationLosses = "regularization_losses";
inline constexpr const char* kUpdateOps = "update_ops";
inline constexpr const char* kInitOp = "init_op";
inline constexpr const char* kLocalInitOp = "local_init_op";
inline constexpr const char* kReadyOp = "ready_op";
inline constexpr const char* kReadyForLocalInitOp = "ready_for_local_init_op";
inline constexpr const char* kSummaryOp = "summary_op";
inline constexpr const char* kGlobalStep = "global_step";
inline constexpr const char* kTrainOp = "train_op";
inline constexpr const char* kCondContext = "cond_context";
inline constexpr const char* kWhileContext = "while_context";
}  // namespace keys

struct GraphOptions {
  std::optional<std::int64_t> seed =
      {};  // as tf.set_random_seed; none: random ops start differently each time
};

// How a graph is written.
struct GraphDefOptions {
  bool add_shapes = false;           // the attribute `_output_shapes` on every node that has outputs
  bool strip_default_attrs = false;  // leave out attributes that have their op's default
  bool clear_devices = false;
};

// Building is guarded by a lock, so several threads may add nodes and sessions may run meanwhile. Scopes
// belong to the thread that opened them. Does not move or copy; what it holds is shared with its sessions,
// savers, optimizers and scopes, so that this object may go before them.
class Graph {
 public:
  Graph();
  explicit Graph(GraphOptions options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // A share of the graph: its nodes, and handles to them, stay good while the share lives, also when this
  // object is gone.
  std::shared_ptr<Graph> shared() const;
  // True for two objects of one graph. That of a node or a session (`node.graph()`) and the one that was made
  // first have different addresses: compare graphs, not addresses.
  bool operator==(const Graph& other) const { return state_ == other.state_; }

  // Adds a node. `name` is made unique inside the current scope; empty means the op's type; one that ends in
  // '/' is used as it is, from the root, without the slash. Dtype attributes and list lengths are inferred
  // from the inputs, missing attributes take the op's defaults. Throws InvalidArgument, FailedPrecondition if
  // the graph is finalized, NotFound if no op has that name.
  Node& add(std::string_view op, const std::vector<Argument>& inputs, Attrs attrs = {},
            std::string_view name = "", Location where = {});
  // The same with control edges of its own, besides those of open ControlDependencies.
  Node& add(std::string_view op, const std::vector<Argument>& inputs, std::span<const Operation> control,
            Attrs attrs, std::string_view name, Location where);

  // --- looking up. All throw NotFound with near names when there is nothing of that name.
  Operation operation(std::string_view name) const;
  Output output(std::string_view name) const;     // "x:0"; a bare "x" is refused as in TensorFlow
  const Node* find(std::string_view name) const;  // null if there is none
  std::vector<Node*> nodes() const;               // in order of making
  std::size_t size() const;

  // --- names and scopes
  // The name that a node of this name would get now, reserved (behaviours 2). Throws InvalidArgument for bad
  // names.
  std::string unique_name(std::string_view name);
  std::string current_scope() const;  // "linear/", or "" at the root
  // The graph's seed and FNV-1a of `full_name`, or the op's own seed: the attrs (seed, seed2) of a random op
  // (design: "Random numbers", formats 9.1).
  std::pair<std::int64_t, std::int64_t> seeds(std::optional<std::int64_t> op_seed,
                                              std::string_view full_name) const;
  void set_seed(std::optional<std::int64_t> seed);
  std::optional<std::int64_t> seed() const;

  // --- collections: any key, an ordered list
  void add_to_collection(std::string_view key, CollectionItem item);
  Collection collection(std::string_view key) const;  // a copy; empty if there is none
  std::vector<std::string> collection_keys() const;
  void set_collection(std::string_view key, Collection items);
  std::vector<Variable> variables(std::string_view key = keys::kGlobalVariables) const;

  // --- finalizing: afterwards adding nodes or changing collections throws FailedPrecondition
  void finalize();
  void unfinalize();
  bool finalized() const;

  // Called by sessions before a run: warns once, with the last place, when nodes were added during many runs.
  void note_run(std::uint64_t runs);

  int producer() const;  // GraphDef.versions.producer

  // Writing and reading graphs (graph/README.md, "GraphDef"): bytes of a serialized GraphDef, or its text
  // form. Throws InvalidArgument if the graph would take 2 GB or more.
  std::string to_graph_def(GraphDefOptions options = {}) const;
  std::string to_graph_def_text(GraphDefOptions options = {}) const;
  // Adds all nodes of a GraphDef, binary or text, under their own names. Throws InvalidArgument (what is
  // wrong with which node), DataLoss (bytes that are no GraphDef) or ResourceExhausted (constants over 4
  // GiB), and then has added nothing.
  void import_graph_def(std::string_view graph_def);

  // For graph_def.cc and the scope guards.
  struct State;
  State& state() const { return *state_; }

 private:
  explicit Graph(State& state);  // the one inside, which nodes know
  std::shared_ptr<State> state_;
};

// Puts the names of nodes made while it lives under `name/`. A name used before gets `_1`, ...; "" goes back
// to the root; a name ending in '/' re-opens that scope as it is.
class [[nodiscard]] NameScope {
 public:
  NameScope(Graph& graph, std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  const std::string& name() const { return scope_; }  // "linear/"

 private:
  std::shared_ptr<Graph> graph_;
  std::string scope_, before_;
};

// Makes every node made while it lives run after the given ones. Nests; an empty Clear drops what is outside.
class [[nodiscard]] ControlDependencies {
 public:
  struct Clear {};
  ControlDependencies(Graph& graph, std::span<const Operation> operations);
  ControlDependencies(Graph& graph, std::initializer_list<Operation> operations)
      : ControlDependencies(graph, std::span(operations.begin(), operations.size())) {}
  ControlDependencies(Graph& graph, Clear);
  ~ControlDependencies();
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;

 private:
  std::shared_ptr<Graph> graph_;
};

// Gives nodes made while it lives a device, kept as an attribute ("/device:CPU:0"; "/cpu:0" is understood).
// An inner scope's fields win over an outer one's. Throws InvalidArgument for what is no device.
class [[nodiscard]] DeviceScope {
 public:
  DeviceScope(Graph& graph, std::string_view device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  std::shared_ptr<Graph> graph_;
};

// Gives nodes made while it lives the `_class` attribute "loc:@NODE", or the group that NODE is in, and its
// device, as colocate_with.
class [[nodiscard]] ColocateWith {
 public:
  struct Nothing {};
  explicit ColocateWith(const Node& node);
  // With a node of this name that is still to be made; inside another ColocateWith, with what that one says.
  ColocateWith(Graph& graph, std::string_view name);
  // With nothing, whatever is open outside.
  ColocateWith(Graph& graph, Nothing);
  ~ColocateWith();
  ColocateWith(const ColocateWith&) = delete;
  ColocateWith& operator=(const ColocateWith&) = delete;

 private:
  std::shared_ptr<Graph> graph_;
};

// Makes every node made while it lives say that it was made at `where`, whatever its builder says: what a
// composed builder or a gradient adds points at the line that caused it. An unknown place changes nothing.
class [[nodiscard]] MadeAt {
 public:
  MadeAt(Graph& graph, Location where);
  ~MadeAt();
  MadeAt(const MadeAt&) = delete;
  MadeAt& operator=(const MadeAt&) = delete;

 private:
  std::shared_ptr<Graph> graph_;
  Location before_;
};

// For people who come from TensorFlow; nothing in the library depends on these but constructors without a
// graph.
Graph& default_graph();
// A new empty default graph. Throws FailedPrecondition inside an AsDefault.
void reset_default_graph();
// Makes `graph` the default of this thread while it lives.
class [[nodiscard]] AsDefault {
 public:
  explicit AsDefault(Graph& graph);
  ~AsDefault();
  AsDefault(const AsDefault&) = delete;
  AsDefault& operator=(const AsDefault&) = delete;
};

}  // namespace runnel
