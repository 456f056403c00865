// What one run of a session took, kernel by kernel: when each ran and on which thread, what it gave, and
// whose memory that lies in. A run fills it whose RunOptions name one; TensorBoard shows it beside the graph
// (FileWriter::add_run_metadata), trace viewers show chrome_trace() of it. Source: TensorFlow's RunMetadata
// with StepStats (formats 1.7). Leaves out nodes for which nothing ran: fed ones, constants and what was
// computed from constants alone, views, and the side of a switch that was not taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "graph/shape.h"

namespace runnel {

// Whose memory a value lies in.
enum class Memory {
  kArena,     // of the step: what values one after another share
  kBuffer,    // its own: fetched values, strings, shapes that are told late
  kVariable,  // a variable's
  kConstant,  // the plan's
  kFeed,      // the caller's
  kView,      // of the value that it is made from
  kTile,      // none: it went from one operation of a fused run to the next
};
std::string_view name_of(Memory memory);  // "arena"

struct OutputStats {
  int slot = 0;  // which output of the node
  DType dtype = DType::kInvalid;
  Shape shape;
  std::size_t bytes = 0;       // of the value; a string counts as its std::string object
  std::size_t held_bytes = 0;  // of the memory that was set aside for it
  Memory memory = Memory::kArena;
};

// Times are nanoseconds since 1970.
struct NodeStats {
  std::string name, op;             // of a copy that the plan made of w: "_copy/w", "Copy"
  std::vector<std::string> inputs;  // as in a NodeDef: "x", "x:1", "^init"
  std::int64_t scheduled = 0;       // when it was first tried: before `start` for a kernel that waited
  std::int64_t start = 0, end = 0;
  std::uint32_t thread = 0;  // the system's number
  std::vector<OutputStats> outputs;
  // Operations that run over one tile after the other have one time. It stands with the first of them, whose
  // `fused` names the others; each of those says here whose time is its own, and has start == end.
  std::vector<std::string> fused = {};
  std::string fused_into = "";

  // Set aside for the outputs in the step's own memory (arena, buffers), be it that of an input which ended
  // here. Not what the kernel takes for itself while it runs.
  std::size_t memory() const;
  std::string label() const;  // "NAME = OP(inputs)"
};

struct DeviceStats {
  std::string device;                 // "/job:localhost/replica:0/task:0/device:CPU:0"
  std::vector<NodeStats> nodes = {};  // by start
  std::map<std::uint32_t, std::string> threads = {};
};

struct RunMetadata {
  std::int64_t start = 0, end = 0;  // of the step: from before its feeds are taken to the results
  std::uint32_t thread = 0;         // the caller's
  std::size_t arena_bytes = 0;
  std::vector<DeviceStats> devices = {};

  std::string serialize() const;  // TensorFlow's message of that name
};

}  // namespace runnel
