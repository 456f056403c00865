// Places in the arena: lifetimes in execution order, memory of inputs taken over, then offsets, largest value
// first. Between chains that run side by side there is no order: what one of them makes or reads stays in
// use, for the others, until the group ends. The steps of a fused run happen all at once.
#include <algorithm>

#include "graph/runtime/fuse.h"
#include "graph/runtime/place.h"

namespace runnel {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register

// A piece of the arena and the steps between which it is in use.
struct Storage {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t offset = 0;
};

class ArenaPlacer {
 public:
  ArenaPlacer(const WorkGraph& work, Plan& plan, const Placement& placement, const std::vector<Group>& groups,
              const std::vector<FusedRun>& runs)
      : work_(work), plan_(plan), placement_(placement) {
    find_chains(groups);
    run_of_.assign(work.order.size(), -1);
    for (std::size_t k = 0; k < runs.size(); ++k)
      std::fill(run_of_.begin() + runs[k].begin, run_of_.begin() + runs[k].end, static_cast<int>(k));
  }

  void run() {
    storage_of_.assign(plan_.slots.size(), -1);
    for (std::size_t at = 0; at < work_.order.size(); ++at) open(work_.order[at], static_cast<int>(at));
    find_last_uses();
    for (std::size_t at = 0; at < work_.order.size(); ++at)
      reuse_input(work_.order[at], static_cast<int>(at));
    assign_offsets();
    for (std::size_t s = 0; s < plan_.slots.size(); ++s)
      if (in_arena(static_cast<int>(s)))
        plan_.slots[s].offset =
            storages_[static_cast<std::size_t>(
                          storage_of_[static_cast<std::size_t>(plan_.slots[s].root_slot)])]
                .offset;
  }

 private:
  Slot& slot(int s) { return plan_.slots[static_cast<std::size_t>(s)]; }
  int slot_of(const ValueId& id) const {
    return placement_.slot_of[static_cast<std::size_t>(id.node)][static_cast<std::size_t>(id.output)];
  }
  bool in_arena(int s) const { return plan_.slots[static_cast<std::size_t>(s)].root == Root::kArena; }

  void find_chains(const std::vector<Group>& groups) {
    group_of_.assign(work_.order.size(), -1);
    chain_of_.assign(work_.order.size(), -1);
    int chains = 0;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t k = 0; k + 1 < groups[g].starts.size(); ++k, ++chains)
        for (int at = groups[g].starts[k]; at < groups[g].starts[k + 1]; ++at) {
          group_of_[static_cast<std::size_t>(at)] = static_cast<int>(g);
          chain_of_[static_cast<std::size_t>(at)] = chains;
        }
  }

  // True if no chain still reads this storage when the step at `later` runs, which comes after its last use.
  bool is_free(const Storage& storage, int later) const {
    const auto first = static_cast<std::size_t>(storage.first), last = static_cast<std::size_t>(storage.last),
               at = static_cast<std::size_t>(later);
    return group_of_[at] < 0 || group_of_[last] != group_of_[at] || chain_of_[first] == chain_of_[at];
  }

  bool dies_before(const Storage& a, const Storage& b) const {
    const int run = run_of_[static_cast<std::size_t>(a.last)];
    const bool at_once = run >= 0 && run == run_of_[static_cast<std::size_t>(b.first)];
    return a.last < b.first && !at_once && is_free(a, b.first);
  }

  void open(int i, int at) {
    for (const int s : placement_.slot_of[static_cast<std::size_t>(i)]) {
      if (!in_arena(s) || slot(s).root_slot != s) continue;
      storage_of_[static_cast<std::size_t>(s)] = static_cast<int>(storages_.size());
      const std::size_t bytes = static_cast<std::size_t>(slot(s).shape.elements()) * size_of(slot(s).dtype);
      storages_.push_back({bytes, at, at, 0});
    }
  }

  // A late node may turn out to be a view of its first input, so its readers keep that input's memory alive.
  void find_last_uses() {
    std::vector<std::vector<int>> shares(plan_.slots.size());  // by slot: storages that it may lie in
    for (std::size_t at = 0; at < work_.order.size(); ++at) {
      const int i = work_.order[at];
      const WorkNode& node = work_.at(i);
      std::vector<int> first;
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        const int s = slot_of(node.inputs[k]);
        std::vector<int> used = shares[static_cast<std::size_t>(s)];
        const int own = storage_of_[static_cast<std::size_t>(slot(s).root_slot)];
        if (own >= 0) used.push_back(own);
        for (const int storage : used)
          storages_[static_cast<std::size_t>(storage)].last = static_cast<int>(at);
        if (k == 0) first = used;
      }
      const bool may_share = node.kind == Kind::kView || node.kind == Kind::kSwitch || node.late;
      if (may_share)
        for (const int s : placement_.slot_of[static_cast<std::size_t>(i)])
          shares[static_cast<std::size_t>(s)] = first;
    }
  }

  // Output 0 in the memory of an input that nobody reads after this step.
  void reuse_input(int i, int at) {
    const WorkNode& node = work_.at(i);
    if (node.kind != Kind::kKernel || node.late || node.parks || !node.node || node.outputs.empty()) return;
    const Kernel* kernel = find_kernel(*node.node);
    const int out = placement_.slot_of[static_cast<std::size_t>(i)][0];
    if (!kernel || !kernel->options.in_place || !in_arena(out)) return;
    int& own = storage_of_[static_cast<std::size_t>(out)];
    for (const ValueId& id : node.inputs) {
      const int input = slot_of(id);
      if (!in_arena(input)) continue;
      const int storage = storage_of_[static_cast<std::size_t>(slot(input).root_slot)];
      Storage& old = storages_[static_cast<std::size_t>(storage)];
      Storage& mine = storages_[static_cast<std::size_t>(own)];
      if (storage == own || old.last != at || !is_free(old, at) || old.bytes != mine.bytes ||
          !alone(node, storage, slot(out).shape))
        continue;
      old.last = mine.last;
      mine.bytes = 0;
      own = storage;
      return;
    }
  }

  // True if every input of the node in that storage is read element by element along with the output.
  bool alone(const WorkNode& node, int storage, const Shape& shape) {
    for (const ValueId& id : node.inputs) {
      const int s = slot_of(id);
      if (in_arena(s) && storage_of_[static_cast<std::size_t>(slot(s).root_slot)] == storage &&
          !(slot(s).shape == shape))
        return false;
    }
    return true;
  }

  void assign_offsets() {
    std::vector<int> by_size;
    for (std::size_t k = 0; k < storages_.size(); ++k)
      if (storages_[k].bytes > 0) by_size.push_back(static_cast<int>(k));
    std::ranges::stable_sort(by_size, std::greater<>(),
                             [&](int k) { return storages_[static_cast<std::size_t>(k)].bytes; });
    std::vector<int> placed;  // by offset
    for (const int k : by_size) {
      Storage& storage = storages_[static_cast<std::size_t>(k)];
      std::size_t offset = 0;
      for (const int p : placed) {
        const Storage& other = storages_[static_cast<std::size_t>(p)];
        if (dies_before(other, storage) || dies_before(storage, other)) continue;
        if (offset + storage.bytes <= other.offset) break;
        offset = std::max(offset, (other.offset + other.bytes + kAlignment - 1) / kAlignment * kAlignment);
      }
      storage.offset = offset;
      placed.insert(
          std::ranges::upper_bound(placed, offset, {},
                                   [&](int p) { return storages_[static_cast<std::size_t>(p)].offset; }),
          k);
      plan_.arena_bytes = std::max(plan_.arena_bytes, offset + storage.bytes);
    }
  }

  const WorkGraph& work_;
  Plan& plan_;
  const Placement& placement_;
  std::vector<int> group_of_, chain_of_, run_of_;  // by place in the order; -1: none
  std::vector<int> storage_of_;                    // by root slot
  std::vector<Storage> storages_;
};

}  // namespace

void place_arena(const WorkGraph& work, Plan& plan, const Placement& placement,
                 const std::vector<Group>& groups, const std::vector<FusedRun>& runs) {
  ArenaPlacer(work, plan, placement, groups, runs).run();
}

}  // namespace runnel
