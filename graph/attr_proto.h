// Attributes as messages, both ways. What no kind of AttrValue fits (an empty message, fields of later
// versions, lists of mixed kinds, tensors of resources) is kept as its bytes, so that a graph goes out as it
// came in.
#pragma once

#include "graph/attr.h"
#include "graph/tensor_proto.h"

namespace runnel {
namespace pb {
class AttrValue;
}  // namespace pb

// Throws InvalidArgument for tensors and shapes that are none, and what TensorBudget::take throws.
AttrValue attr_of(const pb::AttrValue& proto, TensorBudget& budget);
void write_attr(const AttrValue& value, pb::AttrValue& proto);

// True if both are the same, or both lists without elements.
bool same_attr(const AttrValue& a, const AttrValue& b);

}  // namespace runnel
