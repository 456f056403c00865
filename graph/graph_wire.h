// A GraphDef's bytes written straight from the graph. Graphs of many variables have ten nodes a variable, and
// saving writes them all each time: making protobuf's messages first takes five times as long. The bytes are
// those that message_bytes makes of export_message's message; what is rare (tensors, functions, nodes with
// fields that Runnel does not know) still goes through messages.
#pragma once

#include <string>

#include "graph/dataflow_state.h"

namespace runnel {
namespace pb {
class MetaGraphDef;
}  // namespace pb

// Requires: the state's lock is held. Throws InvalidArgument if it would be 2 GB or more.
[[gnu::visibility("hidden")]] std::string graph_bytes(const Graph::State& state,
                                                      const GraphDefOptions& options);

// The same within a MetaGraphDef, whose other fields are those of `meta`. Takes its meta_info_def.
[[gnu::visibility("hidden")]] std::string meta_graph_bytes(const Graph::State& state,
                                                           const GraphDefOptions& options,
                                                           pb::MetaGraphDef& meta);

}  // namespace runnel
