// Random saves, restores, deletions, renames, restarts, and saves that fail or are killed anywhere, against a
// std::map of what every checkpoint must hold. After each step the directory holds exactly the checkpoints of
// the map with exactly their values, and the state file names the newest.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/fuzz/mutate.h"
#include "tests/train/faulty_disk.h"
#include "train/train.h"

using namespace runnel;

namespace {

constexpr int kKept = 3;
constexpr int kOperations = 50;  // about as many as a save takes

// What a process has: a graph, a session, a saver. The value of the three variables is made of one number.
struct Process {
  explicit Process(FileSystem& files) : session(g, {.file_system = &files}) {
    v = variable(g, 0, "v");
    row = variable(g, Tensor::vector<int>({0, 0, 0}), "row");
    text = variable(g, Tensor::scalar(""), "text");
    inputs = {placeholder<int>(g, {}), placeholder<int>(g, {3}), placeholder<std::string>(g, {})};
    sets = {assign(v, inputs[0]), assign(row, inputs[1]), assign(text, inputs[2])};
    saver.emplace(g, SaverOptions{.max_to_keep = kKept});
  }
  void take(int number) {
    session.run(sets[0], {{inputs[0], Tensor::scalar(number)}});
    session.run(sets[1], {{inputs[1], Tensor::vector<int>({number, -number, number * number})}});
    session.run(sets[2], {{inputs[2], Tensor::scalar(cat("number ", number))}});
  }
  Graph g;
  Variable v, row, text;
  Outputs inputs, sets;
  Session session;
  std::optional<Saver> saver;
};

// The number that a checkpoint holds; -1 if its values are not of one.
int number_in(FileSystem& files, const std::string& prefix) {
  const CheckpointReader reader(prefix, {.file_system = &files});
  const int number = reader.read("v").scalar<int>();
  const bool whole = reader.read("row") == Tensor::vector<int>({number, -number, number * number}) &&
                     reader.read("text") == Tensor::scalar(cat("number ", number));
  return whole ? number : -1;
}

class World {
 public:
  explicit World(std::uint64_t seed) : dice_(seed) {
    disk_.memory.make_directory("d");
    process_.emplace(disk_.files);
  }

  void step() {
    switch (dice_.below(10)) {
      case 0: return restore(any());
      case 1: return remove(any());
      case 2: return rename(any());
      case 3: return restart();
      case 4: return save_with_fault(dice_.one_in(2) ? Fault::kNoSpace : Fault::kShortWrite);
      case 5:
      case 6: return save_with_fault(Fault::kStop);
      default: return save();
    }
  }

  // Whether the files are what the map says.
  void check() {
    std::map<std::string, int> found;
    for (const std::string& name : disk_.memory.list("d"))
      if (name.ends_with(".index")) {
        const std::string prefix = "d/" + name.substr(0, name.size() - 6);
        found[prefix] = number_in(disk_.memory, prefix);
      }
    CHECK(found == saved_);
    if (saved_.contains(newest_)) CHECK(latest_checkpoint("d", {.file_system = &disk_.memory}) == newest_);
  }

 private:
  std::string any() {
    if (saved_.empty()) return "";
    return std::next(saved_.begin(), static_cast<std::ptrdiff_t>(dice_.below(saved_.size())))->first;
  }

  std::string save_number(int number) {
    process_->take(number);
    if (over_) return process_->saver->save(process_->session, "d/over");
    return process_->saver->save(process_->session, "d/m", {.global_step = number});
  }
  // Decides where the next save goes, and returns the prefix.
  std::string aim() {
    over_ = dice_.one_in(3);
    ++count_;
    return over_ ? "d/over" : cat("d/m-", count_);
  }

  // What the saver keeps after a save; the rest of the list is what it deletes.
  std::vector<std::string> add_kept(const std::string& prefix) {
    std::erase(kept_, prefix);
    kept_.push_back(prefix);
    std::vector<std::string> dropped;
    for (; kept_.size() > kKept; kept_.erase(kept_.begin())) dropped.push_back(kept_.front());
    return dropped;
  }

  void save() {
    const std::string prefix = aim();
    CHECK(save_number(count_) == prefix);
    saved_[prefix] = count_;
    newest_ = prefix;
    for (const std::string& old : add_kept(prefix)) saved_.erase(old);
    counts_ = true;
    CHECK(!has_temporaries(base_name_of(over_ ? prefix : "d/m-")));
  }

  // Of checkpoints whose name begins so; a save cleans up after those that went the same way.
  bool has_temporaries(const std::string& stem) {
    return std::ranges::any_of(disk_.memory.list("d"), [&](const std::string& name) {
      const std::string target = target_of_temporary(name);
      return !target.empty() && (target.starts_with(stem) || target.starts_with("checkpoint"));
    });
  }

  // It is as if the save had not been, or it is done; of a save over an older one the same. What it would
  // have deleted may still be there. Then another process goes on.
  void save_with_fault(Fault fault) {
    const std::string prefix = aim();
    const auto outcome = disk_.with_fault(1 + static_cast<int>(dice_.below(kOperations)), fault,
                                          [&] { CHECK(save_number(count_) == prefix); });
    disk_.disown_temporaries();
    const std::vector<std::string> dropped = add_kept(prefix);
    if (saved_.contains(prefix) || disk_.memory.exists(prefix + ".index")) {
      const int number = number_in(disk_.memory, prefix);
      if (number == count_ || outcome.done) saved_[prefix] = count_;
    }
    for (const std::string& old : dropped)
      if (!disk_.memory.exists(old + ".index")) saved_.erase(old);
    const auto state = get_checkpoint_state("d", {.file_system = &disk_.memory});
    if (state && state->model_checkpoint_path == prefix && newest_ != prefix) {
      CHECK(saved_.contains(prefix));
      newest_ = prefix;
    }
    CHECK((newest_ == prefix || !outcome.done));
    restart();
  }

  void restore(const std::string& prefix) {
    if (prefix.empty()) return;
    process_->saver->restore(process_->session, prefix);
    CHECK(process_->session.get<int>(process_->v) == saved_.at(prefix));
    CHECK(process_->session.get<std::string>(process_->text) == cat("number ", saved_.at(prefix)));
    if (counts_) return;
    const auto state = get_checkpoint_state("d", {.file_system = &disk_.memory});
    if (!state || std::ranges::count(state->all_model_checkpoint_paths, prefix) == 0) return;
    kept_ = state->all_model_checkpoint_paths;
    std::erase_if(kept_, [&](const std::string& path) { return !saved_.contains(path); });
    counts_ = true;
  }

  std::vector<std::string> files_of(const std::string& prefix) {
    std::vector<std::string> out;
    for (const std::string& name : disk_.memory.list("d"))
      if (("d/" + name).starts_with(prefix + ".")) out.push_back("d/" + name);
    return out;
  }

  // By hand, as a user would.
  void remove(const std::string& prefix) {
    if (prefix.empty()) return;
    for (const std::string& path : files_of(prefix)) disk_.memory.remove(path);
    saved_.erase(prefix);
  }
  void rename(const std::string& prefix) {
    if (prefix.empty()) return;
    const std::string other = cat("d/moved-", ++count_);
    for (const std::string& path : files_of(prefix))
      disk_.memory.rename(path, other + path.substr(prefix.size()));
    saved_[other] = saved_.at(prefix);
    saved_.erase(prefix);
  }

  void restart() {
    process_.emplace(disk_.files);
    kept_.clear();
    counts_ = false;
    if (saved_.contains(newest_)) restore(newest_);
  }

  Dice dice_;
  FaultyDisk disk_;
  std::optional<Process> process_;
  std::map<std::string, int> saved_;  // what each checkpoint must hold
  std::string newest_;                // what the state file names
  std::vector<std::string> kept_;     // what this process's saver counts, oldest first
  bool counts_ = false;               // it has saved, or taken over what an earlier one kept
  bool over_ = false;
  int count_ = 0;
};

}  // namespace

TEST_CASE("a directory of checkpoints holds what a map of them holds, whatever was done to it") {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});  // what could not be deleted is warned of
  constexpr std::uint64_t kSeeds = 60;
  constexpr int kSteps = 60;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    World world(seed);
    for (int step = 0; step < kSteps; ++step) {
      CAPTURE(step);
      world.step();
      world.check();
    }
  }
}
