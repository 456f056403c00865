// From nodes to a GraphDef, in the order in which they were made, and the members of Graph that read and
// write bytes.
#include <algorithm>
#include <climits>

#include "graph/attr_proto.h"
#include "graph/error.h"
#include "graph/graph_def.h"
#include "graph/graph_wire.h"
#include "graph/tensor_proto.h"
#include "graph/wire.h"
#include "runnel/graph.pb.h"

namespace runnel {
namespace {

constexpr int kConsumerOfFunctions = 12;  // the graph version that brought functions

bool has_default(const Node& node, const std::string& name, const AttrValue& value) {
  const AttrSpec* spec = node.spec().attr(name);
  return spec && spec->default_value && same_attr(value, *spec->default_value);
}

// Refuses constants over 2 GB before they are copied; message_bytes counts the rest.
void require_writable(const std::vector<const Node*>& nodes) {
  std::uint64_t bytes = 0, largest = 0;
  std::string_view name;
  for (const Node* node : nodes)
    for (const auto& attr : node->attrs())
      if (const Tensor* tensor = attr.second.if_is<Tensor>()) {
        const std::uint64_t own = least_written_bytes(*tensor);
        bytes += own;
        if (own > largest) name = node->name();
        largest = std::max(largest, own);
      }
  if (bytes > INT_MAX)
    throw InvalidArgument(cat("the constants of the graph take ", bytes, " bytes, the largest, '", name,
                              "', ", largest, "; the most is 2 GB: keep large values in variables"));
}

}  // namespace

Shape shape_to_write(const Node& node, int i) {
  const Shape& inferred = node.output_shape(i);
  const AttrValue* attr = node.attr(kOutputShapes);
  const auto* stated = attr ? attr->if_is<std::vector<Shape>>() : nullptr;
  if (!stated || static_cast<int>(stated->size()) != node.outputs()) return inferred;
  const Shape& shape = (*stated)[static_cast<std::size_t>(i)];
  return inferred.compatible_with(shape) ? inferred.merged_with(shape) : inferred;
}

bool is_written(const Node& node, const std::string& attr, const AttrValue& value,
                const GraphDefOptions& options) {
  if (attr == kOutputShapes) return !options.add_shapes && node.is_foreign();
  return !(options.strip_default_attrs && has_default(node, attr, value));
}

void write_node(const Node& node, const GraphDefOptions& options, pb::NodeDef& def) {
  def.ParseFromString(Graph::State::unknown_fields_of(node));
  def.set_name(node.name());
  def.set_op(node.op());
  if (!options.clear_devices) def.set_device(node.device());
  for (const Output& input : node.input_list())
    def.add_input(input.index() == 0 ? input.node().name() : input.name());
  for (const Node* control : node.control_inputs()) def.add_input("^" + control->name());
  for (const auto& [name, value] : node.attrs())
    if (is_written(node, name, value, options)) write_attr(value, (*def.mutable_attr())[name]);
  if (!options.add_shapes || node.outputs() == 0) return;
  auto& shapes = *(*def.mutable_attr())[std::string(kOutputShapes)].mutable_list();
  for (int i = 0; i < node.outputs(); ++i) write_shape(shape_to_write(node, i), *shapes.add_shape());
}

void export_message(const Graph::State& state, const GraphDefOptions& options, pb::GraphDef& def,
                    const NodeFilter& wanted) {
  std::vector<const Node*> nodes;
  for (const auto& node : state.nodes)
    if (!wanted || wanted(node->name())) nodes.push_back(node.get());
  export_rest(state, nodes, def);
  for (const Node* node : nodes) write_node(*node, options, *def.add_node());
}

void export_rest(const Graph::State& state, const std::vector<const Node*>& nodes, pb::GraphDef& def) {
  require_writable(nodes);
  def.ParseFromString(state.carried.unknown_fields);
  const bool functions = !state.carried.library.empty();
  if (functions) def.mutable_library()->ParseFromString(state.carried.library);
  def.mutable_versions()->set_producer(state.carried.producer);
  def.mutable_versions()->set_min_consumer(
      std::max(state.carried.min_consumer, functions ? kConsumerOfFunctions : 0));
}

void strip_defaults(const Graph::State& state, pb::NodeDef& node) {
  const OpSpec* spec = state.spec_of(node.op());
  if (!spec) return;
  for (const AttrSpec& attr : spec->attrs) {
    const auto at = node.attr().find(attr.name);
    if (at == node.attr().end() || !attr.default_value) continue;
    TensorBudget budget;
    if (same_attr(attr_of(at->second, budget), *attr.default_value)) node.mutable_attr()->erase(attr.name);
  }
}

std::string Graph::to_graph_def(GraphDefOptions options) const {
  std::lock_guard hold(state_->lock);
  return graph_bytes(*state_, options);
}

std::string Graph::to_graph_def_text(GraphDefOptions options) const {
  std::lock_guard hold(state_->lock);
  pb::GraphDef def;
  export_message(*state_, options, def);
  return message_text(def);
}

void Graph::import_graph_def(std::string_view graph_def) {
  pb::GraphDef def;
  read_message(graph_def, def, "a GraphDef");
  std::lock_guard hold(state_->lock);
  GraphRollback rollback(*state_);
  TensorBudget budget;
  import_message(*state_, def, budget);
  rollback.keep();
}

}  // namespace runnel
