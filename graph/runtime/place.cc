// Whose memory each value lies in, in execution order, so that views find what they view.
#include "graph/runtime/place.h"

#include <algorithm>

namespace runnel {
namespace {

class SlotMaker {
 public:
  SlotMaker(const WorkGraph& work, Plan& plan) : work_(work), plan_(plan) {}

  Placement run() {
    order_variables();
    out_.slot_of.resize(work_.nodes.size());
    for (const int i : work_.order) make_slots(i);
    settle_fetches();
    plan_.views.resize(plan_.slots.size());
    for (std::size_t s = 0; s < plan_.slots.size(); ++s)
      plan_.views[static_cast<std::size_t>(plan_.slots[s].root_slot)].push_back(static_cast<int>(s));
    list_slots();
    find_moves();
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
             .moves = false,
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

  // A tensor of its own that one node reads, once, and hands on: what is restored becomes the variable's
  // without a copy.
  void find_moves() {
    std::vector<int> readers(plan_.slots.size(), 0);
    for (const ValueId& id : work_.fetches)
      if (id.node >= 0) ++readers[static_cast<std::size_t>(slot_of(id))];
    for (const int i : work_.order)
      for (const ValueId& id : work_.at(i).inputs) ++readers[static_cast<std::size_t>(slot_of(id))];
    for (const int i : work_.order) {
      if (!hands_on(work_.at(i))) continue;
      for (const ValueId& id : work_.at(i).inputs) {
        const int s = slot_of(id);
        slot(s).moves = slot(s).root == Root::kOwn && slot(s).root_slot == s &&
                        plan_.views[static_cast<std::size_t>(s)].size() == 1 &&
                        readers[static_cast<std::size_t>(s)] == 1;
      }
    }
  }

  static bool hands_on(const WorkNode& node) {
    if (node.parks) return false;  // it may come back and look again
    if (node.kind == Kind::kView) return !node.must_copy;
    return node.kind == Kind::kKernel && !node.inputs.empty() &&
           access_of(*node.node, 0) == Access::kOverwrites;
  }

  static bool size_or_string(DType type) { return size_of(type) > 0 || type == DType::kString; }

  const WorkGraph& work_;
  Plan& plan_;
  Placement out_;
};

}  // namespace

Placement make_slots(const WorkGraph& work, Plan& plan) { return SlotMaker(work, plan).run(); }

}  // namespace runnel
