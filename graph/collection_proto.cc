// One Variable stands for all VariableDefs of one name in a file, so that collections share it.
#include "graph/collection_proto.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/wire.h"
#include "runnel/meta_graph.pb.h"

namespace runnel {
namespace {

Output tensor_named(const Graph& graph, const std::string& name) {
  return name.find(':') == std::string::npos ? graph.output(name + ":0") : graph.output(name);
}

std::shared_ptr<const SaveSlice> slice_of(const pb::VariableDef& def) {
  if (!def.has_save_slice_info_def()) return nullptr;
  const pb::SaveSliceInfoDef& info = def.save_slice_info_def();
  return std::make_shared<const SaveSlice>(SaveSlice{info.full_name(),
                                                     {info.full_shape().begin(), info.full_shape().end()},
                                                     {info.var_offset().begin(), info.var_offset().end()},
                                                     {info.var_shape().begin(), info.var_shape().end()}});
}

// A variable has a dtype and a shape, whatever its op is called.
void require_variable(const Node& node) {
  const AttrValue *dtype = node.attr("dtype"), *shape = node.attr("shape");
  if (node.outputs() == 0 || !dtype || !dtype->if_is<DType>() || !shape || !shape->if_is<Shape>())
    throw InvalidArgument(cat("'", node.name(), "' is no variable but ", node.op()));
}

class CollectionReader {
 public:
  explicit CollectionReader(Graph::State& state) : state_(state) {}

  void read(const pb::MetaGraphDef& meta) {
    const auto trainable = meta.collection_def().find(keys::kTrainableVariables);
    if (trainable != meta.collection_def().end())
      for (const std::string& bytes : trainable->second.bytes_list().value())
        trainable_.insert(parse(bytes).variable_name());
    // The first VariableDef of a name counts, so the order must be one: trainable ones first, then by key.
    std::vector<std::string> order;
    for (const auto& collection : meta.collection_def()) order.push_back(collection.first);
    std::ranges::sort(
        order, {}, [](const std::string& key) { return std::pair(key != keys::kTrainableVariables, key); });
    for (const std::string& key : order) {
      try {
        append(key, meta.collection_def().at(key));
      } catch (const Error& error) {
        throw InvalidArgument(cat("collection ", AttrValue(key).text(), ": ", error.message()));
      }
    }
  }

 private:
  void append(const std::string& key, const pb::CollectionDef& def) {
    if (def.kind_case() == pb::CollectionDef::KIND_NOT_SET) {
      state_.carried.collections[key] = message_bytes(def, "a collection");
      return;
    }
    Collection& to = state_.collections[key];
    for (const std::string& name : def.node_list().value()) to.push_back(named(name));
    for (const std::string& bytes : def.bytes_list().value())
      to.push_back(holds_variables(key) ? CollectionItem(variable(bytes)) : CollectionItem(bytes));
    for (const std::int64_t number : def.int64_list().value()) to.emplace_back(number);
    for (const float number : def.float_list().value()) to.emplace_back(number);
  }

  CollectionItem named(const std::string& name) const {
    if (name.find(':') == std::string::npos) return state_.graph.operation(name);
    return state_.graph.output(name);
  }

  static pb::VariableDef parse(const std::string& bytes) {
    pb::VariableDef def;
    if (!parse_message(bytes, def)) throw InvalidArgument("an item is no VariableDef");
    return def;
  }

  Variable variable(const std::string& bytes) {
    const pb::VariableDef def = parse(bytes);
    Variable& known = variables_[def.variable_name()];
    if (!known) known = Variable(std::make_shared<VariableParts>(parts_of(def)));
    return known;
  }

  VariableParts parts_of(const pb::VariableDef& def) const {
    const Graph& graph = state_.graph;
    VariableParts parts;
    parts.variable = tensor_named(graph, def.variable_name());
    require_variable(parts.variable.node());
    // TensorFlow names an Assign by its output after init_from_checkpoint.
    const std::string& initializer = def.initializer_name();
    if (!initializer.empty())
      parts.initializer = initializer.find(':') == std::string::npos
                              ? graph.operation(initializer)
                              : Operation(tensor_named(graph, initializer).node());
    parts.snapshot =
        tensor_named(graph, def.snapshot_name().empty() ? def.variable_name() : def.snapshot_name());
    if (!def.initial_value_name().empty())
      parts.initial_value = tensor_named(graph, def.initial_value_name());
    parts.is_resource = def.is_resource();
    // Files from before the field existed say nothing; then the collection tells.
    parts.trainable = def.trainable() || trainable_.contains(def.variable_name());
    parts.aggregation = def.aggregation();
    parts.synchronization = def.synchronization();
    parts.slice = slice_of(def);
    return parts;
  }

  Graph::State& state_;
  std::set<std::string> trainable_;
  std::map<std::string, Variable> variables_;
};

std::string variable_bytes(const Variable& variable) {
  const VariableParts& parts = variable.parts();
  pb::VariableDef def;
  def.set_variable_name(parts.variable.name());
  if (parts.initializer) def.set_initializer_name(parts.initializer.name());
  if (parts.snapshot) def.set_snapshot_name(parts.snapshot.name());
  if (parts.initial_value) def.set_initial_value_name(parts.initial_value.name());
  def.set_is_resource(parts.is_resource);
  def.set_trainable(parts.trainable);
  def.set_aggregation(static_cast<pb::VariableAggregation>(parts.aggregation));
  def.set_synchronization(static_cast<pb::VariableSynchronization>(parts.synchronization));
  if (parts.slice) {
    pb::SaveSliceInfoDef& info = *def.mutable_save_slice_info_def();
    info.set_full_name(parts.slice->full_name);
    info.mutable_full_shape()->Add(parts.slice->full_shape.begin(), parts.slice->full_shape.end());
    info.mutable_var_offset()->Add(parts.slice->offset.begin(), parts.slice->offset.end());
    info.mutable_var_shape()->Add(parts.slice->shape.begin(), parts.slice->shape.end());
  }
  return message_bytes(def, "a variable");
}

// Writes one item into the list that its kind belongs to; `variables` says that Variables are written whole.
struct ItemWriter {
  pb::CollectionDef& to;
  bool variables;

  void operator()(const Output& output) const { to.mutable_node_list()->add_value(output.name()); }
  void operator()(const Operation& operation) const { to.mutable_node_list()->add_value(operation.name()); }
  void operator()(const Variable& variable) const {
    if (variables) {
      to.mutable_bytes_list()->add_value(variable_bytes(variable));
    } else {
      to.mutable_node_list()->add_value(variable.parts().variable.name());
    }
  }
  void operator()(const std::string& bytes) const { to.mutable_bytes_list()->add_value(bytes); }
  void operator()(std::int64_t number) const { to.mutable_int64_list()->add_value(number); }
  void operator()(float number) const { to.mutable_float_list()->add_value(number); }
};

}  // namespace

bool holds_variables(const std::string& key) {
  static const std::set<std::string> kKeys{
      keys::kGlobalVariables, keys::kTrainableVariables,     keys::kLocalVariables, keys::kModelVariables,
      keys::kMetricVariables, keys::kMovingAverageVariables, keys::kGlobalStep};
  return kKeys.contains(key);
}

void import_collections(Graph::State& state, const pb::MetaGraphDef& meta) {
  CollectionReader(state).read(meta);
}

bool write_collection(const std::string& key, const Collection& items, pb::CollectionDef& proto) {
  pb::CollectionDef out;
  for (const CollectionItem& item : items) {
    const auto before = out.kind_case();
    std::visit(ItemWriter{out, holds_variables(key)}, item);
    if (before != pb::CollectionDef::KIND_NOT_SET && before != out.kind_case()) return false;
  }
  proto = std::move(out);
  return true;
}

}  // namespace runnel
