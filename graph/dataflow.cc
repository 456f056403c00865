// Adding nodes: attributes are inferred from the inputs, everything is checked against the op's spec, the
// shape function runs, and only then is the node named and stored, so that a refused node leaves no trace.
#include "graph/dataflow.h"

#include <algorithm>
#include <cctype>

#include "graph/dataflow_state.h"
#include "graph/error.h"
#include "graph/infer.h"
#include "graph/input_name.h"
#include "graph/log.h"

namespace runnel {
namespace {

std::string lower(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '\\' || c == '/' ||
         c == '>' || c == '-';
}

// One character more, fewer, other or swapped with the next; of names of two characters and less, only more
// or fewer: any other such name would be near.
bool one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty() || b.size() - a.size() > 1) return false;
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  if (a.size() < b.size()) return a.substr(at) == b.substr(at + 1);
  if (a.size() < 3 || at == a.size()) return false;
  if (a.substr(at + 1) == b.substr(at + 1)) return true;
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] &&
         a.substr(at + 2) == b.substr(at + 2);
}

// Names within one edit, or containing or contained in the wanted one; for "did you mean".
std::vector<std::string> near_names(const std::unordered_map<std::string, Node*>& all,
                                    std::string_view wanted) {
  std::vector<std::string> near;
  const std::string key = lower(wanted);
  for (const auto& [name, node] : all) {
    const std::string other = lower(name);
    if (other.ends_with("/" + key) || key.ends_with("/" + other) || other == key ||
        one_edit_apart(other, key) ||
        (key.size() > 3 && (other.find(key) != std::string::npos || key.find(other) != std::string::npos)))
      near.push_back(name);
  }
  std::sort(near.begin(), near.end(),
            [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  if (near.size() > 3) near.resize(3);
  return near;
}

// Sets an attribute inferred from an input, or checks it against the one given.
void settle(Attrs& attrs, const std::string& name, AttrValue inferred, std::string_view from) {
  const auto [at, added] = attrs.emplace(name, inferred);
  if (!added && !(at->second == inferred))
    throw InvalidArgument(
        cat(from, " makes attr ", name, " ", inferred.text(), ", but it is ", at->second.text()));
}

std::string describe(const Output& output) {
  return cat(base_of(output.dtype()), output.shape(), " (", output.name(), ")");
}

// "inputs differ in dtype: x is float[2] (a:0), y is double[2] (b:0)", for two inputs that share one type
// attr.
[[noreturn]] void refuse_types(const OpSpec& spec, const std::vector<Argument>& inputs,
                               const std::string& type_attr) {
  std::string text = "inputs differ in dtype", separator = ": ";
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (spec.inputs[i].type_attr == type_attr)
      for (const Output& output : inputs[i].outputs()) {
        text += separator + spec.inputs[i].name + " is " + describe(output);
        separator = ", ";
      }
  throw InvalidArgument(text);
}

void infer_argument(const OpSpec& spec, const std::vector<Argument>& inputs, std::size_t i, Attrs& attrs) {
  const ArgSpec& arg = spec.inputs[i];
  const Outputs& given = inputs[i].outputs();
  if (!arg.is_list() && given.size() != 1)
    throw InvalidArgument(cat(arg.name, " takes one tensor, not ", given.size()));
  if (!arg.number_attr.empty())
    settle(attrs, arg.number_attr, static_cast<std::int64_t>(given.size()), arg.name);
  if (!arg.type_list_attr.empty()) {
    std::vector<DType> types;
    for (const Output& output : given) types.push_back(base_of(output.dtype()));
    settle(attrs, arg.type_list_attr, types, arg.name);
  }
  if (arg.type_attr.empty()) return;
  for (const Output& output : given) {
    const DType type = base_of(output.dtype());
    if (type == DType::kInvalid) continue;
    const auto [at, added] = attrs.emplace(arg.type_attr, type);
    if (!added && !(at->second == AttrValue(type))) refuse_types(spec, inputs, arg.type_attr);
  }
}

}  // namespace

bool is_node_name(std::string_view name) {
  if (name.empty()) return false;
  const char first = name.front();
  if (!std::isalnum(static_cast<unsigned char>(first)) && first != '.') return false;
  return std::all_of(name.begin(), name.end(), name_char);
}

void refuse_name(std::string_view name, std::string_view what) {
  throw InvalidArgument(
      cat("'", name, "' is not a valid ", what,
          " name: use letters, digits and _ . \\ / > - , starting with a letter, digit or dot"));
}

Graph::Graph() : state_(std::make_shared<State>()) {}
Graph::Graph(State& state) : state_(std::shared_ptr<State>(), &state) {}
Graph::Graph(GraphOptions options) : Graph() { state_->seed = options.seed; }
Graph::~Graph() = default;

std::shared_ptr<Graph> Graph::shared() const { return {state_->shared_from_this(), &state_->graph}; }

const OpSpec* Graph::State::spec_of(std::string_view op) const {
  const auto own = own_ops.find(op);
  return own != own_ops.end() ? &own->second : find_op(op);
}

void Graph::State::require_not_finalized(std::string_view what) const {
  if (finalized) throw FailedPrecondition(cat("the graph is finalized: ", what, " is not possible any more"));
}

std::string Graph::State::unique(std::string_view scoped_name, bool mark) {
  const std::string base = lower(scoped_name);
  const auto at = names.find(base);
  int i = at == names.end() ? 0 : at->second;
  if (mark) names[base] = i + 1;
  if (i == 0) return std::string(scoped_name);
  std::string key = base;
  while (names.contains(key)) key = cat(base, "_", i++);
  if (mark) names[key] = 1;
  return cat(scoped_name, "_", i - 1);
}

void Graph::State::reserve(std::string_view full_name) { names.try_emplace(lower(full_name), 1); }

std::string Graph::unique_name(std::string_view name) {
  std::lock_guard hold(state_->lock);
  const std::string full = state_->scope().name + std::string(name);
  if (!is_node_name(full)) refuse_name(full, "node");
  return state_->unique(full, true);
}

Node& Graph::add(std::string_view op, const std::vector<Argument>& inputs, Attrs attrs, std::string_view name,
                 Location where) {
  return add(op, inputs, {}, std::move(attrs), name, where);
}

Node& Graph::add(std::string_view op, const std::vector<Argument>& inputs, std::span<const Operation> control,
                 Attrs attrs, std::string_view name, Location where) {
  std::lock_guard hold(state_->lock);
  ScopeState& scope = state_->scope();
  if (scope.made_at.known()) where = scope.made_at;
  NodeRequest request;
  request.op = op;
  request.where = where;
  const bool literal = name.ends_with('/');
  const std::string wanted = literal ? std::string(name.substr(0, name.size() - 1))
                                     : scope.name + std::string(name.empty() ? op : name);
  try {
    state_->require_not_finalized("adding a node");
    if (!is_node_name(wanted)) refuse_name(wanted, "node");
    request.spec = state_->spec_of(op);
    if (!request.spec) throw NotFound("no op of this name is known; `runnel ops` lists them");
    if (inputs.size() != request.spec->inputs.size())
      throw InvalidArgument(cat("takes ", request.spec->inputs.size(), " inputs, not ", inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      infer_argument(*request.spec, inputs, i, attrs);
      for (const Output& output : inputs[i].outputs()) {
        if (output.graph() != *this)
          throw InvalidArgument(cat("input ", output.name(), " is of another graph"));
        request.inputs.push_back(output);
      }
    }
    request.attrs = std::move(attrs);
    request.control = control_inputs_of(scope, request.inputs, control);
    request.device = merged_device(scope);
    if (!scope.colocations.empty() && scope.colocations.back().group && !request.attrs.contains("_class")) {
      request.attrs["_class"] = *scope.colocations.back().group;
      request.device = scope.colocations.back().device;
    }
    request.name = literal ? wanted : state_->unique(wanted, false);
    if (literal && state_->by_name.contains(wanted))
      throw AlreadyExists("the graph has a node of this name already");
    Node& node = state_->insert(std::move(request));
    if (literal) {
      state_->reserve(wanted);
    } else {
      state_->unique(wanted, true);
    }
    return node;
  } catch (const Error& error) {
    throw_at_node(error, std::string(op), wanted, where);
  }
}

Operation Graph::operation(std::string_view name) const {
  std::lock_guard hold(state_->lock);
  if (const Node* node = find(name)) return Operation(*node);
  if (name.find(':') != std::string_view::npos)
    throw InvalidArgument(cat(shown(name), " names a tensor; an operation's name has no colon"));
  std::string text = cat("the graph has no operation ", shown(name));
  for (const std::string& near : near_names(state_->by_name, name))
    text += cat("; did you mean '", near, "'?");
  throw NotFound(text);
}

Output Graph::output(std::string_view name) const {
  const std::size_t colon = name.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? "" : name.substr(colon + 1);
  if (digits.empty() || digits.size() > 6 ||
      !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
    throw InvalidArgument(cat(shown(name), " is no tensor name: write OPERATION:INDEX, as in ",
                              shown(cat(name.substr(0, colon), ":0"))));
  const Operation from = operation(name.substr(0, colon));
  const int index = std::stoi(std::string(digits));
  if (index >= from.node().outputs())
    throw NotFound(
        cat("'", name, "': operation '", from.name(), "' has only ", from.node().outputs(), " outputs"));
  return Output(from.node(), index);
}

const Node* Graph::find(std::string_view name) const {
  std::lock_guard hold(state_->lock);
  const auto at = state_->by_name.find(std::string(name));
  return at == state_->by_name.end() ? nullptr : at->second;
}

std::vector<Node*> Graph::nodes() const {
  std::lock_guard hold(state_->lock);
  std::vector<Node*> out;
  out.reserve(state_->nodes.size());
  for (const auto& node : state_->nodes) out.push_back(node.get());
  return out;
}

std::size_t Graph::size() const {
  std::lock_guard hold(state_->lock);
  return state_->nodes.size();
}

std::pair<std::int64_t, std::int64_t> Graph::seeds(std::optional<std::int64_t> op_seed,
                                                   std::string_view full_name) const {
  constexpr std::int64_t kModulus = 2147483647;         // 2^31 - 1
  constexpr std::int64_t kDefaultGraphSeed = 87654321;  // TensorFlow's, where only the op has a seed
  const auto reduce = [](std::int64_t seed) { return (seed % kModulus + kModulus) % kModulus; };
  const std::optional<std::int64_t> graph_seed = seed();
  if (!graph_seed && !op_seed) return {0, 0};
  if (!op_seed) {
    std::uint64_t hash = 14695981039346656037ull;  // FNV-1a, 64 bits
    for (const unsigned char c : full_name) hash = (hash ^ c) * 1099511628211ull;
    op_seed = static_cast<std::int64_t>(hash % kModulus);
  }
  const std::pair out{reduce(graph_seed.value_or(kDefaultGraphSeed)), reduce(*op_seed)};
  return out == std::pair<std::int64_t, std::int64_t>{0, 0} ? std::pair{std::int64_t{0}, kModulus} : out;
}

void Graph::set_seed(std::optional<std::int64_t> seed) {
  std::lock_guard hold(state_->lock);
  state_->seed = seed;
}

std::optional<std::int64_t> Graph::seed() const {
  std::lock_guard hold(state_->lock);
  return state_->seed;
}

void Graph::add_to_collection(std::string_view key, CollectionItem item) {
  std::lock_guard hold(state_->lock);
  state_->require_not_finalized("changing a collection");
  state_->collections[std::string(key)].push_back(std::move(item));
}

Collection Graph::collection(std::string_view key) const {
  std::lock_guard hold(state_->lock);
  const auto at = state_->collections.find(key);
  return at == state_->collections.end() ? Collection{} : at->second;
}

std::vector<std::string> Graph::collection_keys() const {
  std::lock_guard hold(state_->lock);
  std::vector<std::string> keys;
  for (const auto& [key, items] : state_->collections) keys.push_back(key);
  return keys;
}

void Graph::set_collection(std::string_view key, Collection items) {
  std::lock_guard hold(state_->lock);
  state_->require_not_finalized("changing a collection");
  state_->collections[std::string(key)] = std::move(items);
}

std::vector<Variable> Graph::variables(std::string_view key) const {
  std::vector<Variable> out;
  for (const CollectionItem& item : collection(key))
    if (const Variable* variable = std::get_if<Variable>(&item)) out.push_back(*variable);
  return out;
}

void Graph::finalize() {
  std::lock_guard hold(state_->lock);
  state_->finalized = true;
}

void Graph::unfinalize() {
  std::lock_guard hold(state_->lock);
  state_->finalized = false;
}

bool Graph::finalized() const {
  std::lock_guard hold(state_->lock);
  return state_->finalized;
}

void Graph::note_run(std::uint64_t runs) {
  // Nodes added after this many runs are most likely added in the training loop.
  constexpr std::uint64_t kRuns = 100;
  constexpr std::size_t kNodes = 100;
  std::lock_guard hold(state_->lock);
  if (state_->growth_warned) return;
  if (runs <= 1 || state_->nodes_at_first_run == 0) {
    state_->nodes_at_first_run = state_->nodes.size();
    return;
  }
  const std::size_t grown = state_->nodes.size() - state_->nodes_at_first_run;
  if (runs < kRuns || grown < kNodes) return;
  state_->growth_warned = true;
  const Node& last = *state_->nodes.back();
  log_warning(cat("graph grew by ", grown, " nodes during ", runs, " runs, last '", last.name(), "'",
                  last.where().known() ? cat(" created at ", last.where().file, ":", last.where().line) : "",
                  "; build the graph before the loop, or finalize() it to find the place"));
}

int Graph::producer() const {
  std::lock_guard hold(state_->lock);
  return state_->carried.producer;
}

}  // namespace runnel
