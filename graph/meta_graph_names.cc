// Every message gets one function that says which of its fields are names, and which of those it cannot do
// without.
#include "graph/meta_graph_names.h"

#include <algorithm>
#include <set>

#include "graph/collection_proto.h"
#include "graph/error.h"
#include "graph/wire.h"
#include "runnel/control_flow.pb.h"
#include "runnel/meta_graph.pb.h"
#include "runnel/queue_runner.pb.h"

namespace runnel {
namespace {

constexpr std::string_view kGroup = "loc:@", kUnbound = "$unbound_inputs_";

// A name with what stands before it and after it: "^", "loc:@"; ":1".
struct Reference {
  std::string_view before, name, after;
};

Reference split(std::string_view text) {
  std::size_t begin = 0, end = text.size();
  if (text.starts_with('^')) begin = 1;
  if (text.starts_with(kGroup)) begin = kGroup.size();
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos && colon >= begin)
    end = colon;
  return {text.substr(0, begin), text.substr(begin, end - begin), text.substr(end)};
}

std::string joined(const Reference& parts, std::string_view name) {
  std::string out(parts.before);
  out += name;
  out += parts.after;
  return out;
}

// Renames a list of references and drops those that stay behind.
template <class List>
void rename_list(List& list, const Rename& rename) {
  List out;
  for (const std::string& text : list) {
    const Reference parts = split(text);
    if (const auto name = rename(parts.name)) *out.Add() = joined(parts, *name);
  }
  list.Swap(&out);
}

// The fields of one message.
class Fields {
 public:
  explicit Fields(const Rename& rename) : rename_(rename) {}

  // False if the message cannot do without it and it stays behind.
  bool needed(std::string* text) const { return text->empty() || replaced(text); }
  // Stays as it is if it is of what stays behind.
  void wanted(std::string* text) const {
    if (!text->empty()) replaced(text);
  }
  // Emptied if it is of what stays behind.
  void optional(std::string* text) const {
    if (!text->empty() && !replaced(text)) text->clear();
  }
  template <class List>
  void wanted(List* list) const {
    for (std::string& text : *list) wanted(&text);
  }

 private:
  bool replaced(std::string* text) const {
    const Reference parts = split(*text);
    const auto name = rename_(parts.name);
    if (name) *text = joined(parts, *name);
    return name.has_value();
  }

  const Rename& rename_;
};

bool rename_message(pb::VariableDef& def, const Fields& fields) {
  if (!fields.needed(def.mutable_variable_name()) || !fields.needed(def.mutable_initializer_name()) ||
      !fields.needed(def.mutable_snapshot_name()))
    return false;
  fields.optional(def.mutable_initial_value_name());
  if (def.has_save_slice_info_def()) fields.wanted(def.mutable_save_slice_info_def()->mutable_full_name());
  return true;
}

bool rename_message(pb::SaverDef& def, const Fields& fields) {
  return fields.needed(def.mutable_filename_tensor_name()) && fields.needed(def.mutable_save_tensor_name()) &&
         fields.needed(def.mutable_restore_op_name());
}

bool rename_message(pb::QueueRunnerDef& def, const Fields& fields) {
  if (!fields.needed(def.mutable_queue_name())) return false;
  fields.wanted(def.mutable_enqueue_op_name());
  fields.wanted(def.mutable_close_op_name());
  fields.wanted(def.mutable_cancel_op_name());
  return true;
}

void rename_values(pb::ValuesDef& def, const Fields& fields) {
  fields.wanted(def.mutable_values());
  google::protobuf::Map<std::string, std::string> values;
  for (const auto& [outside, inside] : def.external_values()) {
    std::string key = outside, value = inside;
    fields.wanted(&key);
    fields.wanted(&value);
    values[key] = value;
  }
  def.mutable_external_values()->swap(values);
}

template <class List>
void rename_nested(List* contexts, const Fields& fields);

bool rename_message(pb::CondContextDef& def, const Fields& fields) {
  if (!fields.needed(def.mutable_context_name())) return false;
  fields.wanted(def.mutable_pred_name());
  fields.wanted(def.mutable_pivot_name());
  if (def.has_values_def()) rename_values(*def.mutable_values_def(), fields);
  rename_nested(def.mutable_nested_contexts(), fields);
  return true;
}

bool rename_message(pb::WhileContextDef& def, const Fields& fields) {
  if (!fields.needed(def.mutable_context_name())) return false;
  for (std::string* name : {def.mutable_pivot_name(), def.mutable_pivot_for_pred_name(),
                            def.mutable_pivot_for_body_name(), def.mutable_maximum_iterations_name()})
    fields.wanted(name);
  fields.wanted(def.mutable_loop_exit_names());
  fields.wanted(def.mutable_loop_enter_names());
  if (def.has_values_def()) rename_values(*def.mutable_values_def(), fields);
  rename_nested(def.mutable_nested_contexts(), fields);
  return true;
}

template <class List>
void rename_nested(List* contexts, const Fields& fields) {
  for (pb::ControlFlowContextDef& context : *contexts) {
    if (context.has_cond_ctxt()) rename_message(*context.mutable_cond_ctxt(), fields);
    if (context.has_while_ctxt()) rename_message(*context.mutable_while_ctxt(), fields);
  }
}

// Bytes of a message of this kind, renamed; empty for one that goes. Other bytes stay.
template <class Message>
std::string renamed_bytes(const std::string& bytes, const Rename& rename) {
  Message message;
  if (!parse_message(bytes, message)) return bytes;
  return rename_message(message, Fields(rename)) ? message_bytes(message, "an item of a collection") : "";
}

using RenameBytes = std::string (*)(const std::string& bytes, const Rename& rename);

// How items under a key of messages are renamed; null for other keys.
RenameBytes messages_under(const std::string& key) {
  if (holds_variables(key)) return renamed_bytes<pb::VariableDef>;
  if (key == keys::kSavers) return renamed_bytes<pb::SaverDef>;
  if (key == keys::kQueueRunners) return renamed_bytes<pb::QueueRunnerDef>;
  if (key == keys::kCondContext) return renamed_bytes<pb::CondContextDef>;
  if (key == keys::kWhileContext) return renamed_bytes<pb::WhileContextDef>;
  return nullptr;
}

void rename_bytes(const std::string& key, pb::CollectionDef::BytesList& list, const Rename& rename,
                  const IsNode& is_node) {
  const RenameBytes message = messages_under(key);
  pb::CollectionDef::BytesList out;
  for (const std::string& bytes : list.value()) {
    if (message) {
      if (std::string renamed = message(bytes, rename); !renamed.empty() || bytes.empty())
        out.add_value(std::move(renamed));
      continue;
    }
    const Reference parts = split(bytes);
    if (!is_node(parts.name)) {
      out.add_value(bytes);
    } else if (const auto name = rename(parts.name)) {
      out.add_value(joined(parts, *name));
    }
  }
  list.Swap(&out);
}

// Names of nodes that are also names of what these share.
std::set<std::string> shared_names(const pb::GraphDef& def) {
  std::set<std::string> out;
  for (const pb::NodeDef& node : def.node())
    if (const auto at = node.attr().find("shared_name");
        at != node.attr().end() && at->second.s() == node.name())
      out.insert(node.name());
  return out;
}

void rename_attrs(pb::NodeDef& node, const std::set<std::string>& shared, const Rename& rename) {
  auto& attrs = *node.mutable_attr();
  if (const auto at = attrs.find("_class"); at != attrs.end() && at->second.has_list())
    rename_list(*at->second.mutable_list()->mutable_s(), rename);
  if (const auto at = attrs.find("frame_name"); at != attrs.end() && at->second.has_s())
    Fields(rename).wanted(at->second.mutable_s());
  if (const auto at = attrs.find("shared_name"); at != attrs.end() && shared.contains(at->second.s()))
    Fields(rename).wanted(at->second.mutable_s());
}

}  // namespace

std::string_view unbound_name(std::string_view input) {
  const std::string_view name = split(input).name;
  return name.starts_with(kUnbound) ? name.substr(kUnbound.size()) : "";
}

std::vector<std::string> rename_nodes(pb::GraphDef& def, const Rename& rename) {
  std::vector<std::string> unbound;
  std::set<std::string> listed;
  const std::set<std::string> shared = shared_names(def);
  auto& nodes = *def.mutable_node();
  const auto stays_behind = [&](const pb::NodeDef& node) { return !rename(node.name()); };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), stays_behind), nodes.end());
  for (pb::NodeDef& node : nodes) {
    node.set_name(*rename(node.name()));
    for (std::string& input : *node.mutable_input()) {
      const Reference parts = split(input);
      const auto name = rename(parts.name);
      input = joined(parts, name ? *name : cat(kUnbound, parts.name));
      if (!name && listed.insert(input).second) unbound.push_back(input);
    }
    rename_attrs(node, shared, rename);
  }
  return unbound;
}

void rename_collections(pb::MetaGraphDef& meta, const Rename& rename, const IsNode& is_node) {
  auto& collections = *meta.mutable_collection_def();
  for (auto at = collections.begin(); at != collections.end();) {
    pb::CollectionDef& def = at->second;
    if (def.has_node_list()) rename_list(*def.mutable_node_list()->mutable_value(), rename);
    if (def.has_bytes_list()) rename_bytes(at->first, *def.mutable_bytes_list(), rename, is_node);
    const bool empty = (def.has_node_list() && def.node_list().value().empty()) ||
                       (def.has_bytes_list() && def.bytes_list().value().empty());
    at = empty ? collections.erase(at) : std::next(at);
  }
}

bool rename_saver(pb::SaverDef& saver, const Rename& rename) {
  pb::SaverDef renamed = saver;
  if (!rename_message(renamed, Fields(rename))) return false;
  saver = renamed;
  return true;
}

}  // namespace runnel
