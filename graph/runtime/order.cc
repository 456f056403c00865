// Pass 2: the order of reads and writes of variables (design: "Order of reads and writes"). A reader sees a
// write if a path of the user's graph leads from the write to it, or if a write that it sees is ordered after
// that one; it goes before every write that it does not see. Writes without a path between them go by node
// number. Where these edges close a cycle, the reader takes a copy of the value first.
#include <algorithm>
#include <queue>

#include "graph/error.h"
#include "graph/runtime/variable_slot.h"
#include "graph/runtime/work_graph.h"

namespace runnel {
namespace {

struct Edge {
  int from, to;
};

class Orderer {
 public:
  explicit Orderer(WorkGraph& work) : work_(work) {}

  void run() {
    link();
    work_.order = sorted(true);
    find_variables();
    find_dead();
    collect_users();
    if (!add_all_edges()) add_edges_with_copies();
    work_.order = sorted(false);
    note_before();
    std::erase_if(work_.order, [&](int i) { return !work_.at(i).live && !work_.at(i).may_be_dead; });
    work_.log.push_back(cat("order: ", edges_added_, " edges for variables, ", copies_, " copies"));
  }

 private:
  std::size_t size() const { return work_.nodes.size(); }

  void link() {
    after_.assign(size(), {});
    for (std::size_t i = 0; i < size(); ++i) {
      for (const ValueId& id : work_.nodes[i].inputs)
        after_[static_cast<std::size_t>(id.node)].push_back(static_cast<int>(i));
      for (const int b : work_.nodes[i].before)
        after_[static_cast<std::size_t>(b)].push_back(static_cast<int>(i));
    }
  }

  void note_before() {
    work_.before.assign(size(), {});
    for (std::size_t i = 0; i < size(); ++i)
      for (const int to : after_[i])
        work_.before[static_cast<std::size_t>(to)].push_back(static_cast<int>(i));
  }

  // Earlier nodes of the user's graph first where there is a choice, so that a plan is the same every time.
  int rank(int i) const { return work_.at(i).node ? work_.at(i).node->id() : -1; }

  // Topological order; empty if there is a cycle and `must` is false, else InvalidArgument naming it.
  std::vector<int> sorted(bool must) const {
    std::vector<int> missing(size(), 0);
    for (const auto& list : after_)
      for (const int to : list) ++missing[static_cast<std::size_t>(to)];
    const auto later = [&](int a, int b) { return std::pair(rank(a), a) > std::pair(rank(b), b); };
    std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
    for (std::size_t i = 0; i < size(); ++i)
      if (missing[i] == 0) ready.push(static_cast<int>(i));
    std::vector<int> out;
    while (!ready.empty()) {
      const int i = ready.top();
      ready.pop();
      out.push_back(i);
      for (const int to : after_[static_cast<std::size_t>(i)])
        if (--missing[static_cast<std::size_t>(to)] == 0) ready.push(to);
    }
    if (out.size() == size()) return out;
    if (must) refuse_cycle(missing);
    return {};
  }

  [[noreturn]] void refuse_cycle(const std::vector<int>& missing) const {
    std::string text = "the graph has a cycle through";
    int named = 0;
    for (std::size_t i = 0; i < size() && named < 5; ++i)
      if (missing[i] > 0) text += cat(named++ ? ", '" : " '", work_.name_of(static_cast<int>(i)), "'");
    throw InvalidArgument(text);
  }

  // Which values are a variable itself: aliases, switches and the ref outputs of assignments pass it on.
  void find_variables() {
    for (const int i : work_.order) {
      WorkNode& node = work_.at(i);
      if (!node.live || node.inputs.empty()) continue;
      if (node.kind == Kind::kView) node.outputs[0].variable = work_.value(node.inputs[0]).variable;
      if (node.kind == Kind::kSwitch)
        node.outputs[0].variable = node.outputs[1].variable = work_.value(node.inputs[0]).variable;
      if (node.kind == Kind::kMerge) node.outputs[0].variable = merged_variable(i);
      if (node.kind == Kind::kKernel) pass_through_kernel(node);
    }
  }

  void pass_through_kernel(WorkNode& node) {
    for (const VariableUse& use : node.node->spec().traits.variables) {
      const int variable =
          work_.value(node.inputs[static_cast<std::size_t>(node.node->input_position(use.arg))]).variable;
      if (variable < 0)
        throw InvalidArgument(
            cat(node.node->op(), " '", node.node->name(), "': input ", use.arg,
                " is no variable in this step: feed the value that is read, not the variable itself"),
            node.node->where(), node.node->name());
      for (int k = 0; k < node.node->outputs(); ++k)
        if (is_ref(node.node->output_type(k))) node.outputs[static_cast<std::size_t>(k)].variable = variable;
    }
  }

  // Which nodes may be skipped because a switch sent the data the other way.
  void find_dead() {
    for (const int i : work_.order) {
      WorkNode& node = work_.at(i);
      const auto dead_input = [&](const ValueId& id) {
        return work_.at(id.node).kind == Kind::kSwitch || work_.at(id.node).may_be_dead;
      };
      if (node.kind == Kind::kMerge) {
        node.may_be_dead = std::ranges::all_of(node.inputs, dead_input);
      } else {
        node.may_be_dead = std::ranges::any_of(node.inputs, dead_input) ||
                           std::ranges::any_of(node.before, [&](int b) { return work_.at(b).may_be_dead; });
      }
    }
  }

  int merged_variable(int i) const {
    const WorkNode& node = work_.at(i);
    int variable = work_.value(node.inputs[0]).variable;
    bool same = true;
    for (const ValueId& id : node.inputs) same = same && work_.value(id).variable == variable;
    if (same) return variable;
    if (is_ref(node.node->output_type(0)) || node.node->output_type(0) == DType::kResource)
      throw Unimplemented("merging references to different variables is not possible: merge their values",
                          node.node->where(), node.node->name());
    return -1;
  }

  void collect_users() {
    users_.assign(size(), {});
    for (std::size_t i = 0; i < size(); ++i)
      for (const ValueId& id : work_.nodes[i].inputs)
        users_[static_cast<std::size_t>(id.node)].push_back(static_cast<int>(i));
    touching_.assign(work_.variables.size(), {});
    for (const int i : work_.order) {
      const WorkNode& node = work_.at(i);
      if (!node.live || node.kind == Kind::kNothing) continue;
      for (std::size_t k = 0; k < node.inputs.size(); ++k) note_use(i, static_cast<int>(k));
    }
  }

  void note_use(int i, int input) {
    const WorkNode& node = work_.at(i);
    const int variable = work_.value(node.inputs[static_cast<std::size_t>(input)]).variable;
    if (variable < 0) return;
    const bool passes_on =
        (node.kind == Kind::kView || node.kind == Kind::kSwitch || node.kind == Kind::kMerge) &&
        node.outputs[0].variable == variable;
    if (passes_on) return;
    const std::optional<Access> access = node.node ? access_of(*node.node, input) : std::nullopt;
    auto& list = touching_[static_cast<std::size_t>(variable)];
    list.push_back({i, input, access && writes(*access), shares_memory(i, access)});
  }

  // True if this consumer's output lies in the variable's own memory, so that later reads of it read the
  // variable.
  bool shares_memory(int i, std::optional<Access> access) const {
    const WorkNode& node = work_.at(i);
    if (access) return *access == Access::kReads;
    return node.kind == Kind::kView || (node.node && node.node->spec().traits.view != nullptr);
  }

  struct Use {
    int node, input;
    bool write, view;
  };

  std::vector<char> reach_from(int i) const {
    std::vector<char> seen(size(), 0);
    std::vector<int> todo{i};
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      for (const int to : after_[static_cast<std::size_t>(at)])
        if (!seen[static_cast<std::size_t>(to)]) {
          seen[static_cast<std::size_t>(to)] = 1;
          todo.push_back(to);
        }
    }
    return seen;
  }

  // Nodes that read memory which reader `r` handed on, through any number of views.
  std::vector<int> readers_of_view(int r) const {
    std::vector<int> out, todo{r};
    std::vector<char> seen(size(), 0);
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      for (const int user : users_[static_cast<std::size_t>(at)]) {
        if (seen[static_cast<std::size_t>(user)]) continue;
        seen[static_cast<std::size_t>(user)] = 1;
        out.push_back(user);
        const WorkNode& node = work_.at(user);
        if (node.kind == Kind::kView || node.kind == Kind::kSwitch ||
            (node.node && node.node->spec().traits.view))
          todo.push_back(user);
      }
    }
    return out;
  }

  bool fetched_through(int r) const {
    std::vector<int> all = readers_of_view(r);
    all.push_back(r);
    return std::ranges::any_of(work_.fetches, [&](const ValueId& id) {
      return id.node >= 0 && std::ranges::find(all, id.node) != all.end() && work_.value(id).variable < 0;
    });
  }

  // For each variable: its writers in order, and for each reader the writers that it does not see.
  struct Reader {
    Use use;
    std::vector<int> seen, unseen;
  };
  struct Plan {
    std::vector<int> writers;
    std::vector<Reader> readers;
  };
  std::vector<Plan> analyse() const {
    std::vector<Plan> out;
    for (const std::vector<Use>& uses : touching_) {
      Plan plan;
      std::vector<std::vector<char>> reach;
      for (const Use& use : uses)
        if (use.write &&
            (plan.writers.empty() || std::ranges::find(plan.writers, use.node) == plan.writers.end()))
          plan.writers.push_back(use.node);
      std::ranges::sort(plan.writers,
                        [&](int a, int b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });
      for (const int w : plan.writers) reach.push_back(reach_from(w));
      if (!plan.writers.empty())
        for (const Use& use : uses)
          if (!use.write) plan.readers.push_back(reader_of(use, plan.writers, reach));
      order_writers(plan, reach);
      out.push_back(std::move(plan));
    }
    return out;
  }

  Reader reader_of(const Use& use, const std::vector<int>& writers,
                   const std::vector<std::vector<char>>& reach) const {
    Reader reader{use, {}, {}};
    std::vector<char> sees(writers.size(), 0);
    for (std::size_t a = 0; a < writers.size(); ++a) sees[a] = reach[a][static_cast<std::size_t>(use.node)];
    for (std::size_t a = writers.size(); a-- > 0;)  // what is ordered before a seen write is seen too
      for (std::size_t b = 0; b < writers.size(); ++b)
        if (sees[b] && (reach[a][static_cast<std::size_t>(writers[b])] ||
                        (a < b && !reach[b][static_cast<std::size_t>(writers[a])])))
          sees[a] = 1;
    for (std::size_t a = 0; a < writers.size(); ++a)
      if (writers[a] != use.node) (sees[a] ? reader.seen : reader.unseen).push_back(writers[a]);
    return reader;
  }

  // Writers come sorted by number; a path the other way round wins.
  static void order_writers(Plan& plan, const std::vector<std::vector<char>>& reach) {
    std::vector<std::size_t> at(plan.writers.size());
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = k;
    std::ranges::stable_sort(at, [&](std::size_t a, std::size_t b) {
      return reach[a][static_cast<std::size_t>(plan.writers[b])] &&
             !reach[b][static_cast<std::size_t>(plan.writers[a])];
    });
    std::vector<int> writers;
    for (const std::size_t k : at) writers.push_back(plan.writers[k]);
    plan.writers = std::move(writers);
  }

  void add_edge(int from, int to) {
    after_[static_cast<std::size_t>(from)].push_back(to);
    ++edges_added_;
  }

  // The usual case: all edges at once, no copies. False, with nothing changed, if that closes a cycle.
  bool add_all_edges() {
    const auto before = after_;
    for (const Plan& plan : analyse()) {
      for (std::size_t k = 1; k < plan.writers.size(); ++k) add_edge(plan.writers[k - 1], plan.writers[k]);
      for (const Reader& reader : plan.readers) {
        for (const int w : reader.unseen) add_edge(reader.use.node, w);
        if (!reader.use.view || reader.unseen.empty()) continue;
        if (fetched_through(reader.use.node)) work_.at(reader.use.node).must_copy = true;
        if (work_.at(reader.use.node).must_copy) continue;
        for (const int user : readers_of_view(reader.use.node))
          for (const int w : reader.unseen)
            if (user != w) add_edge(user, w);
      }
    }
    if (!sorted(false).empty() || size() == 0) return true;
    after_ = before;
    edges_added_ = 0;
    return false;
  }

  bool try_edge(int from, int to) {
    if (from == to || reach_from(to)[static_cast<std::size_t>(from)]) return false;
    add_edge(from, to);
    return true;
  }

  void add_edges_with_copies() {
    const std::vector<Plan> plans = analyse();
    for (const Plan& plan : plans)
      for (std::size_t k = 1; k < plan.writers.size(); ++k)
        if (!try_edge(plan.writers[k - 1], plan.writers[k])) refuse_order(plan.writers[k]);
    for (const Plan& plan : plans)
      for (const Reader& reader : plan.readers) settle(reader);
  }

  void settle(const Reader& reader) {
    bool first = true;
    for (const int w : reader.unseen) first = first && try_edge(reader.use.node, w);
    if (!first) return copy_before(reader);
    if (!reader.use.view || reader.unseen.empty() || work_.at(reader.use.node).must_copy) return;
    for (const int user : readers_of_view(reader.use.node))
      for (const int w : reader.unseen)
        if (user != w && !try_edge(user, w)) {
          work_.at(reader.use.node).must_copy = true;
          ++copies_;
          return;
        }
  }

  bool touches(const Use& use, Access how) const {
    const Node* node = work_.at(use.node).node;
    return node && access_of(*node, use.input) == how;
  }

  // The reader cannot run before a write that it must not see: it reads a copy that does.
  void copy_before(const Reader& reader) {
    if (touches(reader.use, Access::kAsks)) refuse_order(reader.use.node);  // there may be nothing to copy
    const int copy = static_cast<int>(size());
    WorkNode node;
    node.kind = Kind::kCopy;
    node.inputs = {work_.at(reader.use.node).inputs[static_cast<std::size_t>(reader.use.input)]};
    Value value;
    value.dtype = work_.variables[static_cast<std::size_t>(work_.value(node.inputs[0]).variable)]->dtype;
    value.wanted = true;
    node.outputs = {value};
    work_.nodes.push_back(std::move(node));
    after_.emplace_back();
    users_.emplace_back();
    after_[static_cast<std::size_t>(work_.at(copy).inputs[0].node)].push_back(copy);
    for (const int w : reader.seen) add_edge(w, copy);
    for (const int w : reader.unseen)
      if (!try_edge(copy, w)) refuse_order(reader.use.node);
    WorkNode& user = work_.at(reader.use.node);
    user.inputs[static_cast<std::size_t>(reader.use.input)] = {copy, 0};
    if (touches(reader.use, Access::kReads)) user.kind = Kind::kView;  // the copy is the read
    add_edge(copy, reader.use.node);
    ++copies_;
  }

  [[noreturn]] void refuse_order(int i) const {
    throw InvalidArgument(
        cat("reads and writes of one variable in this step have no order: '", work_.name_of(i),
            "' would have to run both before and after another write; add control dependencies"));
  }

  WorkGraph& work_;
  std::vector<std::vector<int>> after_, users_;
  std::vector<std::vector<Use>> touching_;
  int edges_added_ = 0, copies_ = 0;
};

}  // namespace

void order(WorkGraph& work) { Orderer(work).run(); }

}  // namespace runnel
