// From a GraphDef to nodes. Everything that can be told without making nodes is checked first (names, inputs,
// cycles); then nodes are made in an order in which inputs come first, the file's own order where that is
// one. A loop's back edges are left open and joined at the end. Whatever fails, GraphRollback takes back what
// was made.
#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/attr_proto.h"
#include "graph/error.h"
#include "graph/graph_def.h"
#include "graph/infer.h"
#include "graph/input_name.h"
#include "graph/op_def_proto.h"
#include "graph/wire.h"
#include "runnel/graph.pb.h"

namespace runnel {
namespace {

constexpr int kMostOutputsInAll =
    1 << 22;  // of a graph; each costs about 100 bytes, a hostile node of 50 bytes may claim many

// The attribute's own empty list for one without a kind, so that readers need not tell them apart.
AttrValue typed_empty(const std::string& type) {
  if (type == "list(string)") return std::vector<std::string>{};
  if (type == "list(int)") return std::vector<std::int64_t>{};
  if (type == "list(float)") return std::vector<float>{};
  if (type == "list(bool)") return std::vector<bool>{};
  if (type == "list(type)") return std::vector<DType>{};
  if (type == "list(shape)") return std::vector<Shape>{};
  return EmptyList{};
}

bool has_raw_attr(const OpSpec& spec, const Attrs& attrs) {
  return std::ranges::any_of(attrs, [&](const auto& attr) {
    const RawAttr* raw = attr.second.template if_is<RawAttr>();
    return raw && !raw->bytes.empty() && spec.attr(attr.first);
  });
}

class GraphImport {
 public:
  GraphImport(Graph::State& state, const pb::GraphDef& def, TensorBudget& budget, const ImportNotes& notes)
      : state_(state),
        def_(def),
        budget_(budget),
        notes_(notes),
        parts_(static_cast<std::size_t>(def.node_size())) {}

  void run() {
    take_functions();
    take_ops();
    index_names();
    take_inputs();
    for (std::size_t i = 0; i < parts_.size(); ++i) at_node(i, [&] { read_edges(i); });
    require_inputs_used();
    find_specs();
    for (const int i : order())
      at_node(static_cast<std::size_t>(i), [&] { insert(static_cast<std::size_t>(i)); });
    for (const BackEdge& edge : back_edges_) at_node(edge.node, [&] { join(edge); });
    take_versions();
  }

 private:
  struct Edge {
    int from;  // none if `given` is there
    int index;
    Output given = {};  // of the graph as it was, by ImportNotes::inputs
  };
  struct Part {  // what is known of one NodeDef
    std::vector<Edge> inputs;
    std::vector<int> control;
    std::vector<Node*> control_given;
    const OpSpec* spec = nullptr;
    bool foreign = false;
    Node* node = nullptr;
    int outputs_used = 0;
  };
  struct BackEdge {
    std::size_t node;
    int input;
  };

  const pb::NodeDef& node_def(std::size_t i) const { return def_.node(static_cast<int>(i)); }

  template <class F>
  void at_node(std::size_t i, F&& action) {
    try {
      action();
    } catch (const Error& error) {
      throw_at_node(error, node_def(i).op(), node_def(i).name(), {});
    }
  }

  void take_functions();
  void take_ops();
  void index_names();
  void take_inputs();
  void read_edges(std::size_t i);
  void require_inputs_used() const;
  void find_specs();
  std::vector<int> order();
  void insert(std::size_t i);
  Attrs attrs_of(const pb::NodeDef& def, const OpSpec& op);
  Output source(const Edge& edge, int input);
  void join(const BackEdge& edge);
  void take_versions();
  bool closes_loop(const Edge& edge) const {
    return parts_[static_cast<std::size_t>(edge.from)].spec->traits.role == Role::kNextIteration;
  }
  [[noreturn]] void refuse_cycle(const std::vector<int>& open);

  Graph::State& state_;
  const pb::GraphDef& def_;
  TensorBudget& budget_;
  const ImportNotes& notes_;
  std::vector<Part> parts_;
  std::unordered_map<std::string_view, int> index_;
  std::map<std::string, std::pair<Output, bool>> given_;  // what to take for an input; and whether one did
  std::vector<BackEdge> back_edges_;
  int outputs_in_all_ = 0;
};

// Functions are ops of this graph; one that it has already must be the same.
void GraphImport::take_functions() {
  if (def_.library().function_size() == 0 && def_.library().gradient_size() == 0) return;
  pb::FunctionDefLibrary library;
  library.ParseFromString(state_.carried.library);
  std::map<std::string, std::string> known;
  for (const auto& function : library.function())
    known[function.signature().name()] = message_bytes(function, "a function");
  for (const auto& function : def_.library().function()) {
    const std::string& name = function.signature().name();
    const auto at = known.find(name);
    if (at != known.end() && at->second == message_bytes(function, "a function")) continue;
    if (at != known.end() || state_.spec_of(name))
      throw InvalidArgument(cat("function ", shown(name), " has the name of another function or op"));
    try {
      state_.own_ops.emplace(
          name, spec_of(function.signature(), cat("Runnel does not run the function ", name), budget_));
    } catch (const Error& error) {
      throw_error(error.code(), cat("function ", shown(name), ": ", error.message()));
    }
    *library.add_function() = function;
    known[name] = message_bytes(function, "a function");
  }
  library.mutable_gradient()->MergeFrom(def_.library().gradient());
  state_.carried.library = message_bytes(library, "a function library");
}

void GraphImport::take_ops() {
  if (!notes_.ops) return;
  for (const auto& op : notes_.ops->op()) {
    if (state_.spec_of(op.name())) continue;
    try {
      state_.own_ops.emplace(op.name(), spec_of(op, cat("Runnel has no op ", op.name()), budget_));
    } catch (const Error& error) {
      throw_error(error.code(), cat("op ", shown(op.name()), " of the list of ops: ", error.message()));
    }
    state_.carried.op_defs[op.name()] = message_bytes(op, "an op");
  }
}

void GraphImport::index_names() {
  constexpr std::size_t kListed = 5;
  std::vector<std::string> clashes;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::string& name = node_def(i).name();
    if (!is_node_name(name))
      refuse_name(std::string_view(shown(name)).substr(1, shown(name).size() - 2), "node");
    if (node_def(i).op().empty() || shown(node_def(i).op()).find('\\') != std::string::npos)
      throw InvalidArgument(cat("node ", shown(name), " has no valid op: ", shown(node_def(i).op())));
    if (!index_.emplace(name, static_cast<int>(i)).second)
      throw InvalidArgument(cat("node ", shown(name), " occurs twice"));
    if (state_.by_name.contains(name)) clashes.push_back(name);
  }
  if (clashes.empty()) return;
  std::string text = cat(clashes.size(), " nodes have names that the graph has already: ");
  for (std::size_t i = 0; i < std::min(clashes.size(), kListed); ++i)
    text += cat(i == 0 ? "" : ", ", clashes[i]);
  throw InvalidArgument(cat(text, clashes.size() > kListed ? ", ..." : "",
                            "; import into a graph of its own, or under a scope"));
}

void GraphImport::take_inputs() {
  for (const auto& [name, output] : notes_.inputs) {
    const InputName input = parse_input(name);
    if (output.graph() != state_.graph)
      throw InvalidArgument(
          cat("input ", shown(name), " is given '", output.name(), "', which is of another graph"));
    if (!input.control && output.index() >= output.node().outputs())
      throw InvalidArgument(cat("input ", shown(name), " is given '", output.name(), "', but '",
                                output.node().name(), "' has only ", output.node().outputs(), " outputs"));
    given_[input.text()] = {output, false};
  }
}

void GraphImport::require_inputs_used() const {
  for (const auto& [name, given] : given_)
    if (!given.second && !index_.contains(parse_input(name).node))
      throw InvalidArgument(cat("there is no input ", shown(name), " that '", given.first.name(),
                                "' could be given for: no node takes it"));
}

void GraphImport::read_edges(std::size_t i) {
  Part& part = parts_[i];
  for (const std::string& text : node_def(i).input()) {
    const InputName input = parse_input(text);
    const auto given = given_.find(input.text());
    const auto at = index_.find(input.node);
    if (given != given_.end()) {
      given->second.second = true;
      if (input.control) part.control_given.push_back(&given->second.first.node());
    } else if (at == index_.end()) {
      throw InvalidArgument(cat("input ", shown(text), " is no node of this graph"));
    } else if (input.control) {
      part.control.push_back(at->second);
    }
    if (input.control) continue;
    if (!part.control.empty() || !part.control_given.empty())
      throw InvalidArgument(cat("input ", shown(text), " stands after control inputs"));
    if (given != given_.end()) {
      part.inputs.push_back({0, 0, given->second.first});
      continue;
    }
    part.inputs.push_back({at->second, input.index});
    int& used = parts_[static_cast<std::size_t>(at->second)].outputs_used;
    used = std::max(used, input.index + 1);
  }
}

void GraphImport::find_specs() {
  for (const std::string& text : notes_.tensors) {
    const InputName tensor = parse_input(text);
    if (const auto at = index_.find(tensor.node); at != index_.end() && !tensor.control) {
      int& used = parts_[static_cast<std::size_t>(at->second)].outputs_used;
      used = std::max(used, tensor.index + 1);
    }
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const pb::NodeDef& def = node_def(i);
    Part& part = parts_[i];
    part.foreign = !find_op(def.op());
    part.spec = state_.spec_of(def.op());
    if (part.spec) continue;
    if (const auto shapes = def.attr().find("_output_shapes"); shapes != def.attr().end())
      part.outputs_used =
          std::max(part.outputs_used, std::min(shapes->second.list().shape_size(), kMostOutputs));
    const OpSpec spec = untyped_spec(def.op(), static_cast<int>(part.inputs.size()), part.outputs_used);
    part.spec = &state_.node_specs.insert_or_assign(def.name(), spec).first->second;
  }
}

// Inputs first, else the file's order.
std::vector<int> GraphImport::order() {
  std::vector<int> open(parts_.size(), 0);  // inputs that are not made yet
  std::vector<std::vector<int>> consumers(parts_.size());
  const auto wait = [&](std::size_t i, int from) {
    ++open[i];
    consumers[static_cast<std::size_t>(from)].push_back(static_cast<int>(i));
  };
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    for (const Edge& edge : parts_[i].inputs)
      if (!edge.given && !closes_loop(edge)) wait(i, edge.from);
    for (const int from : parts_[i].control) wait(i, from);
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (open[i] == 0) ready.push(static_cast<int>(i));
  std::vector<int> out;
  while (!ready.empty()) {
    out.push_back(ready.top());
    ready.pop();
    for (const int consumer : consumers[static_cast<std::size_t>(out.back())])
      if (--open[static_cast<std::size_t>(consumer)] == 0) ready.push(consumer);
  }
  if (out.size() < parts_.size()) refuse_cycle(open);
  return out;
}

// Goes from a node that waits to one that it waits for until one comes again.
void GraphImport::refuse_cycle(const std::vector<int>& open) {
  constexpr std::size_t kListed = 8;
  std::vector<int> path{
      static_cast<int>(std::ranges::find_if(open, [](int n) { return n > 0; }) - open.begin())};
  std::unordered_map<int, std::size_t> seen{{path[0], 0}};
  while (true) {
    const Part& part = parts_[static_cast<std::size_t>(path.back())];
    int next = -1;
    for (const Edge& edge : part.inputs)
      if (!edge.given && !closes_loop(edge) && open[static_cast<std::size_t>(edge.from)] > 0)
        next = edge.from;
    for (const int from : part.control)
      if (open[static_cast<std::size_t>(from)] > 0) next = from;
    const auto [at, added] = seen.emplace(next, path.size());
    path.push_back(next);
    if (!added) {
      path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(at->second));
      break;
    }
  }
  std::ranges::reverse(path);  // in the direction of the edges
  std::string text = "the graph has a cycle: ";
  for (std::size_t i = 0; i < std::min(path.size(), kListed); ++i)
    text += cat(i == 0 ? "" : " -> ", node_def(static_cast<std::size_t>(path[i])).name());
  throw InvalidArgument(
      cat(text, path.size() > kListed ? " -> ..." : "", "; only the back edge of a loop may close one"));
}

Attrs GraphImport::attrs_of(const pb::NodeDef& def, const OpSpec& op) {
  Attrs attrs;
  for (const auto& [name, value] : def.attr()) {
    try {
      attrs.emplace(name, attr_of(value, budget_));
    } catch (const Error& error) {
      throw_error(error.code(), cat("attr ", shown(name), ": ", error.message()));
    }
  }
  for (const AttrSpec& spec : op.attrs)
    if (const auto at = attrs.find(spec.name); at != attrs.end() && at->second.if_is<EmptyList>())
      at->second = typed_empty(spec.type);
  return attrs;
}

Output GraphImport::source(const Edge& edge, int input) {
  if (edge.given) return edge.given;
  const Node& from = *parts_[static_cast<std::size_t>(edge.from)].node;
  if (edge.index >= from.outputs())
    throw InvalidArgument(cat("input ", input, " is ", from.name(), ":", edge.index, ", but '", from.name(),
                              "' has only ", from.outputs(), " outputs"));
  return from.output(edge.index);
}

void GraphImport::insert(std::size_t i) {
  const pb::NodeDef& def = node_def(i);
  Part& part = parts_[i];
  NodeRequest request;
  request.op = def.op();
  request.name = def.name();
  request.device = def.device();
  for (const Edge& edge : part.inputs) {
    const int input = static_cast<int>(request.inputs.size());
    const bool open = !edge.given && !parts_[static_cast<std::size_t>(edge.from)].node;
    if (open) back_edges_.push_back({i, input});
    request.inputs.push_back(open ? Output() : source(edge, input));
  }
  for (const int from : part.control) request.control.push_back(parts_[static_cast<std::size_t>(from)].node);
  request.control.insert(request.control.end(), part.control_given.begin(), part.control_given.end());
  request.attrs = attrs_of(def, *part.spec);
  if (!part.foreign && has_raw_attr(*part.spec, request.attrs)) {
    part.foreign = true;
    part.spec = &state_.node_specs.insert_or_assign(def.name(), opaque_spec(*part.spec)).first->second;
  }
  request.spec = part.spec;
  request.foreign = part.foreign;
  def.GetReflection()->GetUnknownFields(def).SerializeToString(&request.unknown_fields);
  part.node = &state_.insert(std::move(request));
  state_.reserve(def.name());
  outputs_in_all_ += part.node->outputs();
  if (outputs_in_all_ > kMostOutputsInAll)
    throw ResourceExhausted(cat("the graph has more than ", kMostOutputsInAll, " outputs"));
}

void GraphImport::join(const BackEdge& edge) {
  Node& node = *parts_[edge.node].node;
  const Output from = source(parts_[edge.node].inputs[static_cast<std::size_t>(edge.input)], edge.input);
  const DType wanted = input_types(node.spec(), node.attrs())[static_cast<std::size_t>(edge.input)];
  if (base_of(wanted) != base_of(from.dtype()) && wanted != DType::kInvalid &&
      from.dtype() != DType::kInvalid)
    throw InvalidArgument(
        cat("input ", edge.input, " must be ", base_of(wanted), ", but ", from.name(), " is ", from.dtype()));
  Graph::State::set_input(node, edge.input, from);
}

void GraphImport::take_versions() {
  CarriedMessages& carried = state_.carried;
  carried.producer = std::max(carried.producer, def_.versions().producer());
  carried.min_consumer = std::max(carried.min_consumer, def_.versions().min_consumer());
  if (carried.unknown_fields.empty())
    def_.GetReflection()->GetUnknownFields(def_).SerializeToString(&carried.unknown_fields);
}

}  // namespace

void import_message(Graph::State& state, const pb::GraphDef& def, TensorBudget& budget,
                    const ImportNotes& notes) {
  state.require_not_finalized("importing a graph");
  GraphImport(state, def, budget, notes).run();
}

}  // namespace runnel
