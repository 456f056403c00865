// Field by field. Shapes of foreign nodes come from the `_output_shapes` that the file states, where it does.
#include "graph/op_def_proto.h"

#include "graph/attr_proto.h"
#include "graph/error.h"
#include "runnel/op_def.pb.h"

namespace runnel {
namespace {

Shapes stated_shapes(const ShapeContext& c) {
  const AttrValue* attr = c.node().attr("_output_shapes");
  const auto* shapes = attr ? attr->if_is<std::vector<Shape>>() : nullptr;
  if (!shapes || static_cast<int>(shapes->size()) != c.node().outputs()) return unknown_shapes(c);
  return *shapes;
}

ArgSpec arg_of(const pb::OpDef::ArgDef& proto) {
  ArgSpec arg;
  arg.name = proto.name();
  arg.type = static_cast<DType>(proto.type());
  arg.type_attr = proto.type_attr();
  arg.number_attr = proto.number_attr();
  arg.type_list_attr = proto.type_list_attr();
  arg.is_ref = proto.is_ref();
  if (arg.type_attr.empty() && arg.type_list_attr.empty() && !is_known(arg.type))
    throw InvalidArgument(cat("argument ", arg.name, " has no dtype that is known: ", arg.type));
  return arg;
}

AttrSpec attr_spec_of(const pb::OpDef::AttrDef& proto, TensorBudget& budget) {
  AttrSpec attr;
  attr.name = proto.name();
  attr.type = proto.type();
  if (proto.has_default_value()) attr.default_value = attr_of(proto.default_value(), budget);
  if (proto.has_minimum()) attr.minimum = proto.minimum();
  for (const int type : proto.allowed_values().list().type())
    attr.allowed_types.push_back(static_cast<DType>(type));
  for (const std::string& text : proto.allowed_values().list().s()) attr.allowed_strings.push_back(text);
  return attr;
}

void write_arg(const ArgSpec& arg, pb::OpDef::ArgDef& proto) {
  proto.set_name(arg.name);
  proto.set_type(static_cast<pb::DataType>(arg.type));
  proto.set_type_attr(arg.type_attr);
  proto.set_number_attr(arg.number_attr);
  proto.set_type_list_attr(arg.type_list_attr);
  proto.set_is_ref(arg.is_ref);
}

void write_attr_spec(const AttrSpec& attr, pb::OpDef::AttrDef& proto) {
  proto.set_name(attr.name);
  proto.set_type(attr.type);
  if (attr.default_value) write_attr(*attr.default_value, *proto.mutable_default_value());
  if (attr.minimum) {
    proto.set_has_minimum(true);
    proto.set_minimum(*attr.minimum);
  }
  for (const DType type : attr.allowed_types)
    proto.mutable_allowed_values()->mutable_list()->add_type(static_cast<pb::DataType>(type));
  for (const std::string& text : attr.allowed_strings)
    proto.mutable_allowed_values()->mutable_list()->add_s(text);
}

}  // namespace

OpSpec spec_of(const pb::OpDef& proto, const std::string& reason, TensorBudget& budget) {
  OpSpec spec{.name = proto.name(), .shape = stated_shapes, .gradient = Gradient::unwritten(reason)};
  for (const auto& arg : proto.input_arg()) spec.inputs.push_back(arg_of(arg));
  for (const auto& arg : proto.output_arg()) spec.outputs.push_back(arg_of(arg));
  for (const auto& attr : proto.attr()) spec.attrs.push_back(attr_spec_of(attr, budget));
  spec.traits.stateful = proto.is_stateful();
  spec.traits.commutative = proto.is_commutative();
  spec.traits.aggregate = proto.is_aggregate();
  spec.traits.allows_uninitialized_input = proto.allows_uninitialized_input();
  return spec;
}

OpSpec untyped_spec(const std::string& op, int inputs, int outputs) {
  OpSpec spec{.name = op,
              .shape = stated_shapes,
              .gradient = Gradient::unwritten(cat("Runnel has no op ", op)),
              .traits = {.stateful = true}};
  const auto numbered = [](std::vector<ArgSpec>& args, const char* name, int count) {
    for (int i = 0; i < count; ++i) args.emplace_back().name = cat(name, i);
  };
  numbered(spec.inputs, "input_", inputs);
  numbered(spec.outputs, "output_", outputs);
  return spec;
}

OpSpec opaque_spec(const OpSpec& spec) {
  return {.name = spec.name,
          .inputs = spec.inputs,
          .outputs = spec.outputs,
          .attrs = spec.attrs,
          .shape = stated_shapes,
          .gradient = Gradient::unwritten(
              cat("this ", spec.name, " has an attribute of a kind that Runnel does not know")),
          .traits = {.stateful = true}};
}

void write_op_def(const OpSpec& spec, pb::OpDef& proto) {
  proto.set_name(spec.name);
  for (const ArgSpec& arg : spec.inputs) write_arg(arg, *proto.add_input_arg());
  for (const ArgSpec& arg : spec.outputs) write_arg(arg, *proto.add_output_arg());
  for (const AttrSpec& attr : spec.attrs) write_attr_spec(attr, *proto.add_attr());
  proto.set_is_stateful(spec.traits.stateful);
  proto.set_is_commutative(spec.traits.commutative);
  proto.set_is_aggregate(spec.traits.aggregate);
  proto.set_allows_uninitialized_input(spec.traits.allows_uninitialized_input);
}

}  // namespace runnel
