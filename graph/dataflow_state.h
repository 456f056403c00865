// What a Graph holds, for the files of graph/ that implement it (dataflow.cc, scopes.cc, graph_def.cc,
// meta_graph.cc).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "graph/dataflow.h"

namespace runnel {

// Scopes that one thread has open.
struct ScopeState {
  struct Control {
    bool clears = false;
    std::vector<Node*> nodes;
    int first_id = 0;  // nodes with this id or higher were made inside
  };
  struct Colocation {
    std::optional<AttrValue> group;  // `_class`; none: nodes get none
    std::string device;
  };
  std::string name;  // "linear/"
  std::vector<Control> controls;
  std::vector<std::string> devices;     // outermost first; "\n" stands for a reset by colocation
  std::vector<Colocation> colocations;  // the innermost one counts
  Location made_at;                     // of the innermost MadeAt
};

// A node with everything decided: inputs flat, name final.
struct NodeRequest {
  std::string op, name, device;
  const OpSpec* spec = nullptr;
  bool foreign = false;
  Outputs inputs;
  std::vector<Node*> control;
  Attrs attrs;
  Location where;
  std::string unknown_fields;
};

// What came with imported files and goes out with the graph again.
struct CarriedMessages {
  int producer = 134;  // TensorFlow 1.15's graph version, or that of an imported graph if higher
  int min_consumer = 0;
  std::string library;                         // serialized FunctionDefLibrary, word for word
  std::string unknown_fields;                  // serialized GraphDef fields that Runnel does not know
  std::string unknown_meta_fields;             // the same of a MetaGraphDef: signatures, assets
  std::map<std::string, std::string> op_defs;  // serialized OpDefs of those own_ops that are no functions
  std::map<std::string, std::string>
      collections;  // serialized CollectionDefs of kinds that Runnel does not know
};

// Shared by the Graph that a program made and by all that keep the graph. Nodes know the Graph inside, which
// owns nothing and lives as long as they do.
struct Graph::State : std::enable_shared_from_this<Graph::State> {
  State() : graph(*this) {}

  Graph graph;
  mutable std::recursive_mutex lock;
  std::vector<std::unique_ptr<Node, void (*)(Node*)>> nodes;
  std::unordered_map<std::string, Node*> by_name;
  std::unordered_map<std::string, int> names;  // lower-cased names in use -> next suffix to try
  std::map<std::thread::id, ScopeState> scopes;
  std::map<std::string, Collection, std::less<>> collections;
  std::optional<std::int64_t> seed;
  bool finalized = false;

  // Specs that this graph carries itself: functions of its library, ops of a `.meta` that Runnel lacks.
  std::map<std::string, OpSpec, std::less<>> own_ops;
  // Specs of single nodes whose op nothing describes, by node name.
  std::map<std::string, OpSpec, std::less<>> node_specs;
  CarriedMessages carried;

  // For the warning about growth during runs.
  std::size_t nodes_at_first_run = 0;
  std::uint64_t runs_before = 0;
  bool growth_warned = false;

  ScopeState& scope() { return scopes[std::this_thread::get_id()]; }
  const OpSpec* spec_of(std::string_view op) const;

  // Checks inputs and attributes against the spec, fills in defaults, runs the shape function and stores the
  // node. Nothing is changed when it throws. An empty Output among the inputs is an edge still to come (a
  // loop's).
  Node& insert(NodeRequest request);
  void require_not_finalized(std::string_view what) const;
  std::string unique(std::string_view scoped_name, bool mark);
  void reserve(std::string_view full_name);  // names made later differ from this one

  static Node* make_node();
  static void set_input(Node& node, int i, Output from);
  static const std::string& unknown_fields_of(const Node& node);
};

// True for a name that a node may have at the root (formats 6.1).
bool is_node_name(std::string_view name);
// "name is no valid node name" with the rule, as InvalidArgument.
[[noreturn]] void refuse_name(std::string_view name, std::string_view what);

// The device that a node gets from the open DeviceScopes.
std::string merged_device(const ScopeState& scope);

}  // namespace runnel
