// Op signatures as messages, both ways: specs made from the OpDefs of a file (functions, ops that Runnel
// lacks), and OpDefs made from specs, for the op list of a `.meta`.
#pragma once

#include "graph/op_spec.h"
#include "graph/tensor_proto.h"

namespace runnel {
namespace pb {
class OpDef;
}  // namespace pb

// A spec that types nodes and keeps them; `reason` says why it has no gradient and no kernel. Throws
// InvalidArgument.
OpSpec spec_of(const pb::OpDef& proto, const std::string& reason, TensorBudget& budget);

// A spec for one node whose op nothing describes: any inputs and outputs of unknown type.
OpSpec untyped_spec(const std::string& op, int inputs, int outputs);

// The spec for one node of a known op with an attribute that no AttrValue can hold (a Const of a variant):
// the node is typed and kept, and nothing of it is computed.
OpSpec opaque_spec(const OpSpec& spec);

// The whole signature, without documentation, as stripped_op_list holds it.
void write_op_def(const OpSpec& spec, pb::OpDef& proto);

}  // namespace runnel
