// A request made ready to run: bound kernels in execution order and a table of slots saying where each value
// lies. Immutable once made; executions hold what a run changes.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/kernel.h"
#include "graph/runtime/engine.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

class Execution;

// Whose memory a value lies in.
enum class Root {
  kArena,     // the execution's arena, at `offset`
  kOwn,       // a buffer of its own: fetched values, strings, values whose shape is known late
  kConstant,  // `index` into constants
  kFeed,      // `index` into the feeds
  kVariable,  // `index` into variables
  kTile,      // of no memory: it lives inside a fused step
};

struct Slot {
  DType dtype = DType::kInvalid;
  Shape shape = Shape::unknown();  // unknown: told while the step runs
  Root root = Root::kArena;
  int index = -1;
  int root_slot = -1;  // the slot whose memory it shares; itself if none
  std::size_t offset = 0;
  bool moves = false;  // the tensor goes on to its only reader, a view or an assignment
  std::string name;
};

// The hot part of a step, and where to look up the rest.
struct Step {
  BoundKernel::Run run = nullptr;
  void* closure = nullptr;
};
// A node that a step computes, as records of a run (step_trace.h) want it.
struct StepNode {
  struct Out {
    int slot = -1;
    int flag = -1;  // set in a step in which this output is dead; -1: none
  };
  const Node* node = nullptr;  // null for copies
  std::string copied;          // whose value, by a copy
  int flag = -1;               // of the node
  std::vector<Out> outputs;
};
struct StepInfo {
  const Node* node = nullptr;   // null for copies
  BoundKernel kernel;           // keeps the closure
  std::string text;             // for describe()
  std::vector<StepNode> nodes;  // several in a fused run, none in a step that only manages others
};

// A step that may park, or that one waits for: runs before variables are locked.
struct EarlyStep {
  BoundKernel::Run run = nullptr;
  BoundKernel::TryRun try_run = nullptr;
  void* closure = nullptr;
  StepInfo info;
  std::vector<int> after;      // early steps that it waits for
  std::vector<int> variables;  // locked while it runs
};

struct PlannedVariable {
  VariableSlot* slot = nullptr;
  bool exclusive = false;        // some step writes it
  bool updated = false;          // in place: its buffer must not be shared
  bool needs_value = false;      // read or updated before the step itself gives it a value
  const Node* reader = nullptr;  // who needs it
  Shape assumed;                 // shape that kernels were bound for; unknown: none
  bool shape_matters = false;
  std::vector<int> slots;  // table places that hold its pointer
};

class Plan {
 public:
  static std::shared_ptr<Plan> make(Engine& engine, const Signature& signature,
                                    std::span<const Shape> feed_shapes);

  bool fits(std::span<const Feed> feeds) const;
  bool same_shapes(std::span<const Feed> feeds) const;
  std::unique_ptr<Execution> take();
  void give_back(std::unique_ptr<Execution> execution);
  std::string text() const;
  ~Plan();

  // Everything below is written by make() alone.
  Engine* engine = nullptr;
  std::vector<Shape> feed_shapes;
  bool dynamic = false;  // feed shapes were left unknown
  std::vector<Slot> slots;
  std::vector<Tensor> constants;
  std::vector<PlannedVariable> variables;  // in lock order
  std::vector<Step> steps;
  std::vector<StepInfo> infos;
  std::vector<EarlyStep> early;
  std::vector<std::vector<int>> feed_slots;  // by feed
  std::vector<int> own_slots;                // roots of kind kOwn with a known shape
  std::vector<std::vector<int>> views;       // by root slot: all slots in its memory
  struct Fetched {
    int slot = -1;           // -1: an operation
    std::vector<int> flags;  // dead flags to look at
    std::string name;
  };
  std::vector<Fetched> fetches;
  std::size_t arena_bytes = 0;
  std::size_t kernels = 0;  // in all steps, early ones and those of chains too
  int flags = 0;            // dead flags
  int late_steps = 0;       // caches that an execution keeps
  std::vector<std::string> log;

 private:
  static constexpr int kPooled = 16;  // executions kept; more threads at once make and drop their own
  std::array<std::atomic<Execution*>, kPooled> pool_{};
};

}  // namespace runnel
