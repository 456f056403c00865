// Placement: roots first, then lifetimes in execution order, then offsets, largest value first.
#include "graph/runtime/place.h"

#include <algorithm>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register

// A piece of the arena and the steps between which it is in use.
struct Storage {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t offset = 0;
};

class Placer {
 public:
  Placer(WorkGraph& work, Plan& plan) : work_(work), plan_(plan) {}

  Placement run() {
    order_variables();
    out_.slot_of.resize(work_.nodes.size());
    for (const int i : work_.order) make_slots(i);
    settle_fetches();
    plan_.views.resize(plan_.slots.size());
    for (std::size_t s = 0; s < plan_.slots.size(); ++s)
      plan_.views[static_cast<std::size_t>(plan_.slots[s].root_slot)].push_back(static_cast<int>(s));
    place_arena();
    list_slots();
    return std::move(out_);
  }

 private:
  Slot& slot(int s) { return plan_.slots[static_cast<std::size_t>(s)]; }
  int slot_of(const ValueId& id) const {
    return out_.slot_of[static_cast<std::size_t>(id.node)][static_cast<std::size_t>(id.output)];
  }

  void order_variables() {
    std::vector<int> by_number(work_.variables.size());
    for (std::size_t k = 0; k < by_number.size(); ++k) by_number[k] = static_cast<int>(k);
    std::ranges::sort(by_number, {},
                      [&](int k) { return work_.variables[static_cast<std::size_t>(k)]->number; });
    out_.variable_at.resize(by_number.size());
    for (std::size_t at = 0; at < by_number.size(); ++at) {
      const auto k = static_cast<std::size_t>(by_number[at]);
      out_.variable_at[k] = static_cast<int>(at);
      PlannedVariable planned;
      planned.slot = work_.variables[k];
      planned.assumed = work_.variable_shapes[k];
      plan_.variables.push_back(planned);
    }
  }

  void make_slots(int i) {
    const WorkNode& node = work_.at(i);
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const int s = static_cast<int>(plan_.slots.size());
      plan_.slots.push_back(root_of(node, k, s));
      plan_.slots.back().name = node.outputs.size() == 1 ? work_.name_of(i) : cat(work_.name_of(i), ":", k);
      out_.slot_of[static_cast<std::size_t>(i)].push_back(s);
    }
  }

  Slot root_of(const WorkNode& node, std::size_t k, int s) {
    const Value& value = node.outputs[k];
    Slot out{.dtype = value.dtype,
             .shape = value.shape,
             .root = Root::kArena,
             .index = -1,
             .root_slot = s,
             .offset = 0,
             .name = ""};
    if (value.variable >= 0) {
      out.root = Root::kVariable;
      out.shape = Shape::unknown();  // the variable's own, which may change
      out.index = out_.variable_at[static_cast<std::size_t>(value.variable)];
      out.dtype = plan_.variables[static_cast<std::size_t>(out.index)].slot->dtype;
    } else if (value.constant) {
      out.root = Root::kConstant;
      out.index = static_cast<int>(plan_.constants.size());
      plan_.constants.push_back(*value.constant);
    } else if (node.kind == Kind::kFed) {
      out.root = Root::kFeed;
      out.index = node.feed;
    } else if ((node.kind == Kind::kView && !node.must_copy) || node.kind == Kind::kSwitch) {
      const Slot& from = slot(slot_of(node.inputs[0]));
      out.root = from.root;
      out.index = from.index;
      out.root_slot = from.root_slot;
      if (!out.shape.is_known() &&
          out.root != Root::kVariable) {  // told late: a slot of its own that is pointed there
        out.root = Root::kOwn;
        out.root_slot = s;
      }
    } else if (!value.shape.is_known() || value.dtype == DType::kString || node.parks ||
               size_of(value.dtype) == 0) {
      out.root = Root::kOwn;
    }
    return out;
  }

  // What a run hands out must not lie in the arena.
  void settle_fetches() {
    for (const ValueId& id : work_.fetches) {
      if (id.node < 0) continue;
      const int root = slot(slot_of(id)).root_slot;
      if (slot(root).root != Root::kArena) continue;
      for (Slot& s : plan_.slots)
        if (s.root_slot == root) s.root = Root::kOwn;
    }
  }

  bool in_arena(int s) const { return plan_.slots[static_cast<std::size_t>(s)].root == Root::kArena; }

  void place_arena() {
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

  void open(int i, int at) {
    for (const int s : out_.slot_of[static_cast<std::size_t>(i)]) {
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
        for (const int s : out_.slot_of[static_cast<std::size_t>(i)])
          shares[static_cast<std::size_t>(s)] = first;
    }
  }

  // Output 0 in the memory of an input that nobody reads after this step.
  void reuse_input(int i, int at) {
    const WorkNode& node = work_.at(i);
    if (node.kind != Kind::kKernel || node.late || node.parks || !node.node || node.outputs.empty()) return;
    const Kernel* kernel = find_kernel(*node.node);
    const int out = out_.slot_of[static_cast<std::size_t>(i)][0];
    if (!kernel || !kernel->options.in_place || !in_arena(out)) return;
    int& own = storage_of_[static_cast<std::size_t>(out)];
    for (const ValueId& id : node.inputs) {
      const int input = slot_of(id);
      if (!in_arena(input)) continue;
      const int storage = storage_of_[static_cast<std::size_t>(slot(input).root_slot)];
      Storage& old = storages_[static_cast<std::size_t>(storage)];
      Storage& mine = storages_[static_cast<std::size_t>(own)];
      if (storage == own || old.last != at || old.bytes != mine.bytes ||
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
        if (other.last < storage.first || storage.last < other.first) continue;
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

  void list_slots() {
    plan_.feed_slots.resize(plan_.feed_shapes.size());
    for (std::size_t s = 0; s < plan_.slots.size(); ++s) {
      const Slot& one = plan_.slots[s];
      if (one.root == Root::kFeed)
        plan_.feed_slots[static_cast<std::size_t>(one.index)].push_back(static_cast<int>(s));
      if (one.root == Root::kVariable)
        plan_.variables[static_cast<std::size_t>(one.index)].slots.push_back(static_cast<int>(s));
      if (one.root == Root::kOwn && one.root_slot == static_cast<int>(s) && one.shape.is_known() &&
          size_or_string(one.dtype))
        plan_.own_slots.push_back(static_cast<int>(s));
    }
  }

  static bool size_or_string(DType type) { return size_of(type) > 0 || type == DType::kString; }

  WorkGraph& work_;
  Plan& plan_;
  Placement out_;
  std::vector<int> storage_of_;  // by root slot
  std::vector<Storage> storages_;
};

}  // namespace

Placement place(WorkGraph& work, Plan& plan) { return Placer(work, plan).run(); }

}  // namespace runnel
