// Training by gradients: an optimizer adds the ops that move variables so that a loss falls. What all
// optimizers share is here; each rule is one pair of files (gradient_descent.h, momentum.h, adam.h). Nodes,
// slots and their names are TensorFlow's (formats 6.4, behaviours 16), so that checkpoints with optimizer
// state fit. Left out: use_locking and constraints.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "ops/initializers.h"

namespace runnel {

// A variable and the gradient of the loss by it, which may be none.
struct GradientOf {
  Grad gradient;
  Variable variable;
};
using GradientsOf = std::vector<GradientOf>;

// What waits for what: nothing; all gradients of one op for each other; all gradients of all variables.
enum class Gate { kNone, kOp, kGraph };

struct ComputeGradientsOptions {
  std::vector<Variable> var_list = {};  // default: the collection `trainable_variables`
  Gate gate_gradients = Gate::kOp;
  Output grad_loss = {};  // the gradient to start with; ones if empty
  Location where = Location::here();
};

struct ApplyGradientsOptions {
  Variable global_step = {};  // counted up by one after the update
  std::string name = "";      // of the update; default: the optimizer's
  Location where = Location::here();
};

struct MinimizeOptions {
  Variable global_step = {};
  std::vector<Variable> var_list = {};
  Gate gate_gradients = Gate::kOp;
  std::string name = "";
  Output grad_loss = {};
  Location where = Location::here();
};

// Builds graph; may be used for several losses and graphs. One thread at a time. Keeps a share of each graph
// that it applied gradients in, since the slots it keeps are handles to them.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // compute_gradients and apply_gradients in one. Variables without a gradient are left alone, with a warning
  // that says why. Throws InvalidArgument with a line a variable, saying why, if there is no gradient at all.
  Operation minimize(Output loss, MinimizeOptions options = {});

  // The gradient of the loss by each variable, to look at or to change before it is applied. Throws
  // InvalidArgument if there are no variables, or the loss is not floating.
  GradientsOf compute_gradients(Output loss, ComputeGradientsOptions options = {});

  // Adds the update of all variables that have a gradient, and to the collection `train_op`. Throws
  // InvalidArgument if none has, or if an imported graph has slots of an optimizer of this name.
  Operation apply_gradients(const GradientsOf& gradients, ApplyGradientsOptions options = {});

  const std::string& name() const { return name_; }
  // The slot of that name of a variable; empty if there is none.
  Variable get_slot(const Variable& variable, std::string_view slot) const;
  std::vector<std::string> get_slot_names() const;  // sorted
  std::vector<Variable> variables() const;          // slots and others that this optimizer made, by name

 protected:
  explicit Optimizer(std::string name, Location where);

  // What a rule says. Called in this order, inside the right scopes.
  virtual void create_slots(const std::vector<Variable>& variables);
  virtual void prepare(Graph& graph) = 0;  // makes constants of the hyperparameters
  virtual Operation apply_dense(Output gradient, const Variable& variable) = 0;
  // The same for a gradient of which only some rows are there, maybe one of them twice. A rule that moves the
  // variable as by the whole gradient hands it on so (to_dense in ops/indexed_slices.h).
  virtual Operation apply_rows(const IndexedSlices& rows, const Variable& variable) = 0;
  virtual Operation finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name);

  // For rules: a slot that starts as `start` says, made once; and a scalar float variable beside `near`.
  Variable make_slot(const Variable& variable, const std::string& slot, const Initializer& start);
  Variable make_scalar(float start, const std::string& name, const Variable& near);
  Variable scalar(const Graph& graph, std::string_view name) const;
  Location where() const { return where_; }

 private:
  void refuse_imported_slots(const std::vector<Variable>& variables) const;
  Operation add_step(const Variable& global_step, Operation updates, const std::string& name);

  std::string name_;
  Location where_;                           // of the call being served
  std::set<std::shared_ptr<Graph>> graphs_;  // of the handles below
  std::map<std::string, std::vector<std::pair<Variable, Variable>>, std::less<>> slots_;
  std::map<std::string, std::vector<Variable>, std::less<>> scalars_;
};

// A scalar as the dtype of the variables it is used for.
Output as_type(Output scalar, DType type, Location where);

}  // namespace runnel
