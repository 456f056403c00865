// RunMetadata as TensorFlow's message. TensorBoard ignores a kernel that took no whole microsecond, so one
// that ran is said to have taken one; the exact times are in the fields that count nanoseconds.
#include "graph/runtime/run_metadata.h"

#include <algorithm>

#include "graph/error.h"
#include "graph/tensor_proto.h"
#include "runnel/run_metadata.pb.h"

namespace runnel {
namespace {

constexpr std::int64_t kMicro = 1000;

// Differences of whole microseconds, so that they add up over kernels one after the other.
std::int64_t micros_between(std::int64_t start, std::int64_t end) {
  return end == start ? 0 : std::max<std::int64_t>(1, end / kMicro - start / kMicro);
}

std::size_t held_in(const NodeStats& node, Memory memory) {
  std::size_t sum = 0;
  for (const OutputStats& output : node.outputs)
    if (output.memory == memory) sum += output.held_bytes;
  return sum;
}

void add_memory(const NodeStats& node, Memory memory, std::size_t in_use, pb::NodeExecStats& to) {
  const auto held = static_cast<std::int64_t>(held_in(node, memory));
  if (held == 0) return;
  pb::AllocatorMemoryUsed& used = *to.add_memory();
  used.set_allocator_name(std::string(name_of(memory)));
  used.set_total_bytes(held);
  used.set_peak_bytes(held);
  used.set_live_bytes(held);
  used.set_allocator_bytes_in_use(static_cast<std::int64_t>(in_use));
}

void add_output(const OutputStats& output, pb::NodeExecStats& to) {
  pb::NodeOutput& out = *to.add_output();
  out.set_slot(output.slot);
  pb::TensorDescription& tensor = *out.mutable_tensor_description();
  tensor.set_dtype(static_cast<pb::DataType>(output.dtype));
  write_shape(output.shape, *tensor.mutable_shape());
  pb::AllocationDescription& allocation = *tensor.mutable_allocation_description();
  allocation.set_requested_bytes(static_cast<std::int64_t>(output.bytes));
  allocation.set_allocated_bytes(static_cast<std::int64_t>(output.held_bytes));
  allocation.set_allocator_name(std::string(name_of(output.memory)));
}

void write(const NodeStats& node, std::size_t arena_bytes, pb::NodeExecStats& to) {
  to.set_node_name(node.name);
  to.set_timeline_label(node.label());
  to.set_thread_id(node.thread);
  to.set_scheduled_micros(node.scheduled / kMicro);
  to.set_scheduled_nanos(node.scheduled);
  to.set_all_start_micros(node.start / kMicro);
  to.set_all_start_nanos(node.start);
  to.set_op_end_rel_micros(micros_between(node.start, node.end));
  to.set_op_end_rel_nanos(node.end - node.start);
  to.set_all_end_rel_micros(micros_between(node.start, node.end));
  to.set_all_end_rel_nanos(node.end - node.start);
  add_memory(node, Memory::kArena, arena_bytes, to);
  add_memory(node, Memory::kBuffer, 0, to);
  for (const OutputStats& output : node.outputs) add_output(output, to);
}

}  // namespace

std::string_view name_of(Memory memory) {
  switch (memory) {
    case Memory::kArena: return "arena";
    case Memory::kBuffer: return "buffer";
    case Memory::kVariable: return "variable";
    case Memory::kConstant: return "constant";
    case Memory::kFeed: return "feed";
    case Memory::kView: return "view";
    case Memory::kTile: return "tile";
  }
  return "";
}

std::size_t NodeStats::memory() const {
  return held_in(*this, Memory::kArena) + held_in(*this, Memory::kBuffer);
}

std::string NodeStats::label() const {
  std::string text = cat(name, " = ", op, "(");
  for (std::size_t k = 0; k < inputs.size(); ++k) text += (k > 0 ? ", " : "") + inputs[k];
  text += ")";
  if (!fused_into.empty()) text += cat(", fused into ", fused_into);
  return text;
}

std::string RunMetadata::serialize() const {
  pb::RunMetadata message;
  pb::StepStats& stats = *message.mutable_step_stats();
  for (const DeviceStats& device : devices) {
    pb::DeviceStepStats& to = *stats.add_dev_stats();
    to.set_device(device.device);
    for (const NodeStats& node : device.nodes) write(node, arena_bytes, *to.add_node_stats());
    for (const auto& [thread, name] : device.threads) (*to.mutable_thread_names())[thread] = name;
  }
  return message.SerializeAsString();
}

}  // namespace runnel
