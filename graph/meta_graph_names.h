// Other names for everything a MetaGraphDef speaks of: into a scope when it is imported there, out of one
// when a scope is exported alone. Names stand in nodes (their own, inputs, colocation groups, frames of
// loops), and in collections, some within messages of their own: variables, queue runners, conditionals,
// loops, savers. Source: TensorFlow's import_scope and export_scope (behaviours 10).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runnel {
namespace pb {
class GraphDef;
class MetaGraphDef;
class SaverDef;
}  // namespace pb

inline constexpr const char* kUnboundInputs = "unbound_inputs";  // the collection that lists them

// "x" of "$unbound_inputs_x:1" and "^$unbound_inputs_x"; empty for inputs that are bound.
std::string_view unbound_name(std::string_view input);

// The new name of a node or scope; none for what stays behind.
using Rename = std::function<std::optional<std::string>(std::string_view name)>;
// True for the name of a node.
using IsNode = std::function<bool(std::string_view name)>;

// Nodes without a new name go. Returns the inputs that are left without their node, each once, as they stand
// in nodes now: "$unbound_inputs_x". A `shared_name` that is the name of a node follows it, since the
// variables of two imports are two variables.
std::vector<std::string> rename_nodes(pb::GraphDef& def, const Rename& rename);

// Items whose name stays behind go, and collections that have none left. A string is a name if it is one of a
// node, else it stays as it is; so does a message that is not what its key says.
void rename_collections(pb::MetaGraphDef& meta, const Rename& rename, const IsNode& is_node);

// False, and nothing is changed, if one of its nodes stays behind.
bool rename_saver(pb::SaverDef& saver, const Rename& rename);

}  // namespace runnel
