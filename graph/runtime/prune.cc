// Pass 1: which nodes a request needs. Data edges are followed from the fetches back to the feeds; across
// control edges only what has an effect is run, the rest is kept to order the others.
#include <algorithm>
#include <unordered_map>

#include "graph/error.h"
#include "graph/kernel.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

bool has_effect(const Node& node) {
  const Traits& traits = node.spec().traits;
  const bool writer =
      std::ranges::any_of(traits.variables, [](const VariableUse& use) { return writes(use.access); });
  // What a switch feeds tells by its being dead or alive whether those that it controls run.
  const bool pivot = std::ranges::any_of(node.input_list(), [](const Output& input) {
    return input && input.node().spec().traits.role == Role::kSwitch;
  });
  return writer || pivot || traits.stateful || traits.may_park || node.is_foreign();
}

namespace {

// What runs where only control edges lead to it. A merge does, since it alone can tell whether its value is
// alive: one of its inputs is enough.
bool runs_for_control(const Node& node) {
  return has_effect(node) || node.spec().traits.role == Role::kMerge;
}

class Pruner {
 public:
  Pruner(const Signature& signature, const SlotFinder& slot_of) : signature_(signature), slot_of_(slot_of) {
    for (std::size_t i = 0; i < signature.feeds.size(); ++i) {
      const Output& feed = signature.feeds[i];
      fed_[{&feed.node(), feed.index()}] = static_cast<int>(i);
    }
  }

  WorkGraph run() {
    for (const Fetch& fetch : signature_.fetches) {
      if (fetch.output()) {
        root_ = fetch.output().name();
        work_.fetches.push_back(value_of(fetch.output()));
      } else {
        root_ = fetch.operation().name();
        work_.fetches.push_back({-1, node_of(fetch.operation().node(), true)});
      }
      drain();
    }
    check_missing();
    empty_what_orders();
    for (const ValueId& id : work_.fetches)
      if (id.node >= 0) work_.value(id).wanted = true;
    work_.log.push_back(cat("prune: ", work_.nodes.size(), " nodes"));
    return std::move(work_);
  }

 private:
  // What only orders has no inputs and no values: later passes must not take it for the op that it was.
  void empty_what_orders() {
    for (WorkNode& node : work_.nodes) {
      if (node.live) continue;
      node.kind = Kind::kNothing;
      node.outputs.clear();
    }
  }

  // The work node of a feed, made at first use.
  ValueId fed_value(int feed) {
    const auto [at, added] = feed_nodes_.emplace(feed, static_cast<int>(work_.nodes.size()));
    if (added) {
      const Output& key = signature_.feeds[static_cast<std::size_t>(feed)];
      WorkNode node;
      node.kind = Kind::kFed;
      node.feed = feed;
      node.outputs.emplace_back().dtype = base_of(key.dtype());
      work_.nodes.push_back(std::move(node));
    }
    return {at->second, 0};
  }

  ValueId value_of(const Output& output) {
    const auto fed = fed_.find({&output.node(), output.index()});
    if (fed != fed_.end()) return fed_value(fed->second);
    const int node = node_of(output.node(), true);
    // A placeholder with a default is its input, unless fed.
    if (output.node().spec().traits.role == Role::kDefaulted) return value_of(output.node().input(0));
    return {node, output.index()};
  }

  int node_of(const Node& node, bool live) {
    const auto [at, added] = index_.emplace(&node, static_cast<int>(work_.nodes.size()));
    if (added) {
      work_.nodes.emplace_back();
      WorkNode& work = work_.nodes.back();
      work.node = &node;
      work.live = live;
      work.kind = kind_of(node);
      for (int k = 0; k < node.outputs(); ++k)
        work.outputs.emplace_back().dtype = base_of(node.output_type(k));
      from_.resize(work_.nodes.size(), current_);
      todo_.push_back(at->second);
    }
    if (live && !work_.at(at->second).live) {
      work_.at(at->second).live = true;
      todo_.push_back(at->second);  // its inputs become live too
    }
    return at->second;
  }

  static Kind kind_of(const Node& node) {
    switch (node.spec().traits.role) {
      case Role::kConstant: return Kind::kConstant;
      case Role::kVariable: return Kind::kVariable;
      case Role::kAlias: return Kind::kView;
      case Role::kDefaulted: return Kind::kNothing;  // consumers were sent to its input
      case Role::kSwitch: return Kind::kSwitch;
      case Role::kMerge: return Kind::kMerge;
      case Role::kNothing: return Kind::kNothing;
      default: return Kind::kKernel;
    }
  }

  void drain() {
    while (!todo_.empty()) {
      current_ = todo_.back();
      todo_.pop_back();
      expand(current_);
    }
    current_ = -1;
  }

  void expand(int i) {
    const Node& node = *work_.at(i).node;
    const bool live = work_.at(i).live;
    if (live && node.spec().traits.role == Role::kDefaulted) {
      work_.at(i).before = {value_of(node.input(0)).node};
    } else if (live) {
      std::vector<ValueId> inputs;
      for (const Output& input : node.input_list()) inputs.push_back(value_of(input));
      for (const ValueId& id : inputs) work_.value(id).wanted = true;
      work_.at(i).inputs = std::move(inputs);
      if (work_.at(i).kind == Kind::kVariable) bind_variable(i);
      note_missing(i);
    }
    std::vector<int> before = work_.at(i).before;
    if (!live)
      for (const Output& input : node.input_list())
        if (!fed_.contains({&input.node(), input.index()}))
          before.push_back(node_of(input.node(), runs_for_control(input.node())));
    for (const Node* control : node.control_inputs())
      before.push_back(node_of(*control, runs_for_control(*control)));
    work_.at(i).before = std::move(before);
  }

  void bind_variable(int i) {
    VariableSlot* slot = slot_of_(*work_.at(i).node);
    auto at = std::ranges::find(work_.variables, slot);
    if (at == work_.variables.end()) at = work_.variables.insert(at, slot);
    work_.at(i).outputs[0].variable = static_cast<int>(at - work_.variables.begin());
  }

  void note_missing(int i) {
    const Node& node = *work_.at(i).node;
    const Role role = node.spec().traits.role;
    if (role == Role::kPlaceholder) {
      if (unfed_.empty()) unfed_for_ = root_;
      unfed_.push_back(i);
    } else if (node.is_foreign() || role == Role::kLoop || role == Role::kNextIteration) {
      lacking_.push_back(i);
    } else if (role == Role::kPlain && !node.spec().traits.view && !find_kernel(node)) {
      lacking_.push_back(i);
    }
  }

  void check_missing() const {
    if (!unfed_.empty()) refuse_unfed();
    if (!lacking_.empty()) refuse_lacking();
  }

  // "loss:0 <- mul <- x": how the run comes to need a node.
  std::string path_to(int i) const {
    std::string path = work_.name_of(i);
    constexpr int kLongest = 6;
    int steps = 0;
    for (int at = from_[static_cast<std::size_t>(i)]; at >= 0; at = from_[static_cast<std::size_t>(at)])
      if (++steps <= kLongest) path = work_.name_of(at) + " <- " + path;
    return steps > kLongest ? "... <- " + path : path;
  }

  [[noreturn]] void refuse_unfed() const {
    const Node& first = *work_.at(unfed_.front()).node;
    std::string text = cat("You must feed a value for placeholder tensor '", first.name(), "' with dtype ",
                           first.output_type(0), " and shape ", first.output_shape(0), ": ", unfed_for_,
                           " needs it (", path_to(unfed_.front()), ")");
    if (unfed_.size() > 1) text += "; also not fed:";
    for (std::size_t k = 1; k < unfed_.size(); ++k) text += " '" + work_.name_of(unfed_[k]) + "'";
    throw InvalidArgument(text, first.where(), first.name());
  }

  [[noreturn]] void refuse_lacking() const {
    std::map<std::string, int> ops;  // one node of each op
    for (const int i : lacking_) ops.emplace(describe_lacking(*work_.at(i).node), i);
    std::string text = "this run needs what Runnel cannot compute:";
    const char* separator = " ";
    for (const auto& [op, i] : ops) {
      text += cat(separator, op, " (node '", work_.name_of(i), "')");
      separator = ", ";
    }
    throw Unimplemented(text + "; feed these tensors or fetch others", {},
                        work_.at(lacking_.front()).node->name());
  }

  static std::string describe_lacking(const Node& node) {
    if (node.is_foreign() || kernels_of(node.op()).empty()) return node.op();
    const AttrValue* type = node.attr(node.attr("T") ? "T" : "dtype");
    return cat(node.op(), " of ", type ? type->text() : "these types");
  }

  const Signature& signature_;
  const SlotFinder& slot_of_;
  std::map<std::pair<const Node*, int>, int> fed_;
  std::map<int, int> feed_nodes_;
  std::unordered_map<const Node*, int> index_;
  std::vector<int> todo_;
  std::vector<int> from_;  // the node for whose sake a node was taken
  std::vector<int> unfed_, lacking_;
  int current_ = -1;
  std::string root_, unfed_for_;  // the fetch that is taken, and the one that needs the first unfed node
  WorkGraph work_;
};

}  // namespace

std::string WorkGraph::name_of(int i) const {
  const WorkNode& work = at(i);
  if (work.node) return work.node->name();
  return work.kind == Kind::kFed ? cat("feed ", work.feed) : cat("copy ", i);
}

bool writes(Access access) { return access == Access::kUpdates || access == Access::kOverwrites; }

std::optional<Access> access_of(const Node& node, int input) {
  for (const VariableUse& use : node.spec().traits.variables)
    if (node.input_position(use.arg) == input) return use.access;
  return std::nullopt;
}

WorkGraph prune(const Signature& signature, const SlotFinder& slot_of) {
  return Pruner(signature, slot_of).run();
}

}  // namespace runnel
