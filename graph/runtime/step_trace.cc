// Runs that are recorded: the loop with a clock, and what the notes become.
#include "graph/runtime/step_trace.h"

#include <unistd.h>

#include <algorithm>

#include "graph/error.h"
#include "graph/runtime/execution.h"

namespace runnel {
namespace {

constexpr const char* kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";
constexpr std::size_t kAlignment = 64;  // of values in the arena

// Asked once a thread: the number is the system's to give.
std::uint32_t this_thread() {
  thread_local const auto id = static_cast<std::uint32_t>(gettid());
  return id;
}

bool runs(const StepNode& node, const Execution& e) {
  const auto alive = [&](int flag) { return flag < 0 || !e.is_dead(flag); };
  if (node.outputs.empty()) return alive(node.flag);
  return std::ranges::any_of(node.outputs, [&](const auto& output) { return alive(output.flag); });
}

std::string name_of(const StepNode& node) { return node.node ? node.node->name() : "_copy/" + node.copied; }

std::vector<std::string> inputs_of(const StepNode& node) {
  if (!node.node) return {node.copied};
  std::vector<std::string> out;
  for (const Output& input : node.node->input_list())
    out.push_back(input.index() == 0 ? input.node().name() : input.name());
  for (const Node* control : node.node->control_inputs()) out.push_back("^" + control->name());
  return out;
}

// The first node of a fused run speaks for all: their ops, and what they read that none of them made.
void speak_for(const std::vector<StepNode>& nodes, NodeStats& first) {
  std::vector<std::string> made{first.name};
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    first.op += "+" + nodes[k].node->op();
    first.fused.push_back(name_of(nodes[k]));
    made.push_back(first.fused.back());
    for (std::string& input : inputs_of(nodes[k]))
      if (std::ranges::find(made, input) == made.end() &&
          std::ranges::find(first.inputs, input) == first.inputs.end())
        first.inputs.push_back(std::move(input));
  }
}

}  // namespace

StepTrace::StepTrace(Execution& execution)
    : execution_(execution),
      epoch_(std::chrono::system_clock::now()),
      start_(std::chrono::steady_clock::now()),
      thread_(this_thread()) {}

void StepTrace::note(const StepInfo& info, Time start) {
  Record record{&info, start, start, std::chrono::steady_clock::now(), this_thread(), {}, {}};
  if (info.nodes.empty()) return;
  for (const StepNode& node : info.nodes) {
    record.ran.push_back(runs(node, execution_) ? 1 : 0);
    record.outputs.emplace_back();
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const auto& [slot, flag] = node.outputs[k];
      if (flag >= 0 && execution_.is_dead(flag)) continue;
      record.outputs.back().push_back(execution_.output_stats(slot));
      record.outputs.back().back().slot = static_cast<int>(k);
    }
  }
  const std::lock_guard hold(mutex_);
  if (const auto at = tried_.find(&info); at != tried_.end()) record.scheduled = at->second;
  records_.push_back(std::move(record));
}

void StepTrace::tried(const StepInfo& info, Time start) {
  const std::lock_guard hold(mutex_);
  tried_.emplace(&info, start);
}

std::int64_t StepTrace::since_1970(Time time) const {
  using std::chrono::duration_cast, std::chrono::nanoseconds;
  return duration_cast<nanoseconds>(epoch_.time_since_epoch()).count() +
         duration_cast<nanoseconds>(time - start_).count();
}

void StepTrace::add(const Record& record, DeviceStats& device) const {
  const std::vector<StepNode>& nodes = record.info->nodes;
  const std::size_t head = device.nodes.size();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (record.ran[k] == 0) continue;
    NodeStats stats{.name = name_of(nodes[k]),
                    .op = nodes[k].node ? nodes[k].node->op() : "Copy",
                    .inputs = inputs_of(nodes[k]),
                    .scheduled = since_1970(record.scheduled),
                    .start = since_1970(record.start),
                    .end = since_1970(k == 0 ? record.end : record.start),
                    .thread = record.thread,
                    .outputs = record.outputs[k]};
    if (k == 0) {
      speak_for(nodes, stats);
    } else {
      stats.fused_into = device.nodes[head].name;
    }
    device.nodes.push_back(std::move(stats));
  }
  device.threads.emplace(record.thread, record.thread == thread_ ? "caller" : "pool");
}

RunMetadata StepTrace::finish() const {
  RunMetadata out{.start = since_1970(start_),
                  .end = since_1970(std::chrono::steady_clock::now()),
                  .thread = thread_,
                  .arena_bytes = execution_.plan().arena_bytes};
  std::vector<const Record*> in_order;
  for (const Record& record : records_) in_order.push_back(&record);
  std::ranges::stable_sort(in_order, {}, &Record::start);
  DeviceStats& device = out.devices.emplace_back(DeviceStats{.device = kDevice});
  device.threads.emplace(thread_, "caller");
  for (const Record* record : in_order) add(*record, device);
  return out;
}

void Execution::run_recorded(std::span<const Feed> feeds, const RunOptions& options, Tensor* out) {
  StepTrace trace(*this);
  trace_ = &trace;
  struct End {
    Execution& e;
    ~End() { e.trace_ = nullptr; }
  } end{*this};
  try {
    run(feeds, options, out);
  } catch (...) {
    *options.run_metadata = trace.finish();
    throw;
  }
  *options.run_metadata = trace.finish();
}

void Execution::run_recorded(const Step& step, const StepInfo& info) {
  const auto start = std::chrono::steady_clock::now();
  step.run(step.closure, *this);
  trace_->note(info, start);
}

void Execution::run_recorded_steps() {
  for (std::size_t k = 0; k < plan_.steps.size(); ++k) {
    try {
      run_recorded(plan_.steps[k], plan_.infos[k]);
    } catch (...) {
      rethrow_at(plan_.infos[k]);
    }
  }
}

OutputStats Execution::output_stats(int slot) const {
  const Slot& s = plan_.slots[static_cast<std::size_t>(slot)];
  OutputStats out{.dtype = s.dtype, .shape = shape_of(slot)};
  if (out.shape.is_known()) out.bytes = static_cast<std::size_t>(out.shape.elements()) * size_of(s.dtype);
  const bool aliased =
      std::ranges::any_of(aliased_, [slot](const auto& entry) { return entry.first == slot; });
  switch (s.root) {
    case Root::kConstant: out.memory = Memory::kConstant; return out;
    case Root::kFeed: out.memory = Memory::kFeed; return out;
    case Root::kVariable: out.memory = Memory::kVariable; return out;
    case Root::kTile: out.memory = Memory::kTile; return out;
    case Root::kArena:
    case Root::kOwn: break;
  }
  if (aliased || s.root_slot != slot) {
    out.memory = Memory::kView;
  } else if (s.root == Root::kArena) {
    out.memory = Memory::kArena;
    out.held_bytes = (out.bytes + kAlignment - 1) / kAlignment * kAlignment;
  } else {
    const Tensor& tensor = tensors_[static_cast<std::size_t>(slot)];
    out.memory = Memory::kBuffer;
    out.held_bytes = tensor ? tensor.buffer()->bytes() : 0;
  }
  return out;
}

}  // namespace runnel
