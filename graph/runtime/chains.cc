// The ranges are found by dynamic programming over the order: of all ways to cut it, the one that saves most.
// What a range saves is what its nodes take in all, less what its costliest part takes.
#include "graph/runtime/chains.h"

#include <algorithm>
#include <utility>

#include "graph/error.h"

namespace runnel {
namespace {

// A group must save this many nanoseconds. Waking a thread takes 6 to 45 us on a virtual machine.
constexpr double kLeastSaved = 40000;
// Longest range looked at, so that planning stays linear in the length of the order.
constexpr int kLongest = 256;

// Parts that have been joined, with the cost of each.
class Parts {
 public:
  void add(double cost) {
    parent_.push_back(static_cast<int>(parent_.size()));
    cost_.push_back(cost);
    most_ = std::max(most_, cost);
    sum_ += cost;
  }
  int find(int i) {
    while (parent_[static_cast<std::size_t>(i)] != i)
      i = parent_[static_cast<std::size_t>(i)] =
          parent_[static_cast<std::size_t>(parent_[static_cast<std::size_t>(i)])];
    return i;
  }
  void join(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    parent_[static_cast<std::size_t>(a)] = b;
    cost_[static_cast<std::size_t>(b)] += cost_[static_cast<std::size_t>(a)];
    most_ = std::max(most_, cost_[static_cast<std::size_t>(b)]);
  }
  double cost(int part) const { return cost_[static_cast<std::size_t>(part)]; }
  double saved(int threads) const { return sum_ - std::max(most_, sum_ / threads); }

 private:
  std::vector<int> parent_;
  std::vector<double> cost_;
  double most_ = 0, sum_ = 0;
};

class ChainFinder {
 public:
  ChainFinder(WorkGraph& work, const std::vector<NodeCost>& costs, int threads)
      : work_(work), costs_(costs), threads_(threads), size_(static_cast<int>(work.order.size())) {}

  std::vector<Group> run() {
    double all = 0;
    for (const int i : work_.order) all += cost(i).nanoseconds;
    if (all < 2 * kLeastSaved) return {};
    find_steps_before();
    choose_ranges();
    std::vector<Group> groups;
    for (const auto& [begin, end] : ranges_) groups.push_back(lay_out(begin, end));
    work_.log.push_back(cat("chains: ", groups.size(), " groups of steps run side by side"));
    return groups;
  }

 private:
  const NodeCost& cost(int i) const { return costs_[static_cast<std::size_t>(i)]; }
  int node(int at) const { return work_.order[static_cast<std::size_t>(at)]; }
  const std::vector<int>& steps_before(int i) const { return before_[static_cast<std::size_t>(i)]; }

  // Nodes without a step are looked through: what two steps read of one variable does not tie them together.
  void find_steps_before() {
    place_.assign(work_.nodes.size(), -1);
    for (int at = 0; at < size_; ++at) place_[static_cast<std::size_t>(node(at))] = at;
    before_.assign(work_.nodes.size(), {});
    known_.assign(work_.nodes.size(), 0);
    for (const int i : work_.order) collect(i);
  }

  void collect(int i) {
    if (std::exchange(known_[static_cast<std::size_t>(i)], char{1})) return;
    std::vector<int> out;
    for (const int b : work_.before[static_cast<std::size_t>(i)]) {
      if (cost(b).runs) {
        out.push_back(b);
        continue;
      }
      collect(b);
      out.insert(out.end(), steps_before(b).begin(), steps_before(b).end());
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    before_[static_cast<std::size_t>(i)] = std::move(out);
  }

  bool stands_alone(int i) const {
    const WorkNode& node = work_.at(i);
    if (node.late || node.may_be_dead || node.parks || node.kind == Kind::kSwitch ||
        node.kind == Kind::kMerge)
      return true;
    return std::ranges::any_of(node.outputs,
                               [](const Value& out) { return out.variable < 0 && !out.shape.is_known(); });
  }

  // best[b]: most that can be saved in the first b places; from[b]: where the group that ends there begins.
  void choose_ranges() {
    std::vector<double> best(static_cast<std::size_t>(size_) + 1, 0);
    std::vector<int> from(static_cast<std::size_t>(size_) + 1, -1);
    for (int begin = 0; begin < size_; ++begin) {
      const double so_far = best[static_cast<std::size_t>(begin)];
      if (so_far >= best[static_cast<std::size_t>(begin) + 1]) {
        best[static_cast<std::size_t>(begin) + 1] = so_far;
        from[static_cast<std::size_t>(begin) + 1] = -1;
      }
      if (!cost(node(begin)).runs) continue;
      extend(begin, [&](int end, double saved) {
        if (so_far + saved < best[static_cast<std::size_t>(end)]) return;
        best[static_cast<std::size_t>(end)] = so_far + saved;
        from[static_cast<std::size_t>(end)] = begin;
      });
    }
    for (int at = size_; at > 0;) {
      const int begin = from[static_cast<std::size_t>(at)];
      if (begin >= 0) ranges_.insert(ranges_.begin(), {begin, at});
      at = begin >= 0 ? begin : at - 1;
    }
  }

  // Calls found(end, what it saves) for each range from `begin` on that is worth it.
  template <class F>
  void extend(int begin, F&& found) {
    Parts parts;
    for (int at = begin; at < std::min(size_, begin + kLongest) && !stands_alone(node(at)); ++at) {
      parts.add(cost(node(at)).nanoseconds);
      if (!cost(node(at)).runs) continue;
      join(parts, begin, at);
      const double saved = parts.saved(threads_);
      if (saved >= kLeastSaved) found(at + 1, saved - kLeastSaved / 2);
    }
  }

  void join(Parts& parts, int begin, int at) const {
    for (const int b : steps_before(node(at)))
      if (place_[static_cast<std::size_t>(b)] >= begin)
        parts.join(place_[static_cast<std::size_t>(b)] - begin, at - begin);
  }

  // Rewrites the range: nodes that depend on none of it, the chains, nodes that depend on several chains.
  Group lay_out(int begin, int end) {
    Parts parts;
    for (int at = begin; at < end; ++at) {
      parts.add(cost(node(at)).nanoseconds);
      if (cost(node(at)).runs) join(parts, begin, at);
    }
    const std::vector<int> chain_of = share_out(parts, begin, end);
    std::vector<std::vector<int>> lists(static_cast<std::size_t>(chains_) + 2);
    for (int at = begin; at < end; ++at)
      lists[static_cast<std::size_t>(list_of(at, begin, parts, chain_of))].push_back(node(at));
    Group group;
    int at = begin;
    for (std::size_t k = 0; k < lists.size(); ++k) {
      if (k > 0) group.starts.push_back(at);
      for (const int i : lists[k]) work_.order[static_cast<std::size_t>(at++)] = i;
    }
    for (int moved = begin; moved < end; ++moved) place_[static_cast<std::size_t>(node(moved))] = moved;
    return group;
  }

  // Which chain each part (by its root) goes to: the costliest first, each to the chain that has least.
  std::vector<int> share_out(Parts& parts, int begin, int end) {
    std::vector<int> roots, chain_of(static_cast<std::size_t>(end - begin), -1);
    double all = 0;
    for (int at = begin; at < end; ++at) {
      all += cost(node(at)).nanoseconds;
      if (cost(node(at)).runs && parts.find(at - begin) == at - begin) roots.push_back(at - begin);
    }
    std::ranges::stable_sort(roots, std::greater<>(), [&](int root) { return parts.cost(root); });
    // A few more than there are threads, as costs are guesses.
    const int most = std::min(4 * threads_, static_cast<int>(std::min(all / kLeastSaved, 1e6)));
    chains_ = std::min(static_cast<int>(roots.size()), std::max(2, most));
    std::vector<double> load(static_cast<std::size_t>(chains_), 0);
    for (const int root : roots) {
      const auto least = std::ranges::min_element(load) - load.begin();
      load[static_cast<std::size_t>(least)] += parts.cost(root);
      chain_of[static_cast<std::size_t>(root)] = static_cast<int>(least);
    }
    return chain_of;
  }

  // 0: before the chains; k: chain k - 1; chains + 1: after them.
  int list_of(int at, int begin, Parts& parts, const std::vector<int>& chain_of) const {
    const auto chain_at = [&](int place) {
      return chain_of[static_cast<std::size_t>(parts.find(place - begin))] + 1;
    };
    if (cost(node(at)).runs) return chain_at(at);
    int list = 0;
    for (const int b : steps_before(node(at))) {
      const int place = place_[static_cast<std::size_t>(b)];
      if (place < begin) continue;
      if (list > 0 && list != chain_at(place)) return chains_ + 1;
      list = chain_at(place);
    }
    return list;
  }

  WorkGraph& work_;
  const std::vector<NodeCost>& costs_;
  const int threads_, size_;
  int chains_ = 0;                        // of the group being laid out
  std::vector<int> place_;                // by node: its place in the order, or -1
  std::vector<std::vector<int>> before_;  // by node: steps that must have run
  std::vector<char> known_;               // by node: `before_` is filled in
  std::vector<std::pair<int, int>> ranges_;
};

}  // namespace

std::vector<Group> find_chains(WorkGraph& work, const std::vector<NodeCost>& costs, int threads) {
  return ChainFinder(work, costs, threads).run();
}

}  // namespace runnel
