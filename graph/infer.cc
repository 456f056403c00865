// Attribute checking, type and shape inference, and Graph::State::insert, which puts them together.
#include "graph/infer.h"

#include <algorithm>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr int kDeepest =
    64;  // nodes that a constant is looked for through; a hostile graph may chain millions

bool has_kind(const AttrValue& value, const std::string& type) {
  if (const RawAttr* raw = value.if_is<RawAttr>())
    return !raw->bytes.empty();  // an attribute without a value is none
  if (value.if_is<EmptyList>()) return type.starts_with("list(");
  if (type == "string") return value.if_is<std::string>();
  if (type == "int") return value.if_is<std::int64_t>();
  if (type == "float") return value.if_is<float>();
  if (type == "bool") return value.if_is<bool>();
  if (type == "type") return value.if_is<DType>();
  if (type == "shape") return value.if_is<Shape>();
  if (type == "tensor") return value.if_is<Tensor>();
  if (type == "func") return value.if_is<FunctionName>();
  if (type == "list(string)") return value.if_is<std::vector<std::string>>();
  if (type == "list(int)") return value.if_is<std::vector<std::int64_t>>();
  if (type == "list(float)") return value.if_is<std::vector<float>>();
  if (type == "list(bool)") return value.if_is<std::vector<bool>>();
  if (type == "list(type)") return value.if_is<std::vector<DType>>();
  if (type == "list(shape)") return value.if_is<std::vector<Shape>>();
  if (type == "list(tensor)") return value.if_is<std::vector<Tensor>>();
  if (type == "list(func)") return value.if_is<std::vector<FunctionName>>();
  return true;  // a kind that Runnel does not know
}

template <class T>
std::string listed(const std::vector<T>& all) {
  std::string out;
  for (const T& one : all) out += cat(out.empty() ? "" : ", ", one);
  return out;
}

void check_type(const AttrSpec& spec, DType type) {
  if (!is_known(type) || is_ref(type)) throw InvalidArgument(cat("attr ", spec.name, " is no dtype: ", type));
  if (!spec.allowed_types.empty() && std::ranges::find(spec.allowed_types, type) == spec.allowed_types.end())
    throw InvalidArgument(
        cat("attr ", spec.name, " may not be ", type, "; it takes ", listed(spec.allowed_types)));
}

void check_attr(const AttrSpec& spec, const AttrValue& value) {
  if (!has_kind(value, spec.type))
    throw InvalidArgument(cat("attr ", spec.name, " must be of type ", spec.type, ", not ", value.text()));
  if (const DType* type = value.if_is<DType>()) check_type(spec, *type);
  if (const auto* types = value.if_is<std::vector<DType>>())
    for (const DType type : *types) check_type(spec, type);
  if (const std::string* text = value.if_is<std::string>(); text && !spec.allowed_strings.empty())
    if (std::ranges::find(spec.allowed_strings, *text) == spec.allowed_strings.end())
      throw InvalidArgument(
          cat("attr ", spec.name, " may not be \"", *text, "\"; it takes ", listed(spec.allowed_strings)));
  if (!spec.minimum) return;
  if (const std::int64_t* number = value.if_is<std::int64_t>(); number && *number < *spec.minimum)
    throw InvalidArgument(cat("attr ", spec.name, " is ", *number, ", but must be at least ", *spec.minimum));
  if (const auto* types = value.if_is<std::vector<DType>>();
      types && static_cast<std::int64_t>(types->size()) < *spec.minimum)
    throw InvalidArgument(
        cat("attr ", spec.name, " lists ", types->size(), " types, but needs ", *spec.minimum));
}

template <class T>
T attr_or(const Attrs& attrs, const std::string& name, T otherwise) {
  const auto at = attrs.find(name);
  if (at == attrs.end()) return otherwise;
  const T* value = at->second.if_is<T>();
  return value ? *value : otherwise;
}

// Argument lists as types; a length attribute from a hostile file may be anything, so it is bounded.
std::vector<DType> flat_types(const std::vector<ArgSpec>& args, const Attrs& attrs) {
  constexpr std::int64_t kMostTensors = 1 << 20;
  std::vector<DType> out;
  for (const ArgSpec& arg : args) {
    if (!arg.type_list_attr.empty()) {
      for (const DType type : attr_or(attrs, arg.type_list_attr, std::vector<DType>{}))
        out.push_back(arg.is_ref ? ref_of(type) : type);
      continue;
    }
    DType type = arg.type_attr.empty() ? arg.type : attr_or(attrs, arg.type_attr, DType::kInvalid);
    if (arg.is_ref) type = ref_of(type);
    const std::int64_t n = arg.number_attr.empty() ? 1 : attr_or(attrs, arg.number_attr, std::int64_t{0});
    if (n < 0 || n > kMostTensors - static_cast<std::int64_t>(out.size()))
      throw InvalidArgument(
          cat("attr ", arg.number_attr, " is ", n, "; a node has at most ", kMostTensors, " tensors"));
    out.insert(out.end(), static_cast<std::size_t>(n), type);
  }
  return out;
}

class BuildContext : public ShapeContext {
 public:
  BuildContext(const Node& node, int depth) : ShapeContext(node), depth_(depth) {}
  using ShapeContext::constant;
  using ShapeContext::input;
  using ShapeContext::input_as_shape;
  Shape input(int i) const override {
    const Output& from = node_->input_list()[static_cast<std::size_t>(i)];
    return from ? from.shape() : Shape::unknown();
  }
  std::optional<Tensor> constant(int i) const override;
  std::optional<Shape> input_as_shape(int i) const override;

 private:
  int depth_;
};

std::optional<Shape> shape_value(const Output& output, int depth);

// A shape that is known in full, as the integer tensor it is.
std::optional<Tensor> shape_tensor(const Output& output, int depth) {
  const DType type = base_of(output.dtype());
  if (type != DType::kInt32 && type != DType::kInt64) return std::nullopt;
  const std::optional<Shape> shape = shape_value(output, depth);
  if (!shape || !shape->is_known()) return std::nullopt;
  if (type == DType::kInt64)
    return Tensor::vector(std::vector<std::int64_t>(shape->dims().begin(), shape->dims().end()));
  std::vector<std::int32_t> dims;
  for (const std::int64_t dim : shape->dims()) {
    if (dim > INT32_MAX) return std::nullopt;
    dims.push_back(static_cast<std::int32_t>(dim));
  }
  return Tensor::vector(dims);
}

std::optional<Tensor> value_of(const Output& output, int depth) {
  if (!output || depth > kDeepest || is_ref(output.dtype())) return std::nullopt;
  const Node& node = output.node();
  const Traits& traits = node.spec().traits;
  if (traits.role == Role::kConstant) return node.tensor("value");
  if (traits.role == Role::kAlias && node.inputs() > 0) return value_of(node.input_list()[0], depth + 1);
  if (node.spec().as_shape && output.index() == 0) return shape_tensor(output, depth + 1);
  return std::nullopt;
}

std::optional<Shape> shape_value(const Output& output, int depth) {
  if (!output || depth > kDeepest) return std::nullopt;
  const Node& node = output.node();
  if (node.spec().as_shape && output.index() == 0) {
    const std::optional<Shape> shape = node.spec().as_shape(BuildContext(node, depth + 1));
    if (shape) return shape;
  }
  if (node.spec().traits.role == Role::kConstant) {
    const Tensor value = node.tensor("value");
    if (value.shape().rank() > 1 || value.elements() > 255) return std::nullopt;
    if (value.dtype() != DType::kInt32 && value.dtype() != DType::kInt64) return std::nullopt;
    std::vector<std::int64_t> dims = integers(value);
    if (std::ranges::any_of(dims, [](std::int64_t d) { return d < -1; })) return std::nullopt;
    return Shape(dims);
  }
  if (node.spec().traits.role == Role::kAlias && node.inputs() > 0 && !is_ref(output.dtype()))
    return shape_value(node.input_list()[0], depth + 1);
  // The length at least may be known from the tensor's own shape.
  if (output.shape().rank() == 1 && output.shape()[0] >= 0 && output.shape()[0] <= 255)
    return Shape::unknown_of_rank(static_cast<int>(output.shape()[0]));
  return std::nullopt;
}

std::optional<Tensor> BuildContext::constant(int i) const {
  return value_of(node_->input_list()[static_cast<std::size_t>(i)], depth_);
}
std::optional<Shape> BuildContext::input_as_shape(int i) const {
  return shape_value(node_->input_list()[static_cast<std::size_t>(i)], depth_);
}

void check_inputs(const NodeRequest& request) {
  const std::vector<DType> wanted = input_types(*request.spec, request.attrs);
  if (wanted.size() != request.inputs.size())
    throw InvalidArgument(cat("takes ", wanted.size(), " input tensors, not ", request.inputs.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!request.inputs[i]) continue;
    const DType given = request.inputs[i].dtype();
    if (given == DType::kInvalid || base_of(wanted[i]) == DType::kInvalid) continue;
    if (base_of(given) != base_of(wanted[i]))
      throw InvalidArgument(cat("input ", i, " must be ", base_of(wanted[i]), ", but ",
                                request.inputs[i].name(), " is ", base_of(given), request.inputs[i].shape()));
    if (is_ref(wanted[i]) && !is_ref(given))
      throw InvalidArgument(
          cat("input ", i, " must be a variable, but ", request.inputs[i].name(), " is a plain tensor"));
  }
}

}  // namespace

void settle_attrs(const OpSpec& spec, Attrs& attrs) {
  for (const AttrSpec& attr : spec.attrs) {
    const auto at = attrs.find(attr.name);
    if (at != attrs.end()) {
      check_attr(attr, at->second);
    } else if (attr.default_value) {
      attrs.emplace(attr.name, *attr.default_value);
    } else {
      throw InvalidArgument(cat("attr ", attr.name, " (", attr.type, ") is missing"));
    }
  }
}

std::vector<DType> output_types(const OpSpec& spec, const Attrs& attrs) {
  return flat_types(spec.outputs, attrs);
}
std::vector<DType> input_types(const OpSpec& spec, const Attrs& attrs) {
  return flat_types(spec.inputs, attrs);
}

std::vector<Shape> infer_shapes(const Node& node) {
  std::vector<Shape> shapes = node.spec().shape(BuildContext(node, 0)).list();
  if (static_cast<int>(shapes.size()) != node.outputs())
    throw Internal(
        cat("the shape function gave ", shapes.size(), " shapes for ", node.outputs(), " outputs"));
  return shapes;
}

std::optional<Tensor> constant_value(const Output& output) { return value_of(output, 0); }
std::optional<Shape> constant_shape(const Output& output) { return shape_value(output, 0); }

std::vector<Node*> control_inputs_of(const ScopeState& scope, const Outputs& inputs,
                                     std::span<const Operation> own) {
  std::vector<Node*> out;
  const auto add = [&](Node* node) {
    if (std::ranges::find(out, node) != out.end()) return;
    for (const Output& input : inputs)
      if (input && &input.node() == node) return;
    out.push_back(node);
  };
  for (const Operation& operation : own) add(&operation.node());
  for (auto control = scope.controls.rbegin(); control != scope.controls.rend(); ++control) {
    if (control->clears) break;
    // An input made inside the scope waits for its operations already.
    const bool implied = std::ranges::any_of(
        inputs, [&](const Output& input) { return input && input.node().id() >= control->first_id; });
    if (implied) continue;
    for (Node* node : control->nodes) add(node);
  }
  return out;
}

Node* Graph::State::make_node() { return new Node; }
void Graph::State::set_input(Node& node, int i, Output from) {
  node.inputs_[static_cast<std::size_t>(i)] = from;
}
const std::string& Graph::State::unknown_fields_of(const Node& node) { return node.unknown_fields_; }

Node& Graph::State::insert(NodeRequest request) {
  settle_attrs(*request.spec, request.attrs);
  check_inputs(request);
  std::unique_ptr<Node, void (*)(Node*)> node(make_node(), [](Node* n) { delete n; });
  node->name_ = request.name;
  node->op_ = request.op;
  node->device_ = request.device;
  node->spec_ = request.spec;
  node->graph_ = &graph;
  node->id_ = static_cast<int>(nodes.size());
  node->foreign_ = request.foreign;
  node->where_ = request.where;
  node->inputs_ = std::move(request.inputs);
  node->control_inputs_ = std::move(request.control);
  node->attrs_ = std::move(request.attrs);
  node->output_types_ = runnel::output_types(*request.spec, node->attrs_);
  node->output_shapes_.assign(node->output_types_.size(), Shape::unknown());
  node->unknown_fields_ = std::move(request.unknown_fields);
  node->output_shapes_ = infer_shapes(*node);
  Node& out = *node;
  by_name.emplace(out.name_, node.get());
  nodes.push_back(std::move(node));
  return out;
}

}  // namespace runnel
