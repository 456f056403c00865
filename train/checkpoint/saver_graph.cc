// Adding a saver's nodes in TensorFlow's order, and finding those of a SaverDef.
#include "train/checkpoint/saver_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/wire.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "runnel/meta_graph.pb.h"
#include "train/checkpoint/save_restore_ops.h"

namespace runnel {
namespace {

constexpr const char* kRestoreDevice = "/device:CPU:0";

void require_distinct(const std::vector<SaverItem>& items) {
  std::set<std::pair<std::string, std::vector<std::int64_t>>> keys;  // with the offset of a part
  std::map<std::string, std::string> variables;
  for (const SaverItem& item : items) {
    const auto& part = item.variable().parts().slice;
    if (!keys.emplace(item.key(), part ? part->offset : std::vector<std::int64_t>{}).second)
      throw InvalidArgument(cat("At least two variables have the same name: ", item.key(),
                                ": save one of them under another, as in {\"other\", variable}"));
    const auto [known, fresh] = variables.emplace(item.variable().name(), item.key());
    if (!fresh)
      throw InvalidArgument(cat("variable '", item.variable().name(), "' is given under two names, '",
                                known->second, "' and '", item.key(), "'; save it under one"));
  }
}

// "10 2 4,3:0,2"
std::string slice_text(const SaveSlice& part) {
  std::string text;
  for (const std::int64_t size : part.full_shape) text += cat(size, " ");
  for (std::size_t i = 0; i < part.offset.size(); ++i)
    text += cat(i == 0 ? "" : ":", part.offset[i], ",", part.shape[i]);
  return text;
}

CheckpointKey key_of(const SaverItem& item) {
  const auto& part = item.variable().parts().slice;
  return {item.key(), part ? slice_text(*part) : ""};
}

// A ref variable is read by the save op itself, at the moment it runs.
Output saved_value(const Variable& variable) {
  const VariableParts& parts = variable.parts();
  return parts.is_resource || parts.slice ? parts.snapshot : parts.variable;
}

Operation add_assign(const Variable& variable, Output value, bool reshaped, Location where) {
  Graph& g = variable.graph();
  const VariableParts& parts = variable.parts();
  if (!parts.is_resource) {
    const ColocateWith with(parts.variable.node());
    const bool validate = !reshaped && variable.shape().is_known();
    return g.add("Assign", {parts.variable, value}, {{"validate_shape", validate}}, "", where);
  }
  std::optional<DeviceScope> device;
  if (!parts.variable.node().device().empty()) device.emplace(g, parts.variable.node().device());
  const Output copy = identity(value, {.where = where});
  return g.add("AssignVariableOp", {parts.variable, copy}, {{"dtype", variable.dtype()}}, "", where);
}

Output as_shaped(const Variable& variable, Output value, Location where) {
  const Shape shape = variable.shape();
  return shape.is_known()
             ? reshape(value, shape, {.where = where})
             : reshape(value, runnel::shape(saved_value(variable), {.where = where}), {.where = where});
}

Operation add_restore(Graph& g, Output prefix, const std::vector<SaverItem>& items,
                      const std::vector<CheckpointKey>& keys, const SaverNodesOptions& o) {
  std::vector<DType> dtypes;
  for (const SaverItem& item : items) dtypes.push_back(item.variable().dtype());
  Outputs values;
  {
    const DeviceScope device(g, kRestoreDevice);
    values = restore_v2(prefix, keys, dtypes, {.where = o.where});
  }
  std::vector<Operation> assigns;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Variable& variable = items[i].variable();
    const Output value = o.reshape ? as_shaped(variable, values[i], o.where) : values[i];
    assigns.push_back(add_assign(variable, value, o.reshape, o.where));
  }
  return group(g, assigns, {.name = "restore_all", .where = o.where});
}

Output require_output(const Graph& graph, const std::string& name, const char* what) {
  try {
    return graph.output(name);
  } catch (const Error& error) {
    throw InvalidArgument(cat("the SaverDef's ", what, " is not in the graph: ", error.message()));
  }
}

}  // namespace

const std::string& SaverItem::key() const {
  if (!name_.empty()) return name_;
  const auto& part = variable_.parts().slice;
  return part ? part->full_name : variable_.name();
}

SaverNodes add_saver_nodes(Graph& g, std::vector<SaverItem> items, const SaverNodesOptions& o) {
  if (items.empty()) throw InvalidArgument("No variables to save: make variables before the Saver", o.where);
  require_distinct(items);
  std::ranges::stable_sort(items, [](const SaverItem& a, const SaverItem& b) {
    const auto &x = a.variable().parts().slice, &y = b.variable().parts().slice;
    return a.key() != b.key() ? a.key() < b.key() : x && y && x->offset < y->offset;
  });
  std::vector<CheckpointKey> keys;
  Outputs values;
  for (const SaverItem& item : items) {
    keys.push_back(key_of(item));
    values.push_back(saved_value(item.variable()));
  }
  const NameScope scope(g, o.name);
  const Output input = constant(g, Tensor::scalar("model"), {.name = "filename/input", .where = o.where});
  const Output name = placeholder_with_default(input, Shape{}, {.name = "filename", .where = o.where});
  const Output prefix = placeholder_with_default(name, Shape{}, {.name = "Const", .where = o.where});
  const Operation save = save_v2(prefix, keys, values, {.where = o.where});
  const Output saved = with_dependencies({&save, 1}, prefix, {.where = o.where});
  return {prefix, saved, add_restore(g, prefix, items, keys, o)};
}

SaverDef SaverDef::parse(std::string_view bytes) {
  pb::SaverDef def;
  if (!parse_message(bytes, def)) throw DataLoss("these bytes are no SaverDef");
  if (def.version() != pb::SaverDef::V2)
    throw Unimplemented("the SaverDef is for checkpoints of the old V1 format; make a new Saver instead");
  return {.filename_tensor = def.filename_tensor_name(),
          .save_tensor = def.save_tensor_name(),
          .restore_op = def.restore_op_name(),
          .max_to_keep = std::max(0, def.max_to_keep()),
          .keep_checkpoint_every_n_hours = def.keep_checkpoint_every_n_hours(),
          .sharded = def.sharded()};
}

std::string SaverDef::bytes() const {
  pb::SaverDef def;
  def.set_filename_tensor_name(filename_tensor);
  def.set_save_tensor_name(save_tensor);
  def.set_restore_op_name(restore_op);
  def.set_max_to_keep(max_to_keep);
  def.set_keep_checkpoint_every_n_hours(keep_checkpoint_every_n_hours);
  def.set_sharded(sharded);
  def.set_version(pb::SaverDef::V2);
  return message_bytes(def, "a SaverDef");
}

SaverNodes find_saver_nodes(const Graph& graph, const SaverDef& def) {
  const Node* restore = graph.find(def.restore_op);
  if (!restore)
    throw InvalidArgument(cat("the SaverDef's restore operation '", def.restore_op, "' is not in the graph"));
  const SaverNodes nodes{require_output(graph, def.filename_tensor, "file name"),
                         require_output(graph, def.save_tensor, "save tensor"), Operation(*restore)};
  if (nodes.filename.dtype() != DType::kString)
    throw InvalidArgument(cat("the SaverDef's file name '", def.filename_tensor, "' is no string tensor"));
  return nodes;
}

}  // namespace runnel
