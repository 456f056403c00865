// What a graph tells of the queue behind a handle: which node makes it, and what that says of its elements.
#pragma once

#include <vector>

#include "graph/node.h"

namespace runnel {

// The node that makes the handle, found through Identity and Switch; null where none can be seen.
const Node* queue_maker(const Output& handle);

// Of every component, a PriorityQueue's priority included; no shapes where elements may have any. Empty for
// a node that makes no queue.
std::vector<DType> queue_types(const Node& maker);
std::vector<Shape> queue_shapes(const Node& maker);

}  // namespace runnel
