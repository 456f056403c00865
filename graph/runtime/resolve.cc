// Pass 3: what each value's shape is and which values are constants, in execution order, so that a variable's
// shape is the one that the last assignment before its reader gave it. Constant nodes are computed here and
// leave the plan.
#include <algorithm>

#include "graph/error.h"
#include "graph/runtime/binder.h"
#include "graph/runtime/variable_slot.h"
#include "graph/runtime/work_graph.h"

namespace runnel {
namespace {

// A folded constant lives as long as its plan, so only small ones are folded; larger ones are computed each
// step.
constexpr std::int64_t kMostFoldedBytes = 256 * 1024;

class PlanShapes final : public ShapeContext {
 public:
  PlanShapes(const WorkGraph& work, const WorkNode& node, const std::vector<Shape>& variables)
      : ShapeContext(*node.node), work_(work), work_node_(node), variables_(variables) {}
  using ShapeContext::constant;
  using ShapeContext::input;
  using ShapeContext::input_as_shape;

  Shape input(int i) const override {
    const Value& value = value_of(i);
    if (value.variable < 0) return value.shape;
    return node_->input(i).dtype() == DType::kResource ? Shape{} : variable(value);
  }
  Shape variable_shape(int i) const override {
    const Value& value = value_of(i);
    return value.variable < 0 ? value.shape : variable(value);  // a copy of the value from before a write
  }
  std::optional<Tensor> constant(int i) const override { return value_of(i).constant; }
  std::optional<Shape> input_as_shape(int i) const override {
    const std::optional<Tensor>& value = value_of(i).constant;
    if (value) {
      if (value->shape().rank() != 1) return std::nullopt;
      const std::vector<std::int64_t> dims = integers(*value);
      if (std::ranges::any_of(dims, [](std::int64_t d) { return d < kUnknown; })) return std::nullopt;
      return Shape(dims);
    }
    const Shape shape = input(i);
    if (shape.rank() == 1 && shape[0] >= 0 && shape[0] < 256)
      return Shape::unknown_of_rank(static_cast<int>(shape[0]));
    return std::nullopt;
  }

 private:
  const Value& value_of(int i) const { return work_.value(work_node_.inputs[static_cast<std::size_t>(i)]); }
  const Shape& variable(const Value& value) const {
    return variables_[static_cast<std::size_t>(value.variable)];
  }
  const WorkGraph& work_;
  const WorkNode& work_node_;
  const std::vector<Shape>& variables_;
};

class Resolver {
 public:
  Resolver(WorkGraph& work, std::span<const Shape> feed_shapes)
      : work_(work), feed_shapes_(feed_shapes), variables_(work.variable_shapes) {}

  void run() {
    for (const int i : work_.order) {
      WorkNode& node = work_.at(i);
      if (node.live) visit(node);
    }
    keep_needed();
    work_.log.push_back(cat("resolve: ", folded_, " nodes folded, ", views_, " views, ", late_, " late, ",
                            work_.order.size(), " left"));
  }

 private:
  const Shape& shape_of(const ValueId& id) const {
    const Value& value = work_.value(id);
    return value.variable < 0 ? value.shape : variables_[static_cast<std::size_t>(value.variable)];
  }

  void visit(WorkNode& node) {
    switch (node.kind) {
      case Kind::kFed: node.outputs[0].shape = feed_shapes_[static_cast<std::size_t>(node.feed)]; return;
      case Kind::kConstant:
        node.outputs[0].constant = node.node->tensor("value");
        node.outputs[0].shape = node.outputs[0].constant->shape();
        return;
      case Kind::kVariable: return;
      case Kind::kView: return visit_alias(node);
      case Kind::kCopy:
        node.outputs[0].shape = shape_of(node.inputs[0]);
        node.late = !node.outputs[0].shape.is_known();
        return;
      case Kind::kSwitch:
        for (Value& out : node.outputs) out.shape = work_.value(node.inputs[0]).shape;
        return;
      case Kind::kMerge: return visit_merge(node);
      case Kind::kNothing: return;
      case Kind::kKernel: return visit_kernel(node);
    }
  }

  void visit_alias(WorkNode& node) {
    Value& out = node.outputs[0];
    if (out.variable >= 0) return;
    out.shape = shape_of(node.inputs[0]);
    if (!node.may_be_dead) out.constant = work_.value(node.inputs[0]).constant;
    ++views_;
  }

  void visit_merge(WorkNode& node) {
    Shape shape = shape_of(node.inputs[0]);
    for (const ValueId& id : node.inputs)
      if (!(shape_of(id) == shape)) shape = Shape::unknown();
    node.outputs[0].shape = shape;
    node.outputs[1].shape = Shape{};
    node.late = !shape.is_known();
  }

  void visit_kernel(WorkNode& node) {
    try {
      const bool fits = infer(node);
      for (const ValueId& id : node.inputs) node.input_shapes.push_back(shape_of(id));
      if (reads_variable(node)) {
        node.kind = Kind::kView;
        node.late = !node.outputs[0].shape.is_known();
        return;
      }
      note_assignment(node);
      node.late = !fits || !bindable(node);
      if (!node.late && make_view(node)) return;
      if (foldable(node)) fold(node);
    } catch (const Error& error) {
      throw_at_node(error, node.node->op(), node.node->name(), node.node->where());
    }
    if (node.late) ++late_;
  }

  // False if the inputs do not fit the op in a branch that may not run: then it is an error of the step that
  // runs it, since the branch may be there for inputs of other shapes.
  bool infer(WorkNode& node) {
    const PlanShapes context(work_, node, variables_);
    std::vector<Shape> shapes(node.outputs.size(), Shape::unknown());
    bool fits = true;
    try {
      shapes = node.node->spec().shape(context).list();
    } catch (const Error&) {
      if (!node.may_be_dead) throw;
      fits = false;
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      Shape shape = shapes[k];
      const Shape& built = node.node->output_shape(static_cast<int>(k));
      if (!shape.is_known() && shape.compatible_with(built)) shape = shape.merged_with(built);
      node.outputs[k].shape = shape;
    }
    return fits;
  }

  bool reads_variable(const WorkNode& node) const {
    const auto& uses = node.node->spec().traits.variables;
    return !uses.empty() && uses[0].access == Access::kReads;
  }

  // From here on the variable has the shape of what is assigned: the input that is not the variable itself.
  void note_assignment(WorkNode& node) {
    for (const VariableUse& use : node.node->spec().traits.variables) {
      if (use.access != Access::kOverwrites) continue;
      const int at = node.node->input_position(use.arg);
      const ValueId value = node.inputs[at == 0 ? 1 : 0];
      const int variable = work_.value(node.inputs[static_cast<std::size_t>(at)]).variable;
      Shape& shape = variables_[static_cast<std::size_t>(variable)];
      // In a branch that may not run, both shapes are possible.
      shape = !node.may_be_dead || shape == shape_of(value) ? shape_of(value) : Shape::unknown();
    }
  }

  bool bindable(const WorkNode& node) const {
    // A variable to be overwritten or asked after need not have a shape yet.
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const std::optional<Access> access = access_of(*node.node, static_cast<int>(k));
      if (access == Access::kOverwrites || access == Access::kAsks) continue;
      if (!shape_of(node.inputs[k]).is_known()) return false;
    }
    for (const std::string& arg : node.node->spec().traits.bind_values)
      for (int k = 0; k < node.node->input_count(arg); ++k)
        if (!work_.value(node.inputs[static_cast<std::size_t>(node.node->input_position(arg, k))]).constant)
          return false;
    return std::ranges::all_of(node.outputs,
                               [&](const Value& out) { return out.variable >= 0 || out.shape.is_known(); });
  }

  bool make_view(WorkNode& node) {
    const auto& view = node.node->spec().traits.view;
    if (!view || node.outputs.size() != 1) return false;
    if (!view(PlanShapes(work_, node, variables_))) return false;
    const std::optional<Tensor>& constant = work_.value(node.inputs[0]).constant;
    if (constant && !node.may_be_dead) node.outputs[0].constant = constant->reshaped(node.outputs[0].shape);
    node.kind = Kind::kView;
    node.inputs.resize(1);  // the others only said what the shape is
    ++views_;
    return true;
  }

  bool foldable(const WorkNode& node) const {
    const Traits& traits = node.node->spec().traits;
    if (node.late || node.may_be_dead || has_effect(*node.node) || !traits.variables.empty()) return false;
    for (const ValueId& id : node.inputs)
      if (!work_.value(id).constant && (traits.role != Role::kShapeOf || work_.value(id).variable >= 0))
        return false;
    for (const Value& out : node.outputs)
      if (out.shape.elements() * static_cast<std::int64_t>(std::max<std::size_t>(size_of(out.dtype), 1)) >
          kMostFoldedBytes)
        return false;
    return find_kernel(*node.node) != nullptr;
  }

  void fold(WorkNode& node) {
    std::vector<TensorInfo> inputs, outputs;
    std::vector<Tensor> values;
    for (const ValueId& id : node.inputs) {
      inputs.push_back({work_.value(id).dtype, shape_of(id)});
      values.push_back(work_.value(id).constant.value_or(Tensor()));
    }
    for (const Value& out : node.outputs) outputs.push_back({out.dtype, out.shape});
    const std::vector<Tensor> results = compute(*node.node, inputs, values, outputs);
    for (std::size_t k = 0; k < results.size(); ++k) node.outputs[k].constant = results[k];
    node.kind = Kind::kConstant;
    node.inputs.clear();
    ++folded_;
  }

  // Folding leaves nodes that nobody reads any more.
  void keep_needed() {
    std::vector<char> needed(work_.nodes.size(), 0);
    std::vector<int> todo;
    const auto need = [&](int i) {
      if (!needed[static_cast<std::size_t>(i)]) {
        needed[static_cast<std::size_t>(i)] = 1;
        todo.push_back(i);
      }
    };
    for (const ValueId& id : work_.fetches) need(id.node >= 0 ? id.node : id.output);
    for (const int i : work_.order)
      if (work_.at(i).node && has_effect(*work_.at(i).node) && work_.at(i).kind != Kind::kConstant) need(i);
    for (WorkNode& node : work_.nodes)
      for (Value& value : node.outputs) value.wanted = false;
    while (!todo.empty()) {
      const int i = todo.back();
      todo.pop_back();
      const WorkNode& node = work_.at(i);
      for (const ValueId& id : node.inputs) {
        work_.value(id).wanted = true;
        need(id.node);
      }
      for (const int b : node.before)
        if (work_.at(b).may_be_dead) need(b);
    }
    for (const ValueId& id : work_.fetches)
      if (id.node >= 0) work_.value(id).wanted = true;
    std::erase_if(work_.order, [&](int i) { return !needed[static_cast<std::size_t>(i)]; });
  }

  WorkGraph& work_;
  std::span<const Shape> feed_shapes_;
  std::vector<Shape> variables_;
  int folded_ = 0, views_ = 0, late_ = 0;
};

}  // namespace

void resolve(WorkGraph& work, std::span<const Shape> feed_shapes) { Resolver(work, feed_shapes).run(); }

}  // namespace runnel
