// The parts of a graph that a program holds: Node, the handles Output, Operation and Variable, and the
// gradient values Grad and IndexedSlices. Handles are small, copyable and borrow the graph: they are good
// while its Graph lives, or a Session or Saver of it, or a share (Graph::shared).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/attr.h"
#include "graph/location.h"
#include "graph/tensor.h"

namespace runnel {

class Graph;
class Node;
class Output;
struct OpSpec;

// An index into a tensor's first dimension, with the caller's place: `weight[0]`.
struct Index {
  Index(int value, Location where = Location::here()) : value(value), where(where) {}
  int value;
  Location where;
};

// One output of a node: a tensor that will exist when a session runs. An empty Output (default-made) throws
// InvalidArgument when used.
class Output {
 public:
  Output() = default;
  Output(const Node& node, int index = 0) : node_(const_cast<Node*>(&node)), index_(index) {}

  Node& node() const;
  Graph& graph() const;
  int index() const { return index_; }
  DType dtype() const;  // may be a ref type
  const Shape& shape() const;
  std::string name() const;  // "weight:0"
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Output&) const = default;

  // A slice of the first dimension, as in Python; made in ops/ (StridedSlice).
  Output operator[](Index index) const;

 private:
  Node* node_ = nullptr;
  int index_ = 0;
};
using Outputs = std::vector<Output>;

// A node that is run for what it does. An empty Operation throws InvalidArgument when used.
class Operation {
 public:
  Operation() = default;
  Operation(const Node& node) : node_(const_cast<Node*>(&node)) {}

  Node& node() const;
  Graph& graph() const;
  const std::string& name() const;
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Operation&) const = default;

 private:
  Node* node_ = nullptr;
};

// Where a part lies in the whole of a partitioned variable (SaveSliceInfoDef).
struct SaveSlice {
  std::string full_name;
  std::vector<std::int64_t> full_shape, offset, shape;
};

// Everything that belongs to one variable (VariableDef). Made in ops/, or from a `.meta`.
struct VariableParts {
  Output variable;        // the ref, or the resource handle
  Operation initializer;  // "NAME/Assign"
  Output snapshot;        // "NAME/read:0", or "NAME/Read/ReadVariableOp:0"
  Output initial_value;
  bool is_resource = false;
  bool trainable = true;
  int aggregation = 0;                     // numbers of VariableAggregation
  int synchronization = 0;                 // numbers of VariableSynchronization
  std::shared_ptr<const SaveSlice> slice;  // null for a whole variable
};

// A handle to a variable; copies refer to the same one. An empty Variable throws InvalidArgument when used.
class Variable {
 public:
  Variable() = default;
  explicit Variable(std::shared_ptr<VariableParts> parts) : parts_(std::move(parts)) {}

  const VariableParts& parts() const;
  Graph& graph() const { return parts().variable.graph(); }
  const std::string& name() const;  // of the node: "linear/weight"
  DType dtype() const;              // of the elements
  Shape shape() const;
  // What a consumer of the value takes: the read Identity of a ref variable, the cached read of a resource
  // one.
  Output value() const { return parts().snapshot; }
  explicit operator bool() const { return parts_ != nullptr; }
  bool operator==(const Variable& other) const;

  Output operator[](Index index) const;  // made in ops/

  // From now on it starts as `value`, which `initializer` assigns to it, for every handle of it. For what
  // builds graphs (init_from_checkpoint), while nobody else builds on the variable.
  void start_as(Operation initializer, Output value) const;

 private:
  std::shared_ptr<VariableParts> parts_;
};

// A gradient of which only some rows differ from zero: row indices[i] is values[i].
struct IndexedSlices {
  Output values;       // T[n, ...]
  Output indices;      // int32 or int64[n]
  Output dense_shape;  // may be empty
};

// The gradient of one tensor: none, dense, or some rows.
class Grad {
 public:
  Grad() = default;
  Grad(Output dense) : value_(dense) {}
  Grad(const Node& node) : value_(Output(node)) {}
  Grad(IndexedSlices slices) : value_(slices) {}

  explicit operator bool() const { return !std::holds_alternative<std::monostate>(value_); }
  const IndexedSlices* slices() const { return std::get_if<IndexedSlices>(&value_); }
  // The dense gradient. Throws InvalidArgument if there is none, Unimplemented for IndexedSlices.
  operator Output() const { return dense(); }
  Output dense() const;

 private:
  std::variant<std::monostate, Output, IndexedSlices> value_;
};
using Grads = std::vector<Grad>;

// An operation of the graph. Owned by what its Graph shares, lives as long, and is never changed after it was
// added, but for edges into loop merges while a graph is imported and for what an optimizer of collections
// marks.
class Node {
 public:
  Node(const Node&) = delete;  // `auto node = graph.add(...)` wants a reference, or Operation
  Node& operator=(const Node&) = delete;

  const std::string& name() const { return name_; }
  const std::string& op() const { return op_; }
  const OpSpec& spec() const { return *spec_; }
  Graph& graph() const { return *graph_; }
  int id() const { return id_; }  // position in the graph, in order of making
  const std::string& device() const { return device_; }
  Location where() const { return where_; }
  // False for an op that Runnel has no spec of: kept, exported, may be fed, cannot run.
  bool is_foreign() const { return foreign_; }

  int inputs() const { return static_cast<int>(inputs_.size()); }
  Output input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const Outputs& input_list() const { return inputs_; }
  Output input(std::string_view arg, int k = 0) const { return input(input_position(arg, k)); }
  const std::vector<Node*>& control_inputs() const { return control_inputs_; }
  int outputs() const { return static_cast<int>(output_types_.size()); }
  Output output(int i) const { return Output(*this, i); }
  DType output_type(int i) const { return output_types_[static_cast<std::size_t>(i)]; }
  const Shape& output_shape(int i) const { return output_shapes_[static_cast<std::size_t>(i)]; }

  // Flat position of the k-th tensor of an argument, and how many tensors the argument has.
  int input_position(std::string_view arg, int k = 0) const;
  int input_count(std::string_view arg) const;
  int output_position(std::string_view arg, int k = 0) const;
  int output_count(std::string_view arg) const;

  // Attributes. The typed ones throw Internal if the attribute is missing or of another kind.
  const Attrs& attrs() const { return attrs_; }
  const AttrValue* attr(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  float number(std::string_view name) const;
  const std::string& bytes(std::string_view name) const;
  DType type(std::string_view name) const;
  const Shape& shape(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;
  const std::vector<std::int64_t>& integers(std::string_view name) const;
  const std::vector<DType>& types(std::string_view name) const;

 private:
  friend class Graph;
  Node() = default;

  std::string name_, op_, device_;
  const OpSpec* spec_ = nullptr;
  Graph* graph_ = nullptr;
  int id_ = -1;
  bool foreign_ = false;
  Location where_;
  Outputs inputs_;
  std::vector<Node*> control_inputs_;
  Attrs attrs_;
  std::vector<DType> output_types_;
  std::vector<Shape> output_shapes_;
  std::string unknown_fields_;  // serialized NodeDef fields that Runnel does not know
};

}  // namespace runnel
