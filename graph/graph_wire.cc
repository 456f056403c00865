// Fields of protobuf's wire format by hand: a tag is the field's number times eight plus 0 for a varint, 2
// for bytes, 5 for four bytes (https://protobuf.dev/programming-guides/encoding/). Map entries go sorted by
// key, fields by number, as message_bytes has them. Numbers of fields: node_def.proto, attr_value.proto,
// tensor_shape.proto.
#include "graph/graph_wire.h"

#include <climits>
#include <cstring>

#include "graph/attr_proto.h"
#include "graph/error.h"
#include "graph/graph_def.h"
#include "graph/wire.h"
#include "runnel/meta_graph.pb.h"

namespace runnel {
namespace {

enum Wire { kVarint = 0, kBytes = 2, kFixed32 = 5 };

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}
void put_tag(std::string& out, int field, Wire wire) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire));
}
void put_number(std::string& out, int field, std::int64_t value) {
  put_tag(out, field, kVarint);
  put_varint(out, static_cast<std::uint64_t>(value));
}
void put_bytes(std::string& out, int field, std::string_view bytes) {
  put_tag(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// Writes a message that `write` appends, then its length before it: most are shorter than 128 bytes, whose
// length takes one byte.
template <class Write>
void put_message(std::string& out, int field, Write write) {
  put_tag(out, field, kBytes);
  const std::size_t at = out.size();
  out += '\0';
  write();
  const std::size_t size = out.size() - at - 1;
  if (size < 128) {
    out[at] = static_cast<char>(size);
    return;
  }
  std::string length;
  put_varint(length, size);
  out.replace(at, 1, length);
}

void put_shape(std::string& out, int field, const Shape& shape) {
  put_message(out, field, [&] {
    for (const std::int64_t dim : shape.dims())
      put_message(out, 2, [&] {
        if (dim != 0) put_number(out, 1, dim);
      });
    if (!shape.has_rank()) put_number(out, 3, 1);
  });
}

void put_attr(std::string& out, const AttrValue& value) {
  if (const auto* type = value.if_is<DType>()) {
    put_number(out, 6, static_cast<int>(*type));
  } else if (const auto* flag = value.if_is<bool>()) {
    put_number(out, 5, *flag ? 1 : 0);
  } else if (const auto* number = value.if_is<std::int64_t>()) {
    put_number(out, 3, *number);
  } else if (const auto* text = value.if_is<std::string>()) {
    put_bytes(out, 2, *text);
  } else if (const auto* shape = value.if_is<Shape>()) {
    put_shape(out, 7, *shape);
  } else {
    pb::AttrValue message;
    write_attr(value, message);
    out += message_bytes(message, "an attribute");
  }
}

void put_shapes_of(std::string& out, const Node& node) {
  put_message(out, 1, [&] {
    for (int i = 0; i < node.outputs(); ++i) put_shape(out, 7, shape_to_write(node, i));
  });
}

template <class Write>
void put_entry(std::string& out, std::string_view name, Write write) {
  put_message(out, 5, [&] {
    put_bytes(out, 1, name);
    put_message(out, 2, write);
  });
}

void put_attrs(std::string& out, const Node& node, const GraphDefOptions& options) {
  bool shapes_due = options.add_shapes && node.outputs() > 0;
  const auto put_shapes = [&] {
    shapes_due = false;
    put_entry(out, kOutputShapes, [&] { put_shapes_of(out, node); });
  };
  for (const auto& attr : node.attrs()) {
    if (shapes_due && attr.first > kOutputShapes) put_shapes();
    if (is_written(node, attr.first, attr.second, options))
      put_entry(out, attr.first, [&] { put_attr(out, attr.second); });
  }
  if (shapes_due) put_shapes();
}

void put_node(std::string& out, const Node& node, const GraphDefOptions& options) {
  if (!Graph::State::unknown_fields_of(node).empty()) {
    pb::NodeDef message;
    write_node(node, options, message);
    out += message_bytes(message, "a node");
    return;
  }
  put_bytes(out, 1, node.name());
  put_bytes(out, 2, node.op());
  for (const Output& input : node.input_list()) {
    const std::string& name = input.node().name();
    put_bytes(out, 3, input.index() == 0 ? name : input.name());
  }
  for (const Node* control : node.control_inputs()) put_bytes(out, 3, "^" + control->name());
  if (!options.clear_devices && !node.device().empty()) put_bytes(out, 4, node.device());
  put_attrs(out, node, options);
}

}  // namespace

std::string graph_bytes(const Graph::State& state, const GraphDefOptions& options) {
  constexpr std::size_t kGuess = 160;  // bytes a node
  pb::GraphDef rest;
  std::vector<const Node*> nodes;
  for (const auto& node : state.nodes) nodes.push_back(node.get());
  export_rest(state, nodes, rest);
  std::string out;
  out.reserve(kGuess * state.nodes.size());
  for (const auto& node : state.nodes) {
    put_message(out, 1, [&] { put_node(out, *node, options); });
    if (out.size() > INT_MAX) break;
  }
  out += message_bytes(rest, "the graph");
  if (out.size() > INT_MAX)
    throw InvalidArgument(cat("the graph would take over ", INT_MAX,
                              " bytes; the most is 2 GB: keep large values in variables"));
  return out;
}

// graph_def is field 2 of a MetaGraphDef, meta_info_def field 1.
std::string meta_graph_bytes(const Graph::State& state, const GraphDefOptions& options,
                             pb::MetaGraphDef& meta) {
  pb::MetaGraphDef info;
  info.mutable_meta_info_def()->Swap(meta.mutable_meta_info_def());
  meta.clear_meta_info_def();
  std::string out = message_bytes(info, "the graph");
  const std::string graph = graph_bytes(state, options), rest = message_bytes(meta, "the graph");
  constexpr std::size_t kTag = 11;
  out.reserve(out.size() + kTag + graph.size() + rest.size());
  put_bytes(out, 2, graph);
  out += rest;
  if (out.size() > INT_MAX)
    throw InvalidArgument(
        cat("the graph takes ", out.size(), " bytes; the most is 2 GB: keep large values in variables"));
  return out;
}

}  // namespace runnel
