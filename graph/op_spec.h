// What an op is: its signature as TensorFlow's OpDef states it, its shape function, its gradient, and the
// traits that the plan must know. One literal per op (house rule 23); the arguments and attributes are
// written in OpDef's own notation ("x: T", "N: int >= 1", "T: {float, double}") and parsed when the literal
// is made.
//
// The registry holds all specs by name. It is filled by static objects before main and read-only after.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attr.h"
#include "graph/node.h"

namespace runnel {

// One input or output argument: a tensor, `number_attr` tensors of one type, or a list of tensors of the
// types in `type_list_attr`. Notation: "x: T", "x: float", "x: N * T", "x: Tlist", "ref: Ref(T)", "ref:
// Ref(float)".
struct ArgSpec {
  ArgSpec() = default;
  ArgSpec(const char* notation);

  std::string name;
  DType type = DType::kInvalid;  // set when the type is fixed
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;

  bool is_list() const { return !number_attr.empty() || !type_list_attr.empty(); }
};

// One attribute. Notation: "T: type", "T: {float, double} = DT_FLOAT", "axis: int = 0", "N: int >= 1",
// "s: string = ''", "mode: {'a', 'b'} = 'a'", "shape: shape = {unknown_rank: true}", "l: list(int) = []".
struct AttrSpec {
  AttrSpec() = default;
  AttrSpec(const char* notation);

  std::string name;
  std::string type;  // "int", "list(type)", ...
  std::optional<AttrValue> default_value;
  std::vector<DType> allowed_types;          // empty: all
  std::vector<std::string> allowed_strings;  // empty: all
  std::optional<std::int64_t> minimum;
};

// What a shape function returns: one shape an output.
class Shapes {
 public:
  Shapes() = default;
  Shapes(Shape shape) : shapes_{std::move(shape)} {}
  Shapes(std::initializer_list<Shape> shapes) : shapes_(shapes) {}
  Shapes(std::vector<Shape> shapes) : shapes_(std::move(shapes)) {}
  const std::vector<Shape>& list() const { return shapes_; }

 private:
  std::vector<Shape> shapes_;
};

struct Rank {
  int value;
};

// What a shape function may ask. Shapes are as far as known: when the node is added, and again before the
// kernel is bound, then with every dimension known.
class ShapeContext {
 public:
  virtual ~ShapeContext() = default;

  const Node& node() const { return *node_; }
  int inputs() const;                                            // flat count
  virtual Shape input(int i) const = 0;                          // flat position
  virtual std::optional<Tensor> constant(int i) const = 0;       // the value, where it is known
  virtual std::optional<Shape> input_as_shape(int i) const = 0;  // a value that is a shape, known in part

  // By the argument's name; k counts within a list argument.
  int position(std::string_view arg, int k = 0) const;
  int count(std::string_view arg) const;
  Shape input(std::string_view arg, int k = 0) const { return input(position(arg, k)); }
  // Throws InvalidArgument "a has rank 3, not 2" if the rank is known to be another; unknown rank gives
  // [?,?].
  Shape input(std::string_view arg, Rank rank) const;
  std::optional<Tensor> constant(std::string_view arg) const { return constant(position(arg)); }
  std::optional<Shape> input_as_shape(std::string_view arg) const { return input_as_shape(position(arg)); }

  // Attributes, as Node's of the same names.
  bool flag(std::string_view name) const { return node_->flag(name); }
  std::int64_t integer(std::string_view name) const { return node_->integer(name); }

  // The one dimension that both stand for. Throws InvalidArgument "WHAT differ" with all inputs, if they
  // cannot be equal.
  std::int64_t require_equal(std::int64_t a, std::int64_t b, std::string_view what) const;
  // Throws InvalidArgument `problem` followed by every input: "inner dimensions differ: a is float[2,3]
  // (x:0), ...".
  [[noreturn]] void refuse(std::string_view problem) const;

  // The shape of the variable behind input i (a ref or a resource handle); unknown if it cannot be told.
  virtual Shape variable_shape(int i) const;

 protected:
  explicit ShapeContext(const Node& node) : node_(&node) {}
  const Node* node_;
};

using ShapeFunction = std::function<Shapes(const ShapeContext&)>;

// The decision about an op's gradient; there is no default, so a spec without one does not compile.
class Gradient {
 public:
  enum class Kind { kFunction, kNone, kUnwritten };
  using Function = std::function<Grads(const Node&, std::span<const Grad>)>;

  // A function of the node and the gradient of its only (or first) output.
  template <class F>
  requires std::is_invocable_r_v<Grads, F, const Node&, Grad> Gradient(F f)
      : function_([f](const Node& n, std::span<const Grad> d) -> Grads { return f(n, d[0]); }) {}
  // A function of the node and the gradients of all outputs.
  template <class F>
  requires std::is_invocable_r_v<Grads, F, const Node&, std::span<const Grad>> Gradient(F f) : function_(f) {}

  // No gradient flows, silently, as in TensorFlow; the reason is shown by `runnel ops`.
  static Gradient none(std::string reason) { return {Kind::kNone, std::move(reason)}; }
  // TensorFlow has a gradient that is not written here yet: asking for it raises Unimplemented with the
  // reason.
  static Gradient unwritten(std::string reason) { return {Kind::kUnwritten, std::move(reason)}; }

  Kind kind() const { return kind_; }
  const std::string& reason() const { return reason_; }
  Grads operator()(const Node& node, std::span<const Grad> grads) const { return function_(node, grads); }

 private:
  Gradient(Kind kind, std::string reason) : kind_(kind), reason_(std::move(reason)) {}
  Kind kind_ = Kind::kFunction;
  std::string reason_;
  Function function_;
};

// How an op touches the variable behind one of its inputs (a ref edge or a resource handle).
enum class Access {
  kUpdates,     // reads and changes it in place
  kOverwrites,  // gives it a whole new value; it need not be initialised
  kReads,       // its output is the variable's value (ReadVariableOp)
  kAsks,        // asks only whether it is initialised
};
struct VariableUse {
  std::string arg;
  Access access;
};

// What the plan must know of an op without knowing its name (house rule 4).
enum class Role {
  kPlain,
  kConstant,       // output 0 is attr "value"
  kPlaceholder,    // must be fed
  kDefaulted,      // input 0 unless fed (PlaceholderWithDefault)
  kVariable,       // output 0 is a ref to, or the handle of, a variable of this node
  kAlias,          // output 0 is input 0; on a ref edge the ref goes through
  kShapeOf,        // outputs depend on the inputs' shapes alone, not on their values
  kSwitch,         // data goes to output 0 (pred false) or 1 (true); the other is dead
  kMerge,          // the first input that is alive
  kLoop,           // Enter, Exit, LoopCond: a loop, which does not run yet
  kNextIteration,  // a loop's back edge starts here; edges out of it close no cycle
  kNothing,        // computes nothing (NoOp)
};
struct Traits {
  Role role = Role::kPlain;
  std::vector<VariableUse> variables = {};
  // Inputs whose values (not only shapes) the shape function or the kernel's binder reads: dims, axes, perm,
  // ...
  std::vector<std::string> bind_values = {};
  // True if output 0 has just the elements of input 0 in the same order, so that it may share its memory.
  std::function<bool(const ShapeContext&)> view = nullptr;
  bool stateful = false;
  bool commutative = false;
  bool aggregate = false;
  bool allows_uninitialized_input = false;
  // The kernel may wait for something outside the step (a queue); it runs before any variable is locked.
  bool may_park = false;
};
// Traits::view of ops that always are one (Reshape, ExpandDims, Squeeze).
bool always_view(const ShapeContext&);

struct OpSpec {
  std::string name;
  std::vector<ArgSpec> inputs = {};
  std::vector<ArgSpec> outputs = {};
  std::vector<AttrSpec> attrs = {};
  ShapeFunction shape;
  Gradient gradient;
  Traits traits = {};
  // Output 0 as a shape known in part (Shape, Pack, StridedSlice of a shape); leave out where no one needs
  // it.
  std::function<std::optional<Shape>(const ShapeContext&)> as_shape = nullptr;

  const AttrSpec* attr(std::string_view attr_name) const;
  int input_index(std::string_view arg) const;  // position in `inputs`; -1 if there is none
  int output_index(std::string_view arg) const;
};

// Shape functions that many ops share.
Shapes unknown_shapes(const ShapeContext& c);   // nothing is known of any output
Shapes scalar_shape(const ShapeContext&);       // one output, []
Shapes same_shape(const ShapeContext& c);       // output 0 has input 0's shape
Shapes broadcast_shape(const ShapeContext& c);  // of inputs 0 and 1
Shapes no_shapes(const ShapeContext&);          // no outputs

// Registers a spec for the life of the program: `const OpRegistration kMatMul{{.name = "MatMul", ...}};`
class OpRegistration {
 public:
  explicit OpRegistration(OpSpec spec);
};

// The registered spec, or null.
const OpSpec* find_op(std::string_view name);
// All registered specs by name.
const std::map<std::string, OpSpec, std::less<>>& all_ops();

}  // namespace runnel
