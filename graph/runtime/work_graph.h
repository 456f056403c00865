// The working copy of a graph that planning passes edit: the nodes that one request needs, with what is known
// of each value. Passes run in the order of their declarations here; each says what it leaves behind.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/node.h"
#include "graph/op_spec.h"
#include "graph/runtime/session.h"
#include "graph/tensor.h"

namespace runnel {

struct VariableSlot;

// The tensor that output `output` of work node `node` stands for.
struct ValueId {
  int node = -1;
  int output = 0;
  auto operator<=>(const ValueId&) const = default;
};

// What is known of one output.
struct Value {
  DType dtype = DType::kInvalid;  // without ref
  Shape shape = Shape::unknown();
  std::optional<Tensor> constant;
  int variable = -1;    // it is this variable itself (a ref edge or a handle): WorkGraph::variables
  bool wanted = false;  // somebody reads it
};

enum class Kind {
  kKernel,
  kFed,  // value comes with the run: `feed`
  kConstant,
  kVariable,  // the variable itself, no work
  kView,      // output 0 is input 0 under another shape
  kSwitch,
  kMerge,
  kNothing,  // only orders
  kCopy,     // a copy of input 0 (a variable's value from before a write)
};

struct WorkNode {
  const Node* node = nullptr;  // null for kFed and kCopy
  Kind kind = Kind::kKernel;
  std::vector<ValueId> inputs;
  std::vector<int> before;  // nodes that run earlier without giving a value
  std::vector<Value> outputs;
  // Of a kernel's inputs when it runs: an assignment before it may change a variable's.
  std::vector<Shape> input_shapes;
  int feed = -1;
  bool live = true;        // false: reached by control edges alone, orders but does not run: kNothing
  bool must_copy = false;  // may not share the memory of its input
  bool may_be_dead = false;
  bool late = false;   // shapes or values are known only while the step runs: bound then
  bool parks = false;  // this or what it feeds waits: runs before variables are locked
};

struct WorkGraph {
  std::vector<WorkNode> nodes;
  std::vector<ValueId> fetches;  // node -1 for an operation
  std::vector<VariableSlot*> variables;
  std::vector<Shape>
      variable_shapes;     // before the step; unknown for one that has no value and no fixed shape
  std::vector<int> order;  // live nodes in execution order
  std::vector<std::vector<int>> before;  // by node: all that must run earlier, as values, controls and
                                         // variables want it
  std::vector<std::string> log;          // a line a pass

  const Value& value(ValueId id) const { return at(id.node).outputs[static_cast<std::size_t>(id.output)]; }
  Value& value(ValueId id) { return at(id.node).outputs[static_cast<std::size_t>(id.output)]; }
  const WorkNode& at(int i) const { return nodes[static_cast<std::size_t>(i)]; }
  WorkNode& at(int i) { return nodes[static_cast<std::size_t>(i)]; }
  std::string name_of(int i) const;
};

// What a plan is made for.
struct Signature {
  std::vector<Fetch> fetches;
  std::vector<Output> feeds;
};

// How the variable behind input i is used, if the op's traits say so.
std::optional<Access> access_of(const Node& node, int input);
bool writes(Access access);
// True for a node that runs even when nobody reads it.
bool has_effect(const Node& node);

using SlotFinder = std::function<VariableSlot*(const Node&)>;

// 1. Takes the nodes that the request needs; finds each variable. Throws InvalidArgument or Unimplemented,
//    naming all that is missing: placeholders without feed, ops without kernel, foreign nodes.
WorkGraph prune(const Signature& signature, const SlotFinder& slot_of);
// 2. Adds the edges that make reads see the right writes, and copies where no order does (design: "Order of
//    reads and writes"), then sorts. Throws InvalidArgument naming a cycle.
void order(WorkGraph& work);
// 3. Shapes and constants in execution order: folds what is constant, turns views into views, drops what is
//    no longer needed, marks as late what cannot be bound yet. `feed_shapes` may be unknown. Requires:
//    variable_shapes.
void resolve(WorkGraph& work, std::span<const Shape> feed_shapes);

}  // namespace runnel
