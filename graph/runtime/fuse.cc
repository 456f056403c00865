// A run grows as long as steps are elementwise over the same number of elements, and becomes a small program:
// each operation reads slots or places of the tile and writes one of them.
#include "graph/runtime/fuse.h"

#include <algorithm>
#include <array>
#include <optional>

#include "graph/error.h"

namespace runnel {
namespace {

// Below this, single steps find what they read in the second- or third-level cache and are as fast: measured
// with benches/session_bench, elementwise_chain.
constexpr std::int64_t kFewestFused = 1 << 20;
// The tile lies on the stack and, with what is read from memory, in the first-level cache.
constexpr std::int64_t kTileBytes = 16 * 1024;
constexpr std::int64_t kMostElements = 1024;
constexpr int kMostPlaces = 8;  // values in a tile at once: 256 elements of 8 bytes each
constexpr std::int64_t kFewestElements = kTileBytes / kMostPlaces / 8;
// Ranges below this many elements times operations are not worth a thread.
constexpr std::int64_t kGrain = 65536;
constexpr int kLongest = 64;  // operations

// Where an operand lies: in the tile, or in memory.
struct Operand {
  int place = -1;
  int slot = -1;
  std::int64_t step = 0;  // bytes from one element to the next
};
struct MicroOp {
  BoundKernel kernel;  // owns `form`
  const Elementwise* form = nullptr;
  std::array<Operand, 2> inputs;
  Operand output;
};
struct Program {
  std::int64_t n = 0;
  std::int64_t tile = kMostElements;  // elements
  std::int64_t place_bytes = 0;       // from one place of the tile to the next
  std::vector<MicroOp> operations;
};

void run_range(const Program& program, const Context& c, std::int64_t begin, std::int64_t end) {
  alignas(64) std::byte tile[kTileBytes];
  const auto address = [&](const Operand& operand, std::int64_t at) {
    return operand.place >= 0 ? tile + operand.place * program.place_bytes
                              : c[Out<std::byte>{operand.slot}] + at * operand.step;
  };
  for (std::int64_t at = begin; at < end; at += program.tile) {
    const std::int64_t n = std::min(program.tile, end - at);
    for (const MicroOp& operation : program.operations) {
      const void* inputs[2] = {};
      for (std::size_t k = 0; k < operation.form->inputs.size(); ++k)
        inputs[k] = address(operation.inputs[k], at);
      operation.form->run(inputs, address(operation.output, at), n);
    }
  }
}

BoundKernel program_step(Program program) {
  const std::int64_t worth = kGrain / static_cast<std::int64_t>(program.operations.size());
  const std::int64_t grain = std::max(worth / kFewestElements * kFewestElements, program.tile);
  return BoundKernel::make([program = std::move(program), grain](Context& c) {
    c.parallel(program.n, grain,
               [&](std::int64_t begin, std::int64_t end) { run_range(program, c, begin, end); });
  });
}

class Fuser {
 public:
  Fuser(WorkGraph& work, const std::vector<BoundKernel>& kernels, const std::vector<Group>& groups,
        const Placement& placement, Plan& plan)
      : work_(work), kernels_(kernels), placement_(placement), plan_(plan) {
    for (const Group& group : groups)
      borders_.insert(borders_.end(), group.starts.begin(), group.starts.end());
  }

  std::vector<FusedRun> run() {
    if (std::ranges::none_of(work_.order, [&](int i) { return form_at(i) != nullptr; })) return {};
    find_users();
    std::vector<FusedRun> runs;
    std::size_t steps = 0;
    for (int at = 0; at < static_cast<int>(work_.order.size());) {
      FusedRun found{at, end_of(at), {}};
      while (found.end > at && !(found.kernel = bind(found.begin, found.end))) --found.end;
      if (!found.kernel) {
        ++at;
        continue;
      }
      at = found.end;
      steps += operations_;
      runs.push_back(std::move(found));
    }
    work_.log.push_back(cat("fuse: ", steps, " elementwise steps in ", runs.size()));
    return runs;
  }

 private:
  const BoundKernel& kernel(int i) const { return kernels_[static_cast<std::size_t>(i)]; }
  int node(int at) const { return work_.order[static_cast<std::size_t>(at)]; }
  int root_of(int slot) const { return plan_.slots[static_cast<std::size_t>(slot)].root_slot; }
  int output_slot(int i) const { return placement_.slot_of[static_cast<std::size_t>(i)][0]; }

  const Elementwise* form_at(int i) const {
    const Elementwise* form = kernel(i) && !work_.at(i).parks ? kernel(i).elementwise() : nullptr;
    return form && form->n >= kFewestFused && form->inputs.size() <= 2 ? form : nullptr;
  }

  // By root slot: the last step that reads it; the end of the order if the caller gets it.
  void find_users() {
    last_user_.assign(plan_.slots.size(), -1);
    for (std::size_t at = 0; at < work_.order.size(); ++at) {
      const int i = work_.order[at];
      if (!kernel(i)) continue;
      for (const ValueId& id : work_.at(i).inputs) note_user(id, static_cast<int>(at));
    }
    for (const ValueId& id : work_.fetches)
      if (id.node >= 0) note_user(id, static_cast<int>(work_.order.size()));
  }
  void note_user(const ValueId& id, int at) {
    const int slot =
        placement_.slot_of[static_cast<std::size_t>(id.node)][static_cast<std::size_t>(id.output)];
    last_user_[static_cast<std::size_t>(root_of(slot))] = at;
  }

  // The longest run from this step on; `at` itself if there is none.
  int end_of(int at) const {
    const Elementwise* first = form_at(node(at));
    if (!first) return at;
    int end = at + 1, length = 1;
    for (int next = end; next < static_cast<int>(work_.order.size()) && length < kLongest; ++next) {
      if (std::ranges::find(borders_, next) != borders_.end()) break;
      if (!kernel(node(next))) continue;
      const Elementwise* form = form_at(node(next));
      if (!form || form->n != first->n) break;
      end = next + 1;
      ++length;
    }
    return end;
  }

  // What a run's values are while its program is made.
  struct Values {
    std::vector<std::pair<int, int>> places;  // root slot, place
    std::array<bool, kMostPlaces> taken{};
    std::int64_t widest = 0;
    bool joined = false;  // some operation reads what another one made
  };

  // The program of the steps [begin, end), or nothing if it is not worth it or needs too many places.
  BoundKernel bind(int begin, int end) {
    Program program;
    program.n = form_at(node(begin))->n;
    Values values;
    std::vector<int> made, in_tile;  // root slots
    for (int at = begin; at < end; ++at) {
      const int i = node(at);
      if (!kernel(i)) continue;
      MicroOp operation{kernel(i), form_at(i), {}, {}};
      for (std::size_t k = 0; k < operation.form->inputs.size(); ++k)
        operation.inputs[k] = read(operation.form->inputs[k], made, values);
      const std::int64_t width = operation.form->output.step;
      free_places(
          *operation.form, at, [=](std::int64_t step) { return step == width; }, values);
      operation.output = write(i, end, operation.form->output, values);
      free_places(
          *operation.form, at, [=](std::int64_t step) { return step != width; }, values);
      const int root = root_of(output_slot(i));
      made.push_back(root);
      if (operation.output.place >= 0) in_tile.push_back(root);
      if (operation.output.place >= kMostPlaces) return {};
      program.operations.push_back(std::move(operation));
    }
    if (!values.joined || !settle_tile(program, values)) return {};
    for (Slot& slot : plan_.slots)
      if (std::ranges::find(in_tile, slot.root_slot) != in_tile.end()) slot.root = Root::kTile;
    operations_ = program.operations.size();
    return program_step(std::move(program));
  }

  Operand read(const Elementwise::Operand& from, const std::vector<int>& made, Values& values) const {
    const int root = root_of(from.slot);
    values.joined |= std::ranges::find(made, root) != made.end();
    for (const auto& [slot, place] : values.places)
      if (slot == root) return {place, -1, 0};
    return {-1, from.slot, from.step};
  }

  // Of the inputs that nobody reads any more, those of a width that `which` takes: a result may lie over an
  // input only where elements are as wide.
  template <class F>
  void free_places(const Elementwise& form, int at, F which, Values& values) const {
    for (const Elementwise::Operand& input : form.inputs) {
      const int root = root_of(input.slot);
      if (last_user_[static_cast<std::size_t>(root)] > at || !which(input.step)) continue;
      for (const auto& [of, place] : values.places)
        if (of == root) values.taken[static_cast<std::size_t>(place)] = false;
      std::erase_if(values.places, [&](const auto& entry) { return entry.first == root; });
    }
  }

  // Values that others read too go to their memory; the rest takes the first free place, kMostPlaces if none.
  Operand write(int i, int end, const Elementwise::Operand& to, Values& values) const {
    const int root = root_of(output_slot(i));
    if (plan_.slots[static_cast<std::size_t>(root)].root != Root::kArena ||
        last_user_[static_cast<std::size_t>(root)] >= end)
      return {-1, to.slot, to.step};
    const auto free = std::ranges::find(values.taken, false);
    const int place = static_cast<int>(free - values.taken.begin());
    if (place == kMostPlaces) return {place, -1, 0};
    *free = true;
    values.places.emplace_back(root, place);
    values.widest = std::max(values.widest, to.step);
    return {place, -1, 0};
  }

  // False if too few elements fit.
  static bool settle_tile(Program& program, const Values& values) {
    std::int64_t places = 0;
    for (const MicroOp& operation : program.operations)
      places = std::max<std::int64_t>(places, operation.output.place + 1);
    if (places > 0) {
      const std::int64_t fitting = kTileBytes / (places * values.widest);
      program.tile = std::min(kMostElements, fitting / kFewestElements * kFewestElements);
    }
    program.place_bytes = program.tile * values.widest;
    return program.tile > 0;
  }

  WorkGraph& work_;
  const std::vector<BoundKernel>& kernels_;
  const Placement& placement_;
  Plan& plan_;
  std::vector<int> borders_;    // places in the order that no run crosses
  std::vector<int> last_user_;  // by root slot
  std::size_t operations_ = 0;  // of the run bound last
};

}  // namespace

std::vector<FusedRun> fuse(WorkGraph& work, const std::vector<BoundKernel>& kernels,
                           const std::vector<Group>& groups, const Placement& placement, Plan& plan) {
  return Fuser(work, kernels, groups, placement, plan).run();
}

}  // namespace runnel
