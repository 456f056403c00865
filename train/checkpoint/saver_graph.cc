// Adding a saver's nodes in TensorFlow's order, and finding those of a SaverDef.
#include "train/checkpoint/saver_graph.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "graph/wire.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/comparison_ops.h"
#include "ops/string_ops.h"
#include "runnel/meta_graph.pb.h"
#include "train/checkpoint/save_restore_ops.h"

namespace runnel {
namespace {

constexpr const char* kCpu = "/device:CPU:0";

std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += cat(text.empty() ? "[" : ",", number);
  return text.empty() ? "[]" : text + "]";
}

// A `.meta` may say anything of a part.
void require_part(const Variable& variable) {
  const auto& part = variable.parts().slice;
  if (!part) return;
  const std::size_t rank = part->full_shape.size();
  bool fits = part->offset.size() == rank && part->shape.size() == rank && rank <= 254;
  for (std::size_t d = 0; fits && d < rank; ++d)
    fits = part->offset[d] >= 0 && part->shape[d] >= 0 && part->offset[d] <= part->full_shape[d] &&
           part->shape[d] <= part->full_shape[d] - part->offset[d];
  if (!fits || !variable.shape().compatible_with(Shape(part->shape)))
    throw InvalidArgument(cat("variable '", variable.name(), "' of shape ", variable.shape(),
                              " is said to be a part of '", part->full_name, "' that does not fit: offset ",
                              listed(part->offset), ", shape ", listed(part->shape), ", of ",
                              listed(part->full_shape)));
}

// What a name in the file stands for: a part's whole, or just the variable.
std::string whole_of(const Variable& variable) {
  const auto& part = variable.parts().slice;
  return part ? cat("the tensor '", part->full_name, "' ", Shape(part->full_shape)) : "";
}

void require_distinct(const std::vector<SaverItem>& items) {
  std::set<std::pair<std::string, std::vector<std::int64_t>>> keys;  // with the offset of a part
  std::map<std::string, std::string> variables, wholes;
  for (const SaverItem& item : items) {
    require_part(item.variable());
    const std::string whole = whole_of(item.variable());
    const auto [other, first] = wholes.emplace(item.key(), whole);
    if (!first && other->second != whole && !other->second.empty() && !whole.empty())
      throw InvalidArgument(cat("'", item.key(), "' is given parts of ", other->second, " and of ", whole,
                                ": parts under one name must be of one tensor"));
    const auto& part = item.variable().parts().slice;
    const bool fresh = keys.emplace(item.key(), part ? part->offset : std::vector<std::int64_t>{}).second;
    if (!fresh || other->second != whole)
      throw InvalidArgument(cat("At least two variables have the same name: ", item.key(),
                                ": save one of them under another, as in {\"other\", variable}"));
    const auto [known, once] = variables.emplace(item.variable().name(), item.key());
    if (!once)
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

// A ref variable is read by the save op itself, at the moment it runs; a part by its read. A part that is a
// resource gets a read of its own.
Output saved_value(const Variable& variable, Location where) {
  const VariableParts& parts = variable.parts();
  if (!parts.slice) return parts.is_resource ? parts.snapshot : parts.variable;
  if (!parts.is_resource) return parts.snapshot;
  Graph& g = variable.graph();
  const DeviceScope device(g, parts.variable.node().device());
  const auto read = [&] {
    const NameScope scope(g, "Read");
    return Output(g.add("ReadVariableOp", {parts.variable}, {{"dtype", variable.dtype()}}, "", where));
  };
  const Output value = identity(read(), {.where = where});
  const DeviceScope memory(g, kCpu);
  return identity(value, {.where = where});
}

Output as_shaped(const Variable& variable, Output value, Location where) {
  const Shape shape = variable.shape();
  return shape.is_known() ? reshape(value, shape, {.where = where})
                          : reshape(value, runnel::shape(saved_value(variable, where), {.where = where}),
                                    {.where = where});
}

std::vector<CheckpointKey> keys_of(const std::vector<SaverItem>& items) {
  std::vector<CheckpointKey> keys;
  for (const SaverItem& item : items) keys.push_back(checkpoint_key(item));
  return keys;
}

// The prefix, once the items are written.
Output add_save(Output prefix, const std::vector<SaverItem>& items, Location where) {
  Outputs values;
  for (const SaverItem& item : items) values.push_back(saved_value(item.variable(), where));
  const Operation save = save_v2(prefix, keys_of(items), values, {.where = where});
  return with_dependencies({&save, 1}, prefix, {.where = where});
}

Operation add_restore(Output prefix, const std::vector<SaverItem>& items, const SaverNodesOptions& o,
                      const std::string& name) {
  Graph& g = prefix.graph();
  std::vector<DType> dtypes;
  for (const SaverItem& item : items) dtypes.push_back(item.variable().dtype());
  Outputs values;
  {
    const DeviceScope device(g, kCpu);
    values = restore_v2(prefix, keys_of(items), dtypes, {.where = o.where});
  }
  std::vector<Operation> assigns;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Variable& variable = items[i].variable();
    const Output value = o.reshape ? as_shaped(variable, values[i], o.where) : values[i];
    assigns.push_back(add_restoring_assign(variable, value, o.reshape, o.where));
  }
  return group(g, assigns, {.name = name, .where = o.where});
}

using ByDevice = std::map<std::string, std::vector<SaverItem>>;

// Where the parts go before they are joined: "PREFIX_temp/part".
Output add_parts_prefix(Output prefix, Location where) {
  Graph& g = prefix.graph();
  const DeviceScope device(g, "CPU");
  const Output bucket = regex_full_match(prefix, "^s3://.*", {.where = where});
  const Output beside = constant(g, Tensor::scalar(".part"), {.where = where});
  const Output folder = constant(g, Tensor::scalar("_temp/part"), {.where = where});
  return string_join({prefix, select(bucket, beside, folder, {.where = where})}, {.where = where});
}

Output add_part_name(Output parts, int shard, Output shards, Location where) {
  const NameScope scope(parts.graph(), "ShardedFilename");
  const Output number = constant(parts.graph(), Tensor::scalar(shard), {.name = "shard", .where = where});
  return sharded_filename(parts, number, shards, {.name = scope.name(), .where = where});
}

// The prefix, once all parts are written and joined.
Output add_sharded_save(Output prefix, const ByDevice& shards, Location where) {
  Graph& g = prefix.graph();
  const Output parts = add_parts_prefix(prefix, where);
  const Output count =
      constant(g, Tensor::scalar(static_cast<int>(shards.size())), {.name = "num_shards", .where = where});
  Outputs names;
  std::vector<Operation> saved;
  for (const auto& [name, items] : shards) {
    const DeviceScope device(g, name), memory(g, kCpu);
    names.push_back(add_part_name(parts, static_cast<int>(names.size()), count, where));
    saved.push_back(add_save(names.back(), items, where).node());
  }
  const ControlDependencies after_saving(g, saved);
  const DeviceScope device(g, shards.rbegin()->first), memory(g, kCpu);
  std::optional<NameScope> scope(std::in_place, g, "MergeV2Checkpoints");
  const Output list = stack(names, {.name = "checkpoint_prefixes", .where = where});
  const Operation merge = merge_v2_checkpoints(list, prefix, {.name = scope->name(), .where = where});
  scope.reset();
  const ControlDependencies after_merging(g, {merge});
  return identity(prefix, {.where = where});
}

Operation add_sharded_restore(Output prefix, const ByDevice& shards, const SaverNodesOptions& o) {
  std::vector<Operation> restores;
  for (const auto& [name, items] : shards) {
    const DeviceScope device(prefix.graph(), name);
    restores.push_back(add_restore(prefix, items, o, "restore_shard"));
  }
  return group(prefix.graph(), restores, {.name = "restore_all", .where = o.where});
}

Output require_output(const Graph& graph, const std::string& name, const char* what) {
  try {
    return graph.output(name);
  } catch (const Error& error) {
    throw InvalidArgument(cat("the SaverDef's ", what, " is not in the graph: ", error.message()));
  }
}

}  // namespace

SaverItem::SaverItem(const Variable& variable, SaveSlice part) {
  VariableParts parts = variable.parts();
  parts.slice = std::make_shared<const SaveSlice>(std::move(part));
  variable_ = Variable(std::make_shared<VariableParts>(std::move(parts)));
}

CheckpointKey checkpoint_key(const SaverItem& item) {
  require_part(item.variable());
  const auto& part = item.variable().parts().slice;
  return {item.key(), part ? slice_text(*part) : ""};
}

Operation add_restoring_assign(const Variable& variable, Output value, bool reshaped, Location where) {
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
  const NameScope scope(g, o.name);
  const Output input = constant(g, Tensor::scalar(o.filename.empty() ? "model" : o.filename),
                                {.name = "filename/input", .where = o.where});
  const Output name = placeholder_with_default(input, Shape{}, {.name = "filename", .where = o.where});
  const Output prefix = placeholder_with_default(name, Shape{}, {.name = "Const", .where = o.where});
  if (!o.sharded) {
    const Output saved = add_save(prefix, items, o.where);
    return {prefix, saved, add_restore(prefix, items, o, "restore_all")};
  }
  ByDevice shards;
  for (SaverItem& item : items)
    shards[item.variable().parts().variable.node().device()].push_back(std::move(item));
  const Output saved = add_sharded_save(prefix, shards, o.where);
  return {prefix, saved, add_sharded_restore(prefix, shards, o)};
}

SaverDef SaverDef::parse(std::string_view bytes) {
  pb::SaverDef def;
  if (!parse_message(bytes, def)) throw DataLoss("these bytes are no SaverDef");
  if (def.version() != pb::SaverDef::V2)
    throw Unimplemented("the SaverDef is for checkpoints of the old V1 format; make a new Saver instead");
  for (const auto& [name, what] : {std::pair(&def.filename_tensor_name(), "filename_tensor_name"),
                                   std::pair(&def.save_tensor_name(), "save_tensor_name"),
                                   std::pair(&def.restore_op_name(), "restore_op_name")})
    if (name->empty()) throw InvalidArgument(cat("the SaverDef gives no ", what));
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

SaverDef SaverDef::within(std::string_view scope) const {
  SaverDef out = *this;
  if (!scope.empty())
    for (std::string* name : {&out.filename_tensor, &out.save_tensor, &out.restore_op})
      *name = cat(scope, "/", *name);
  return out;
}

std::optional<SaverDef> SaverDef::without(std::string_view scope) const {
  SaverDef out = *this;
  if (scope.empty()) return out;
  for (std::string* name : {&out.filename_tensor, &out.save_tensor, &out.restore_op}) {
    if (!name->starts_with(cat(scope, "/"))) return {};
    name->erase(0, scope.size() + 1);
  }
  return out;
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
