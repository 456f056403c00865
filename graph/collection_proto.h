// Collections as messages, both ways (formats 5.3). Under the keys of variables lie serialized VariableDefs;
// elsewhere names of nodes and tensors, strings of bytes, integers or floats.
#pragma once

#include <string>

#include "graph/dataflow_state.h"

namespace runnel {
namespace pb {
class CollectionDef;
class MetaGraphDef;
}  // namespace pb

// True for the keys under which Variables are written whole.
bool holds_variables(const std::string& key);

// Appends the message's collections to the graph's. Throws InvalidArgument.
void import_collections(Graph::State& state, const pb::MetaGraphDef& meta);

// Writes one collection. Returns false if its items are of different kinds and nothing was written.
bool write_collection(const std::string& key, const Collection& items, pb::CollectionDef& proto);

}  // namespace runnel
