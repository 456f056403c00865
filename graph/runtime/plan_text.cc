// One line a step: op, node, and each value with its place.
#include "graph/runtime/plan_text.h"

#include "graph/error.h"

namespace runnel {
namespace {

// Where a value lies: "float[100] @0".
std::string place_text(const Plan& plan, int s) {
  const Slot& slot = plan.slots[static_cast<std::size_t>(s)];
  std::string where;
  switch (slot.root) {
    case Root::kArena: where = cat("@", slot.offset); break;
    case Root::kTile: where = "tile"; break;
    case Root::kOwn: where = "buffer"; break;
    case Root::kConstant: where = "constant"; break;
    case Root::kFeed: where = cat("feed ", slot.index); break;
    case Root::kVariable: where = plan.variables[static_cast<std::size_t>(slot.index)].slot->name; break;
  }
  return cat(slot.dtype, slot.root == Root::kVariable ? "" : slot.shape.text(), " ", where);
}

}  // namespace

std::string step_text(const WorkGraph& work, const Plan& plan, const Placement& placement, int i) {
  const WorkNode& node = work.at(i);
  const auto slot_of = [&](const ValueId& id) {
    return placement.slot_of[static_cast<std::size_t>(id.node)][static_cast<std::size_t>(id.output)];
  };
  std::string text = node.node ? node.node->op() + " '" + node.node->name() + "'" : "Copy";
  if (node.late) text += " (late)";
  if (node.may_be_dead) text += " (conditional)";
  const char* separator = ": ";
  for (const ValueId& id : node.inputs) {
    text += separator + place_text(plan, slot_of(id));
    separator = ", ";
  }
  separator = " -> ";
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    text += separator + place_text(plan, slot_of({i, static_cast<int>(k)}));
    separator = ", ";
  }
  return text;
}

std::string Plan::text() const {
  std::string out =
      cat("plan: ", kernels, " kernels, ", arena_bytes, " bytes of arena, ", constants.size(), " constants, ",
          variables.size(), " variables", dynamic ? ", shapes told late" : "", "\n");
  for (const std::string& line : log) out += "  " + line + "\n";
  int number = 0;
  for (const EarlyStep& step : early) out += cat("  ", number++, " early ", step.info.text, "\n");
  for (const StepInfo& info : infos)
    if (!info.text.empty()) out += cat("  ", number++, " ", info.text, "\n");
  return out;
}

}  // namespace runnel
