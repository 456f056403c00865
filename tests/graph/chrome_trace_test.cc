// The text of a trace. That it is JSON, and holds every kernel, is shown by tests/interop/test_command.py.
#include "graph/runtime/chrome_trace.h"

#include <doctest/doctest.h>

using namespace runnel;

namespace {

RunMetadata two_kernels() {
  RunMetadata metadata{.start = 1'700'000'000'000'000'000, .thread = 7, .arena_bytes = 64};
  metadata.end = metadata.start + 5000;
  DeviceStats& device = metadata.devices.emplace_back(DeviceStats{.device = "cpu"});
  device.threads = {{7, "caller"}};
  device.nodes.push_back({.name = "a", .op = "Mul+Add", .inputs = {"x", "y:1"}, .thread = 7});
  device.nodes.push_back({.name = "b", .op = "Add", .inputs = {"a"}, .thread = 7});
  NodeStats& first = device.nodes[0];
  first.scheduled = metadata.start + 1;
  first.start = metadata.start + 1001;
  first.end = metadata.start + 3042;
  first.fused = {"b"};
  device.nodes[1].fused_into = "a";
  first.outputs.push_back({.dtype = DType::kFloat, .shape = {2}, .bytes = 8, .held_bytes = 64});
  return metadata;
}

}  // namespace

TEST_CASE("a trace has microseconds since the start of the step, and a fused run once") {
  CHECK(
      chrome_trace(two_kernels()) ==
      R"({"displayTimeUnit": "ns", "otherData": {"start_ns_since_1970": "1700000000000000000"}, "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "cpu Compute"}},
{"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "caller"}},
{"ph": "X", "cat": "Op", "name": "Mul+Add", "pid": 0, "tid": 7, "ts": 1.001, "dur": 2.041, "args": {"name": "a", "op": "Mul+Add", "input0": "x", "input1": "y:1", "outputs": ["float[2] arena"], "memory": 64, "fused": ["b"], "waited_us": 1.000}},
{"ph": "X", "cat": "Step", "name": "step", "pid": 0, "tid": 7, "ts": 0.000, "dur": 5.000, "args": {"arena_bytes": 64}}
]}
)");
}

TEST_CASE("names with quotes, line ends and bytes above ASCII leave the text valid") {
  RunMetadata metadata = two_kernels();
  metadata.devices[0].nodes[0].name = "a\"\\\n\xff";
  CHECK(chrome_trace(metadata).find(R"("name": "a\"\\\u000a\u00ff")") != std::string::npos);
}
