// What a recorded run says of its kernels: each one that ran, once, with times, thread, outputs and memory;
// what is left out; and what stays of a step that failed.
#include "graph/runtime/run_metadata.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include "graph/error.h"
#include "graph/kernel.h"
#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_where_ops.h"
#include "ops/control_flow_ops.h"
#include "ops/math_ops.h"
#include "ops/nn_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"
#include "runnel/run_metadata.pb.h"

using namespace runnel;

namespace {

// TestPatient parks at its first try, and wakes itself.
const OpRegistration kPatient{{.name = "TestPatient",
                               .inputs = {},
                               .outputs = {"y: float"},
                               .attrs = {},
                               .shape = scalar_shape,
                               .gradient = Gradient::none("a test"),
                               .traits = {.stateful = true, .may_park = true}}};
const KernelRegistration kPatientKernel{"TestPatient", any, [](Bind& b) {
                                          b.run([tried = false, y = b.out<float>("y")](Context& c) mutable {
                                            *c[y] = 1;
                                            if (std::exchange(tried, true)) return true;
                                            c.waker()->wake();
                                            return false;
                                          });
                                        }};
// Where kernels wait for each other, if a test sets it; not for ever, so that a test that fails ends.
class Meeting {
 public:
  bool arrive_and_wait(int count) {
    std::unique_lock hold(mutex_);
    ++arrived_;
    changed_.notify_all();
    return changed_.wait_for(hold, std::chrono::seconds(20), [&] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};
Meeting* meeting = nullptr;

// TestDearer adds 1 and claims to take a millisecond; refuses negative numbers, and meets another at 7.
const OpRegistration kDearer{{.name = "TestDearer",
                              .inputs = {"x: float"},
                              .outputs = {"y: float"},
                              .attrs = {},
                              .shape = same_shape,
                              .gradient = Gradient::none("a test")}};
const KernelRegistration kDearerKernel{
    "TestDearer", any, [](Bind& b) {
      b.costs(1e6);
      b.run([n = b.input("x").shape.elements(), x = b.in<float>("x"), y = b.out<float>("y")](Context& c) {
        if (c[x][0] < 0) throw OutOfRange("a negative number");
        if (meeting && c[x][0] == 7) CHECK(meeting->arrive_and_wait(2));
        for (std::int64_t i = 0; i < n; ++i) c[y][i] = c[x][i] + 1;
      });
    }};
Output dearer(const Output& x, const char* name) {
  return x.graph().add("TestDearer", {x}, {}, name).output(0);
}

// The only device's.
const std::vector<NodeStats>& nodes(const RunMetadata& metadata) {
  REQUIRE(metadata.devices.size() == 1);
  return metadata.devices[0].nodes;
}
std::vector<std::string> labels(const RunMetadata& metadata) {
  std::vector<std::string> out;
  for (const NodeStats& node : nodes(metadata)) out.push_back(node.label());
  return out;
}
std::vector<std::string> names(const RunMetadata& metadata) {
  std::vector<std::string> out;
  for (const NodeStats& node : nodes(metadata)) out.push_back(node.name);
  return out;
}

using Names = std::vector<std::string>;

SessionOptions one_thread() { return {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1}; }

struct Product {
  Graph g;
  Output x = placeholder<float>(g, {2, 3}, "x");
  Output ones = constant(g, Tensor::zeros(DType::kFloat, {3, 4}), {.name = "w"});
  Output product = matmul(x, ones, {.name = "product"});
  Output flat = reshape(product, {8}, {.name = "flat"});
  Output sum = add(flat, flat, {.name = "sum"});
  Tensor fed = Tensor::zeros(DType::kFloat, {2, 3});
};

}  // namespace

TEST_CASE("a run lists each kernel once, in the order in which they ran, and no views, constants or feeds") {
  Product t;
  Session session(t.g, one_thread());
  RunMetadata metadata;
  session.run(t.sum, {{t.x, t.fed}}, {.run_metadata = &metadata});
  CHECK(labels(metadata) == Names{"product = MatMul(x, w)", "sum = AddV2(flat, flat)"});
  std::int64_t before = metadata.start;
  for (const NodeStats& node : nodes(metadata)) {
    CHECK(node.scheduled == node.start);
    CHECK(node.start >= before);
    CHECK(node.end >= node.start);
    CHECK(metadata.devices[0].threads.at(node.thread) == "caller");
    before = node.end;
  }
  CHECK(metadata.end >= before);
  CHECK(metadata.devices[0].device == "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST_CASE("a run says what each kernel gave, and whose memory that lies in") {
  Product t;
  Session session(t.g, one_thread());
  RunMetadata metadata;
  session.run(t.sum, {{t.x, t.fed}}, {.run_metadata = &metadata});
  const OutputStats product = nodes(metadata)[0].outputs.at(0), sum = nodes(metadata)[1].outputs.at(0);
  CHECK(product.dtype == DType::kFloat);
  CHECK(product.shape == Shape{2, 4});
  CHECK(product.memory == Memory::kArena);
  CHECK(product.bytes == 32);
  CHECK(product.held_bytes == 64);
  CHECK(nodes(metadata)[0].memory() == 64);
  CHECK(sum.shape == Shape{8});
  CHECK(sum.memory == Memory::kBuffer);
  CHECK(sum.held_bytes >= 32);
  CHECK(metadata.arena_bytes == session.stats().arena_bytes);
}

TEST_CASE("a later run replaces what the metadata held, and one that names none leaves it alone") {
  Product t;
  Session session(t.g, one_thread());
  RunMetadata metadata;
  session.run(t.sum, {{t.x, t.fed}}, {.run_metadata = &metadata});
  const std::int64_t first = metadata.start;
  session.run(t.sum, {{t.x, t.fed}});
  CHECK(metadata.start == first);
  session.run(t.product, {{t.x, t.fed}}, {.run_metadata = &metadata});
  CHECK(metadata.start > first);
  CHECK(names(metadata) == Names{"product"});
  CHECK_THROWS_AS(session.run(t.sum, {}, {.run_metadata = &metadata}), InvalidArgument);
  CHECK(metadata.devices.empty());
}

TEST_CASE("a prepared call can be recorded") {
  Product t;
  Session session(t.g, one_thread());
  Prepared call = session.prepare({.feeds = {t.x}, .fetches = {t.sum}});
  RunMetadata metadata;
  CHECK(call({t.fed}, {.run_metadata = &metadata})[0] == Tensor::zeros(DType::kFloat, {8}));
  CHECK(names(metadata) == Names{"product", "sum"});
  metadata = {};
  call({t.fed});
  CHECK(metadata.devices.empty());
  CHECK_THROWS_AS(call({t.fed}, {.timeout_in_ms = -1}), InvalidArgument);
}

TEST_CASE("the side of a switch that was not taken is left out") {
  Graph g;
  const Output data = placeholder<float>(g, {2}, "data"), choice = placeholder<bool>(g, {}, "choice");
  const Node& fork = g.add("Switch", {data, choice}, {}, "fork");
  const Output no = add(fork.output(0), fork.output(0), {.name = "no"});
  const Output yes = multiply(fork.output(1), fork.output(1), {.name = "yes"});
  const Output merged = g.add("Merge", {Outputs{no, yes}}, {}, "merged").output(0);
  Session session(g, one_thread());
  for (const bool taken : {false, true}) {
    RunMetadata metadata;
    session.run(merged, {{data, Tensor::vector<float>({1, 2})}, {choice, Tensor::scalar(taken)}},
                {.run_metadata = &metadata});
    CHECK(names(metadata) == Names{"fork", taken ? "yes" : "no", "merged"});
    REQUIRE(nodes(metadata)[0].outputs.size() == 1);
    CHECK(nodes(metadata)[0].outputs[0].slot == (taken ? 1 : 0));
    CHECK(nodes(metadata)[0].outputs[0].memory == Memory::kFeed);
  }
}

TEST_CASE("a fused run has one time, with its first node, which speaks for the others") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x"), y = placeholder<float>(g, {kUnknown}, "y");
  const Output product = multiply(x, y, {.name = "product"}), sum = add(product, x, {.name = "sum"});
  const Tensor fed = Tensor::zeros(DType::kFloat, {1 << 20});
  Session session(g, one_thread());
  RunMetadata metadata;
  session.run(relu(sum, {.name = "out"}), {{x, fed}, {y, fed}}, {.run_metadata = &metadata});
  CHECK(labels(metadata) == Names{"product = Mul+AddV2+Relu(x, y)",
                                  "sum = AddV2(product, x), fused into product",
                                  "out = Relu(sum), fused into product"});
  CHECK(nodes(metadata)[0].fused == Names{"sum", "out"});
  CHECK(nodes(metadata)[0].outputs[0].memory == Memory::kTile);
  CHECK(nodes(metadata)[0].memory() == 0);
  CHECK(nodes(metadata)[0].end > nodes(metadata)[0].start);
  CHECK(nodes(metadata)[2].end == nodes(metadata)[0].start);
  CHECK(nodes(metadata)[2].memory() >= std::size_t{4} << 20);
}

TEST_CASE("kernels that run side by side are listed with their threads") {
  Graph g;
  const Output x = placeholder<float>(g, {64}, "x");
  const Output a = dearer(dearer(x, "a1"), "a2"), b = dearer(dearer(x, "b1"), "b2");
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 2});
  Tensor sevens(DType::kFloat, {64});
  std::ranges::fill(sevens.mutable_values<float>(), 7.0f);
  Meeting first;
  meeting = &first;
  RunMetadata metadata;
  session.run(a + b, {{x, sevens}}, {.run_metadata = &metadata});
  meeting = nullptr;
  const std::vector<std::string> listed = names(metadata);
  CHECK(std::set<std::string>(listed.begin(), listed.end()) ==
        std::set<std::string>{"a1", "a2", "b1", "b2", "add"});
  CHECK(listed.size() == 5);
  CHECK(listed.back() == "add");
  for (const NodeStats& node : nodes(metadata))
    CHECK(metadata.devices[0].threads.at(node.thread) ==
          (node.thread == metadata.thread ? "caller" : "pool"));
  CHECK(metadata.devices[0].threads.size() == 2);
}

TEST_CASE("what ran before an error is kept, on the caller's thread and on others") {
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    Graph g;
    const Output x = placeholder<float>(g, {64}, "x");
    const Output before = add(x, x, {.name = "before"});
    const Output a = dearer(dearer(before, "a1"), "a2"), b = dearer(dearer(before, "b1"), "b2");
    Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = threads});
    Tensor minus(DType::kFloat, {64});
    std::ranges::fill(minus.mutable_values<float>(), -1.0f);
    RunMetadata metadata;
    CHECK_THROWS_AS(session.run(a + b, {{x, minus}}, {.run_metadata = &metadata}), OutOfRange);
    CHECK(names(metadata) == Names{"before"});
  }
}

TEST_CASE("a kernel that waited says since when, and is listed once") {
  Graph g;
  const Output patient = g.add("TestPatient", {}, {}, "patient").output(0);
  Session session(g, one_thread());
  RunMetadata metadata;
  CHECK(session.run(patient, {}, {.run_metadata = &metadata}).scalar<float>() == 1);
  REQUIRE(names(metadata) == Names{"patient"});
  CHECK(nodes(metadata)[0].scheduled < nodes(metadata)[0].start);
}

TEST_CASE("shapes that are told late are those of the run, and a late view lies in another's memory") {
  Graph g;
  const Output x = placeholder<float>(g, {4}, "x"), mask = placeholder<bool>(g, {4}, "mask");
  const Output picked = boolean_mask(x, mask);
  const Output rows = reshape(picked, {-1, 1}, {.name = "rows"});
  const Output twice = add(rows, rows, {.name = "twice"});
  Tensor which(DType::kBool, {4});
  std::ranges::fill(which.mutable_values<bool>(), true);
  Session session(g, one_thread());
  RunMetadata metadata;
  session.run(twice, {{x, Tensor::zeros(DType::kFloat, {4})}, {mask, which}}, {.run_metadata = &metadata});
  const auto stats_of = [&](const std::string& name) {
    return *std::ranges::find(nodes(metadata), name, &NodeStats::name);
  };
  CHECK(stats_of("twice").outputs[0].shape == Shape{4, 1});
  CHECK(stats_of("twice").outputs[0].bytes == 16);
  CHECK(stats_of("rows").outputs[0].memory == Memory::kView);
  CHECK(stats_of("rows").memory() == 0);
}

TEST_CASE("copies that the plan makes are listed under a name that no node can have") {
  Graph g;
  const Variable a = variable(g, 1.0f, "s/a"), b = variable(g, 2.0f, "s/b");
  const Operation swap = group({Operation(assign(a, b.value(), {.name = "to_a"}).node()),
                                Operation(assign(b, a.value(), {.name = "to_b"}).node())});
  Session session(g, one_thread());
  session.run(initialize_global_variables(g));
  RunMetadata metadata;
  session.run(swap, {}, {.run_metadata = &metadata});
  std::vector<std::string> listed = labels(metadata);
  CHECK(std::ranges::count_if(listed,
                              [](const std::string& label) { return label.starts_with("_copy/s/"); }) == 1);
  for (const NodeStats& node : nodes(metadata))
    CHECK(node.outputs[0].memory == (node.op == "Copy" ? Memory::kArena : Memory::kVariable));
}

TEST_CASE("the message has times, memory and shapes where TensorFlow's has them") {
  Product t;
  Session session(t.g, one_thread());
  RunMetadata metadata;
  session.run(t.sum, {{t.x, t.fed}}, {.run_metadata = &metadata});
  pb::RunMetadata message;
  REQUIRE(message.ParseFromString(metadata.serialize()));
  REQUIRE(message.step_stats().dev_stats_size() == 1);
  const pb::DeviceStepStats& device = message.step_stats().dev_stats(0);
  CHECK(device.thread_names().at(metadata.thread) == "caller");
  REQUIRE(device.node_stats_size() == 2);
  const pb::NodeExecStats& product = device.node_stats(0);
  const NodeStats& stats = nodes(metadata)[0];
  CHECK(product.timeline_label() == "product = MatMul(x, w)");
  CHECK(product.all_start_nanos() == stats.start);
  CHECK(product.all_start_micros() == stats.start / 1000);
  CHECK(product.all_end_rel_nanos() == stats.end - stats.start);
  CHECK(product.all_end_rel_micros() >= 1);
  REQUIRE(product.memory_size() == 1);
  CHECK(product.memory(0).allocator_name() == "arena");
  CHECK(product.memory(0).total_bytes() == 64);
  CHECK(product.output(0).tensor_description().shape().dim(1).size() == 4);
  CHECK(device.node_stats(1).memory(0).allocator_name() == "buffer");
}
