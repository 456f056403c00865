// Damaged graphs: the bytes and the text of `.meta` files of TensorFlow changed anywhere, and sound messages
// whose nodes were mixed up (inputs, ops, attributes, dimensions exchanged). Whatever it is, the answer is a
// runnel::Error and an empty graph, or a graph that goes out and comes in again as it is. Usage: graph_fuzz
// [ROUNDS [SEED]]; a failure prints both.
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "graph/dataflow.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "graph/meta_graph.h"
#include "runnel/meta_graph.pb.h"
#include "tests/fuzz/graph_promise.h"
#include "tests/fuzz/mutate.h"

using namespace runnel;

namespace {

template <class Map>
auto any_of(Map& map, Dice& dice) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(dice.below(map.size())));
}

void damage_shape(pb::TensorShapeProto& shape, Dice& dice) {
  static const std::int64_t kSizes[] = {-2, -1, 0, 1, 2, 3, 1 << 20, INT64_MAX, INT64_MIN};
  if (dice.one_in(4)) shape.set_unknown_rank(true);
  if (shape.dim_size() == 0 || dice.one_in(3)) shape.add_dim();
  shape.mutable_dim(static_cast<int>(dice.below(static_cast<std::size_t>(shape.dim_size()))))
      ->set_size(kSizes[dice.below(std::size(kSizes))]);
}

void damage_attr(pb::AttrValue& attr, Dice& dice) {
  static const std::int64_t kNumbers[] = {-1, 0, 1, 2, 7, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN};
  if (attr.has_i()) attr.set_i(kNumbers[dice.below(std::size(kNumbers))]);
  if (attr.has_type()) attr.set_type(static_cast<pb::DataType>(dice.below(140)));
  if (attr.has_b()) attr.set_b(!attr.b());
  if (attr.has_s()) attr.set_s(mutated(attr.s(), dice));
  if (attr.has_shape()) damage_shape(*attr.mutable_shape(), dice);
  if (!attr.has_tensor()) return;
  pb::TensorProto& tensor = *attr.mutable_tensor();
  if (dice.one_in(2)) damage_shape(*tensor.mutable_tensor_shape(), dice);
  if (dice.one_in(3)) tensor.set_tensor_content(mutated(tensor.tensor_content(), dice));
  for (int& number : *tensor.mutable_int_val())
    number = static_cast<int>(kNumbers[dice.below(std::size(kNumbers))]);
}

// One thing of one node changed, mostly for a thing of another node.
void damage_node(pb::GraphDef& def, Dice& dice) {
  pb::NodeDef& node =
      *def.mutable_node(static_cast<int>(dice.below(static_cast<std::size_t>(def.node_size()))));
  const pb::NodeDef other = def.node(static_cast<int>(dice.below(static_cast<std::size_t>(def.node_size()))));
  const auto input = [&] {
    return node.mutable_input(static_cast<int>(dice.below(static_cast<std::size_t>(node.input_size()))));
  };
  switch (dice.below(8)) {
    case 0:
      if (node.input_size() > 0) *input() = other.name() + (dice.one_in(3) ? ":1" : "");
      return;
    case 1: node.add_input((dice.one_in(2) ? "^" : "") + other.name()); return;
    case 2:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      return;
    case 3: node.set_op(other.op()); return;
    case 4: *node.mutable_attr() = other.attr(); return;
    case 5:
      if (!node.attr().empty()) node.mutable_attr()->erase(any_of(*node.mutable_attr(), dice));
      return;
    case 6:
      if (!other.attr().empty()) {
        const auto attr = any_of(other.attr(), dice);
        (*node.mutable_attr())[attr->first] = attr->second;
      }
      return;
    default:
      if (!node.attr().empty()) damage_attr(any_of(*node.mutable_attr(), dice)->second, dice);
  }
}

std::string mixed_up(pb::MetaGraphDef meta, Dice& dice) {
  for (std::size_t edits = 1 + dice.below(3); edits > 0; --edits)
    damage_node(*meta.mutable_graph_def(), dice);
  return meta.SerializeAsString();
}

}  // namespace

int main(int count, char** arguments) {
  const long rounds = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 100;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const char* const names[] = {"linear_ref/linear.ckpt-100.meta", "linear_resource/linear.ckpt-100.meta",
                               "meta/dense.meta", "meta/kitchen.meta"};
  const ScopedLogSink silent([](LogLevel, const std::string&) {});
  for (const char* name : names) {
    const std::string bytes = read_file(real_file_system(), std::string(RUNNEL_GOLDEN) + "/" + name);
    pb::MetaGraphDef meta;
    meta.ParseFromString(bytes);
    Graph g;
    import_meta_graph_def(g, bytes);
    const std::string text = export_meta_graph_def(g, {.as_text = true});
    for (long i = 0; i < rounds; ++i) {
      const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(i);
      Dice dice(own_seed);
      if (graph_holds(mutated(bytes, dice)) && graph_holds(mutated(text, dice)) &&
          graph_holds(mixed_up(meta, dice)) && graph_holds(mixed_up(meta, dice)))
        continue;
      std::printf("%s, seed %llu: run graph_fuzz 1 %llu\n", name, static_cast<unsigned long long>(own_seed),
                  static_cast<unsigned long long>(own_seed));
      return 1;
    }
  }
  std::printf("%ld damaged copies of %zu graphs: an error and no trace, or the same graph again\n",
              4 * rounds, std::size(names));
}
