// Graphs as event files hold them: for being looked at, not for being run. A constant of many bytes (a data
// set, an embedding) would make the file huge and TensorBoard slow, so its values are left out; a `.meta`
// file has them.
#pragma once

#include <cstddef>
#include <string>

namespace runnel {

inline constexpr std::size_t kLargeValueBytes = 1024;

// A serialized GraphDef in which each tensor above kLargeValueBytes is its dtype and shape alone. Throws
// InvalidArgument if these bytes are no GraphDef.
std::string shown_graph(const std::string& graph_def);
// The same for a serialized MetaGraphDef.
std::string shown_meta_graph(const std::string& meta_graph_def);

}  // namespace runnel
