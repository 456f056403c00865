// Look-ups on nodes and the checks behind empty handles.
#include "graph/node.h"

#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

// Tensors that an argument stands for in this node.
int length_of(const Node& node, const ArgSpec& arg) {
  if (!arg.number_attr.empty()) return static_cast<int>(node.integer(arg.number_attr));
  if (!arg.type_list_attr.empty()) return static_cast<int>(node.types(arg.type_list_attr).size());
  return 1;
}

const ArgSpec& require_arg(const Node& node, const std::vector<ArgSpec>& args, int index,
                           std::string_view name) {
  if (index < 0) throw Internal(cat(node.op(), " has no argument called ", name));
  return args[static_cast<std::size_t>(index)];
}

int flat_position(const Node& node, const std::vector<ArgSpec>& args, int index, std::string_view name,
                  int k) {
  require_arg(node, args, index, name);
  int position = k;
  for (int i = 0; i < index; ++i) position += length_of(node, args[static_cast<std::size_t>(i)]);
  return position;
}

template <class T>
const T& typed(const Node& node, std::string_view name) {
  const AttrValue* value = node.attr(name);
  const T* is = value ? value->if_is<T>() : nullptr;
  if (!is)
    throw Internal(
        cat(node.op(), " '", node.name(), "': attr ", name, value ? " is of another kind" : " is missing"));
  return *is;
}

// As typed(), but an empty list of no known kind counts as an empty list.
template <class T>
const std::vector<T>& typed_list(const Node& node, std::string_view name) {
  static const std::vector<T> kEmpty;
  const AttrValue* value = node.attr(name);
  if (value && value->if_is<EmptyList>()) return kEmpty;
  return typed<std::vector<T>>(node, name);
}

}  // namespace

Node& Output::node() const {
  if (!node_) throw InvalidArgument("an empty Output was used: it was never given a value");
  return *node_;
}
Graph& Output::graph() const { return node().graph(); }
DType Output::dtype() const { return node().output_type(index_); }
const Shape& Output::shape() const { return node().output_shape(index_); }
std::string Output::name() const { return node().name() + ":" + std::to_string(index_); }

Node& Operation::node() const {
  if (!node_) throw InvalidArgument("an empty Operation was used: it was never given a value");
  return *node_;
}
Graph& Operation::graph() const { return node().graph(); }
const std::string& Operation::name() const { return node().name(); }

const VariableParts& Variable::parts() const {
  if (!parts_) throw InvalidArgument("an empty Variable was used: it was never given a value");
  return *parts_;
}

void Variable::start_as(Operation initializer, Output value) const {
  parts();  // refuses an empty handle
  parts_->initializer = initializer;
  parts_->initial_value = value;
}
const std::string& Variable::name() const { return parts().variable.node().name(); }
DType Variable::dtype() const { return parts().variable.node().type("dtype"); }
Shape Variable::shape() const { return parts().variable.node().shape("shape"); }
bool Variable::operator==(const Variable& other) const {
  if (!parts_ || !other.parts_) return !parts_ && !other.parts_;
  return parts_->variable == other.parts_->variable;
}

Output Grad::dense() const {
  if (slices())
    throw Unimplemented(cat("the gradient of rows of a tensor (IndexedSlices of ", slices()->values.name(),
                            ") cannot be used as a dense one"));
  const Output* output = std::get_if<Output>(&value_);
  if (!output) throw InvalidArgument("a gradient that does not exist was used");
  return *output;
}

int Node::input_position(std::string_view arg, int k) const {
  return flat_position(*this, spec_->inputs, spec_->input_index(arg), arg, k);
}
int Node::input_count(std::string_view arg) const {
  return length_of(*this, require_arg(*this, spec_->inputs, spec_->input_index(arg), arg));
}
int Node::output_position(std::string_view arg, int k) const {
  return flat_position(*this, spec_->outputs, spec_->output_index(arg), arg, k);
}
int Node::output_count(std::string_view arg) const {
  return length_of(*this, require_arg(*this, spec_->outputs, spec_->output_index(arg), arg));
}

const AttrValue* Node::attr(std::string_view name) const {
  const auto at = attrs_.find(name);
  return at == attrs_.end() ? nullptr : &at->second;
}
bool Node::flag(std::string_view name) const { return typed<bool>(*this, name); }
std::int64_t Node::integer(std::string_view name) const { return typed<std::int64_t>(*this, name); }
float Node::number(std::string_view name) const { return typed<float>(*this, name); }
const std::string& Node::bytes(std::string_view name) const { return typed<std::string>(*this, name); }
DType Node::type(std::string_view name) const { return typed<DType>(*this, name); }
const Shape& Node::shape(std::string_view name) const { return typed<Shape>(*this, name); }
const Tensor& Node::tensor(std::string_view name) const { return typed<Tensor>(*this, name); }
const std::vector<std::int64_t>& Node::integers(std::string_view name) const {
  return typed_list<std::int64_t>(*this, name);
}
const std::vector<DType>& Node::types(std::string_view name) const { return typed_list<DType>(*this, name); }

}  // namespace runnel
