// The walk back. Each op on a way from an x to a y waits until all its consumers on such ways have reported;
// then its gradients are summed and its own gradient function is called. The order in which ops become ready
// is part of the format: it decides the names of the nodes.
#include "ops/gradients.h"

#include <cstddef>
#include <deque>
#include <unordered_set>
#include <utility>

#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/array_ops.h"
#include "ops/indexed_slices.h"

namespace runnel {
namespace {

// Dtypes whose tensors gradients flow through; a resource handle stands for the variable behind it.
bool flows(DType type) {
  return is_trainable(type) || base_of(type) == DType::kResource || base_of(type) == DType::kVariant;
}

std::size_t index_of(const Node& node) { return static_cast<std::size_t>(node.id()); }
std::size_t index_of(const Output& output) { return index_of(output.node()); }

std::string named(const Node& node) { return cat(node.op(), " '", node.name(), "'"); }

// The ones that start the walk at y.
Output default_grad_y(Graph& graph, const Output& y, int i, Location where) {
  const DType type = base_of(y.dtype());
  if (is_complex(type))
    throw InvalidArgument(
        cat("gradients: ", y.name(), " is ", type, ", so its entry of grad_ys must be given"), where);
  if (!is_floating(type) && !is_integer(type))
    throw InvalidArgument(cat("gradients: ", y.name(), " is ", type, ", which has no gradient"), where);
  Output shape;
  if (y.shape().is_known()) {
    std::vector<std::int32_t> dims;
    for (const std::int64_t dim : y.shape().dims()) dims.push_back(static_cast<std::int32_t>(dim));
    shape = constant(graph, Tensor::vector(dims), {.name = "Shape", .where = where});
  } else {
    shape = graph.add("Shape", {y}, {}, "Shape", where);
  }
  const NameScope scope(graph, cat("grad_ys_", i));
  const Output one = Operand(1, where).in(graph, type, "Const");
  return graph.add("Fill", {shape, one}, {}, scope.name(), where);
}

Output given_grad_y(const Output& y, const Output& given, int i, Location where) {
  if (base_of(given.dtype()) != base_of(y.dtype()) || !given.shape().compatible_with(y.shape()))
    throw InvalidArgument(
        cat("gradients: grad_ys[", i, "] is ", base_of(given.dtype()), given.shape(), " (", given.name(),
            "), but the y it belongs to is ", base_of(y.dtype()), y.shape(), " (", y.name(), ")"),
        where);
  return identity(given, {.name = cat("grad_ys_", i), .where = where});
}

// An alias, or the read of a variable: its gradient is the one it gets.
bool passes_rows(const Node& node) {
  const Traits& traits = node.spec().traits;
  if (traits.role == Role::kAlias) return true;
  return traits.variables.size() == 1 && traits.variables[0].access == Access::kReads;
}

class Backward {
 public:
  Backward(Graph& graph, const Outputs& ys, const std::vector<Source>& xs, const GradientsOptions& options)
      : graph_(graph), options_(options), nodes_(graph.nodes()) {
    arrived_.resize(nodes_.size());
    pending_.assign(nodes_.size(), 0);
    user_.assign(nodes_.size(), nullptr);
    count_pending(ys, xs);
    find_stops(xs);
  }

  Grads run(const Outputs& ys, const std::vector<Source>& xs);

 private:
  void count_pending(const Outputs& ys, const std::vector<Source>& xs);
  std::vector<bool> reached_from(const std::vector<Source>& xs) const;
  void find_stops(const std::vector<Source>& xs);
  void visit(const Node& node);
  Grads differentiate(const Node& node, Grads grads);
  void hand_on(const Node& node, const Grads& grads);
  void check_shape(const Node& node, int i, const Grad& grad) const;
  // The gradients of the node's outputs, each summed to one.
  Grads sums_of(const Node& node);
  Grad sum(const Output& at, const Grads& parts);
  void arrive(const Output& at, Grad grad);
  [[noreturn]] void refuse(const Node& node, const std::string& why) const;
  Grad result(const Source& x);

  Graph& graph_;
  const GradientsOptions& options_;
  const std::vector<Node*> nodes_;           // the graph as it was before the walk
  std::vector<std::vector<Grads>> arrived_;  // by node and output: what has come in; one entry once summed
  std::vector<int> pending_;                 // by node: edges on the way to a y that have not reported
  std::vector<const Node*> user_;            // by node: one consumer that sent it a gradient
  std::vector<bool> reached_;
  std::unordered_set<const Node*> stops_;
  std::deque<const Node*> ready_;
};

// Nodes that depend on an x through tensors that gradients flow through.
std::vector<bool> Backward::reached_from(const std::vector<Source>& xs) const {
  std::vector<std::vector<const Node*>> consumers(nodes_.size());
  for (const Node* node : nodes_)
    for (const Output& input : node->input_list())
      if (input && flows(input.dtype())) consumers[index_of(input)].push_back(node);
  std::vector<bool> reached(nodes_.size(), false);
  std::deque<const Node*> queue;
  for (const Source& x : xs) queue.push_back(&x.output().node());
  while (!queue.empty()) {
    const Node* node = queue.front();
    queue.pop_front();
    if (reached[index_of(*node)]) continue;
    reached[index_of(*node)] = true;
    for (const Node* consumer : consumers[index_of(*node)]) queue.push_back(consumer);
  }
  return reached;
}

void Backward::count_pending(const Outputs& ys, const std::vector<Source>& xs) {
  reached_ = reached_from(xs);
  std::vector<bool> between(nodes_.size(), false);
  std::vector<const Node*> order;
  for (const Output& y : ys) order.push_back(&y.node());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node* node = order[i];
    if (!reached_[index_of(*node)] || between[index_of(*node)]) {
      order[i] = nullptr;
      continue;
    }
    between[index_of(*node)] = true;
    for (const Output& input : node->input_list())
      if (input) order.push_back(&input.node());
  }
  for (const Node* node : order) {
    if (!node) continue;
    for (const Output& input : node->input_list())
      if (input && between[index_of(input)]) ++pending_[index_of(input)];
  }
}

// An x ends the walk unless the way to another x leads through it.
void Backward::find_stops(const std::vector<Source>& xs) {
  for (const Source& x : xs) {
    bool stops = true;
    for (const Output& input : x.output().node().input_list())
      if (input && pending_[index_of(input)] > 0) stops = false;
    if (stops) stops_.insert(&x.output().node());
  }
  for (const Output& output : options_.stop_gradients) stops_.insert(&output.node());
}

Grads Backward::run(const Outputs& ys, const std::vector<Source>& xs) {
  for (std::size_t i = 0; i < ys.size(); ++i) {
    const int at = static_cast<int>(i);
    const Output given = options_.grad_ys.empty() ? Output() : options_.grad_ys[i];
    arrive(ys[i], given ? given_grad_y(ys[i], given, at, options_.where)
                        : default_grad_y(graph_, ys[i], at, options_.where));
  }
  std::unordered_set<const Node*> queued;
  for (const Output& y : ys)
    if (pending_[index_of(y)] == 0 && reached_[index_of(y)] && queued.insert(&y.node()).second)
      ready_.push_back(&y.node());
  while (!ready_.empty()) {
    const Node* node = ready_.front();
    ready_.pop_front();
    visit(*node);
  }
  Grads out;
  for (const Source& x : xs) out.push_back(result(x));
  return out;
}

void Backward::visit(const Node& node) {
  Grads grads = sums_of(node);
  bool any = false;
  for (const Grad& grad : grads) any = any || grad;
  if (any && !stops_.contains(&node)) hand_on(node, differentiate(node, std::move(grads)));
  for (const Output& input : node.input_list())
    if (input && --pending_[index_of(input)] == 0) ready_.push_back(&input.node());
}

// The gradients of the inputs; empty if none flow.
Grads Backward::differentiate(const Node& node, Grads grads) {
  const Gradient& gradient = node.spec().gradient;
  if (node.is_foreign()) refuse(node, "the op is not known here");
  if (gradient.kind() == Gradient::Kind::kUnwritten) refuse(node, gradient.reason());
  if (gradient.kind() == Gradient::Kind::kNone) return {};
  const MadeAt at(graph_, node.where());
  try {
    for (std::size_t i = 0; i < grads.size(); ++i) {
      const Output output = node.output(static_cast<int>(i));
      if (!grads[i] && is_trainable(output.dtype()))
        grads[i] = graph_.add("ZerosLike", {output}, {}, "zeros_like", options_.where);
      // Rows pass on to a variable as they are; every other op takes its gradient whole.
      if (grads[i].slices() && !passes_rows(node))
        grads[i] = to_dense(grads[i], output.shape(), options_.where);
    }
    const NameScope scope(graph_, node.name() + "_grad");
    Grads out = gradient(node, grads);
    if (static_cast<int>(out.size()) != node.inputs())
      throw Internal(cat("gave ", out.size(), " gradients for ", node.inputs(), " inputs"));
    std::ptrdiff_t some = 0;
    for (const Grad& grad : out) some += grad ? 1 : 0;
    return options_.gate_gradients && some > 1 ? tuple(out, {.where = options_.where}) : out;
  } catch (const Error& error) {
    throw_error(error.code(), cat("gradient of ", named(node), ": ", error.message()), node.where(),
                node.name());
  }
}

void Backward::hand_on(const Node& node, const Grads& grads) {
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i]) continue;
    const int at = static_cast<int>(i);
    check_shape(node, at, grads[i]);
    if (!user_[index_of(node.input(at))]) user_[index_of(node.input(at))] = &node;
    arrive(node.input(at), grads[i]);
  }
}

void Backward::check_shape(const Node& node, int i, const Grad& grad) const {
  const Output input = node.input(i);
  if (grad.slices() || base_of(input.dtype()) == DType::kResource) return;
  const Output dense = grad.dense();
  if (!dense.shape().compatible_with(input.shape()) || base_of(dense.dtype()) != base_of(input.dtype()))
    throw InvalidArgument(
        cat("gradient of ", named(node), ": for input ", i, " it is ", base_of(dense.dtype()), dense.shape(),
            " (", dense.name(), "), but the input is ", base_of(input.dtype()), input.shape(), " (",
            input.name(), ")"),
        node.where(), node.name());
}

void Backward::arrive(const Output& at, Grad grad) {
  std::vector<Grads>& of_node = arrived_[index_of(at)];
  of_node.resize(static_cast<std::size_t>(at.node().outputs()));
  of_node[static_cast<std::size_t>(at.index())].push_back(std::move(grad));
}

Grads Backward::sums_of(const Node& node) {
  std::vector<Grads>& of_node = arrived_[index_of(node)];
  of_node.resize(static_cast<std::size_t>(node.outputs()));
  Grads out;
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    Grads& parts = of_node[i];
    if (parts.size() > 1) parts = {sum(node.output(static_cast<int>(i)), parts)};
    out.push_back(parts.empty() ? Grad() : parts.front());
  }
  return out;
}

Grad Backward::sum(const Output& at, const Grads& parts) {
  std::vector<IndexedSlices> rows;
  for (const Grad& part : parts)
    if (part.slices()) rows.push_back(*part.slices());
  if (rows.size() == parts.size()) return joined_rows(rows, options_.where);
  Outputs dense;
  for (const Grad& part : parts) dense.push_back(to_dense(part, at.shape(), options_.where));
  const ColocateWith with(dense.front().node());
  return Output(graph_.add("AddN", {dense}, {}, "AddN", options_.where));
}

void Backward::refuse(const Node& node, const std::string& why) const {
  std::string path = node.name();
  for (const Node* user = user_[index_of(node)]; user; user = user_[index_of(*user)])
    path += " -> " + user->name();
  throw Unimplemented(cat(named(node), " has no gradient here: ", why, "; it is on the way ", path,
                          " to the loss: a stop_gradient after it takes its result as a constant"),
                      node.where(), node.name());
}

Grad Backward::result(const Source& x) {
  const Output output = x.output();
  const std::vector<Grads>& of_node = arrived_[index_of(output)];
  const auto index = static_cast<std::size_t>(output.index());
  if (index < of_node.size() && !of_node[index].empty()) {
    if (of_node[index].size() > 1) return sum(output, of_node[index]);
    return of_node[index].front();
  }
  if (options_.unconnected_gradients == Unconnected::kNone) return {};
  const Output value = base_of(output.dtype()) == DType::kResource
                           ? Output(graph_.add("ReadVariableOp", {output},
                                               {{"dtype", output.node().type("dtype")}}, "", options_.where))
                           : output;
  return Output(graph_.add("ZerosLike", {value}, {}, "zeros_like", options_.where));
}

std::string broken_at(const Node& node, const std::string& reason) {
  if (node.op() == "StopGradient") return cat("stopped by stop_gradient '", node.name(), "'");
  return cat("path broken at op ", named(node), " (not differentiable: ", reason, ")");
}

// All nodes that depend on `from` in any way.
std::vector<bool> dependents(const Output& from) {
  const std::vector<Node*> nodes = from.graph().nodes();
  std::vector<bool> out(nodes.size(), false);
  out[index_of(from)] = true;
  for (const Node* node : nodes)  // inputs come before their users, but for loops' back edges
    for (const Output& input : node->input_list())
      if (input && out[index_of(input)] && (&input.node() != &from.node() || input == from))
        out[index_of(*node)] = true;
  return out;
}

}  // namespace

Grads gradients(const Outputs& ys, const std::vector<Source>& xs, GradientsOptions options) {
  if (ys.empty())
    throw InvalidArgument("gradients: there is nothing to differentiate: ys is empty", options.where);
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size())
    throw InvalidArgument(
        cat("gradients: grad_ys has ", options.grad_ys.size(), " entries for ", ys.size(), " ys"),
        options.where);
  Graph& graph = ys.front().graph();
  for (const Output& y : ys)
    if (y.graph() != graph)
      throw InvalidArgument(cat("gradients: ", y.name(), " is of another graph"), options.where);
  for (const Source& x : xs)
    if (x.output().graph() != graph)
      throw InvalidArgument(cat("gradients: ", x.output().name(), " is of another graph"), options.where);
  const NameScope scope(graph, options.name);
  return Backward(graph, ys, xs, options).run(ys, xs);
}

std::string why_no_gradient(Output y, const Source& x) {
  const Output from = x.output();
  const DType type =
      base_of(from.dtype()) == DType::kResource ? from.node().type("dtype") : base_of(from.dtype());
  if (is_integer(type)) return cat("integer dtype (", type, ")");
  if (!is_trainable(type)) return cat("dtype ", type, " has no gradient");
  const std::vector<bool> depends = dependents(from);
  if (!depends[index_of(y)]) return "no path";
  if (!flows(y.dtype())) return broken_at(y.node(), cat("gives ", base_of(y.dtype())));
  std::vector<bool> seen(depends.size(), false);
  std::deque<const Node*> queue{&y.node()};
  while (!queue.empty()) {
    const Node* node = queue.front();
    queue.pop_front();
    if (node == &from.node() || seen[index_of(*node)]) continue;
    seen[index_of(*node)] = true;
    if (node->spec().gradient.kind() == Gradient::Kind::kNone)
      return broken_at(*node, node->spec().gradient.reason());
    for (const Output& input : node->input_list()) {
      if (!input || !depends[index_of(input)]) continue;
      if (!flows(input.dtype()) && input.node().spec().gradient.kind() != Gradient::Kind::kNone)
        return broken_at(input.node(), cat("gives ", base_of(input.dtype())));
      queue.push_back(&input.node());
    }
  }
  return "no op on the path passes a gradient on";
}

}  // namespace runnel
