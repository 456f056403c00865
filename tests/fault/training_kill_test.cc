// Training programs are stopped (SIGTERM) and killed (kill -9) at random times, again and again, and each
// time the next one goes on from the newest checkpoint: what was durable is never lost, a run that could say
// goodbye has lost no step, and every number that it prints is, bit for bit, that of a run which nothing
// interrupted. Of queue_input, whose batches no step number decides, the loss stays as small as it was.
// Checkpoints, event files and exports can be read after each round. Usage: training_kill_test NAME PROGRAM
// [ROUNDS [SEED]], the program being one of train/examples/, and NAME its name.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "summary/summary.h"
#include "tests/fault/child_process.h"
#include "tests/fuzz/mutate.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Timer = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Program {
  std::string name;
  std::vector<std::string> arguments;
  std::int64_t every = 100;      // steps between two of its lines
  bool alike = true;             // its lines are those of a run that nothing interrupts
  bool last_line_alike = true;   // so is the one at its end
  std::string checkpoints = "";  // folder in its folder
};

const std::vector<Program> kPrograms{
    {.name = "supervised",
     .arguments = {"--steps", "40000", "--save-model-secs", "0.02", "--save-summaries-secs", "0.05",
                   "--print-steps", "100"}},
    {.name = "monitored",
     .arguments = {"--steps", "10000", "--save-checkpoint-steps", "500", "--print-steps", "100"},
     .last_line_alike = false},
    {.name = "queue_input",
     .arguments = {"--steps", "4000", "--save-steps", "150"},
     .alike = false,
     .checkpoints = "checkpoint"},
    {.name = "experiment", .arguments = {"--steps", "300", "--save-steps", "20"}, .every = 300}};

// "step 100 loss L weight W bias B": 100. Below 0 for another line.
std::int64_t step_of(const std::string& line) {
  long long step = 0;
  int read = 0;
  return std::sscanf(line.c_str(), "step %lld loss%n", &step, &read) == 1 && read > 0 ? step : -1;
}

// What follows `words` in a line; nothing for a line without them.
std::optional<std::string> after(const std::string& line, const std::string& words) {
  const std::size_t at = line.find(words);
  return at == std::string::npos ? std::nullopt : std::optional(line.substr(at + words.size()));
}

// Reads them to their ends. Returns the events; throws DataLoss for what is no event. What a killed process
// had not yet written of its last one is missing, and no damage.
std::int64_t events_in(const std::string& folder) {
  std::int64_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().find("tfevents") == std::string::npos) continue;
    EventReader reader(entry.path().string());
    while (reader.next()) ++count;
  }
  return count;
}

// Exports that are there are whole. Returns how many; throws what latest_checkpoint throws.
int exports_in(const std::string& folder) {
  int count = 0;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().filename().string().find_first_not_of("0123456789") == std::string::npos) {
        latest_checkpoint(entry.path().string(), {.verify = true});
        ++count;
      }
  return count;
}

// One program in one directory.
class Hunt {
 public:
  Hunt(const Program& program, std::string path, const std::string& root, Dice& dice)
      : program_(program), path_(std::move(path)), folder_(join_path(root, program.name)), dice_(dice) {}

  // The numbers of a run that nothing interrupts, and how long it takes.
  bool measure() {
    const auto start = Timer::now();
    const std::string aside = folder_ + "_whole";
    ChildProcess child(command(aside));
    while (const auto line = child.line()) {
      const std::int64_t step = step_of(*line);
      if (step >= 0 && !(step % program_.every)) whole_.emplace(step, *line);
    }
    took_ = Timer::now() - start;
    std::filesystem::remove_all(aside);
    return child.exit_code() == 0 && !whole_.empty() ? true
                                                     : broken("the run that nothing interrupts failed");
  }

  bool round() {
    ChildProcess child(command(folder_));
    std::this_thread::sleep_for(took_ * (0.9 * static_cast<double>(dice_.below(1 << 20)) / (1 << 20)));
    const bool gentle = dice_.below(2) == 0;
    child.signal(gentle ? SIGTERM : SIGKILL);
    std::vector<std::string> lines, log;
    while (const auto line = child.line()) {
      if (step_of(*line) >= 0) lines.push_back(*line);
      log.push_back(*line);
    }
    const int code = child.exit_code();
    ++(gentle ? stops_ : kills_);
    const bool good = ended_well(code, gentle) && restores(log, code) && goes_on(lines, code) &&
                      (program_.alike ? is_alike(lines, code) : is_trained(lines)) &&
                      is_durable(lines, code) && evaluates_alike(log) && is_readable(code);
    if (!good)
      for (const std::string& line : log) std::printf("%s\n", line.c_str());
    if (code == 0) begin_anew();
    return good;
  }

  void report() const {
    std::printf(
        "%s: %d kills, %d stops, %d runs to the end, %d that went on; a run takes %.2f s; %lld lines "
        "were alike; %lld events were read\n",
        program_.name.c_str(), kills_, stops_, ends_, resumed_, took_.count(), static_cast<long long>(alike_),
        static_cast<long long>(events_));
  }

 private:
  std::vector<std::string> command(const std::string& out) const {
    std::vector<std::string> all{path_};
    all.insert(all.end(), program_.arguments.begin(), program_.arguments.end());
    all.insert(all.end(), {"--out", out});
    return all;
  }

  bool ended_well(int code, bool gentle) {
    // Before its handlers are there a signal ends it, as it would any process.
    const bool good = code == 0 || (gentle ? code == 143 || code == -SIGTERM : code == -SIGKILL);
    return good ? true : broken(cat("it ended with ", code));
  }

  // What it restores before it saves is what was durable; later it may restore for an evaluation. A stop may
  // come before that.
  bool restores(const std::vector<std::string>& log, int code) {
    std::string restored;
    for (const std::string& line : log) {
      restored = after(line, "Restoring parameters from ").value_or("");
      if (!restored.empty() || after(line, "Saving checkpoints for ")) break;
    }
    if (!restored.empty()) ++resumed_;
    return restored == newest_ || (restored.empty() && code != 0)
               ? true
               : broken(cat("'", newest_, "' was the newest checkpoint, and it restored '", restored, "'"));
  }

  // The first line is the next after the checkpoint that was there; the one at the end tells of any step.
  bool goes_on(const std::vector<std::string>& lines, int code) {
    if (lines.size() < (code == -SIGKILL ? 1u : 2u)) return true;
    const std::int64_t first = step_of(lines.front()),
                       next =
                           std::min((durable_ / program_.every + 1) * program_.every, whole_.rbegin()->first);
    return first == next ? true
                         : broken(cat("step ", durable_, " was durable, and its first line is of ", first));
  }

  bool is_alike(const std::vector<std::string>& lines, int code) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last = i + 1 == lines.size();
      const std::int64_t step = step_of(lines[i]);
      if (last && (code >= 0 || step == whole_.rbegin()->first) && !program_.last_line_alike) continue;
      if (step == 0 || step % program_.every != 0) continue;
      const auto at = whole_.find(step);
      if (at == whole_.end() || at->second != lines[i])
        return broken(cat("it says '", lines[i], "', and one that nothing interrupted '",
                          at == whole_.end() ? "nothing" : at->second, "'"));
      ++alike_;
    }
    return true;
  }

  // Late lines tell a loss that a model which began anew would not have yet; none if no step was done.
  bool is_trained(const std::vector<std::string>& lines) {
    constexpr std::int64_t kLate = 1000;
    constexpr double kSmall = 1e-6;
    for (const std::string& line : lines)
      if (step_of(line) >= kLate && std::strtod(after(line, " loss ")->c_str(), nullptr) > kSmall)
        return broken(cat("it says '", line, "', as if it had just begun"));
    return true;
  }

  bool is_durable(const std::vector<std::string>& lines, int code) {
    std::int64_t now = 0;
    std::string prefix;
    try {
      prefix = latest_checkpoint(join_path(folder_, program_.checkpoints), {.verify = true});
      now = load_variable(prefix, "global_step").scalar<std::int64_t>();
      if (!prefix.ends_with(cat("-", now))) return broken(cat(prefix, " holds step ", now));
    } catch (const NotFound&) {
    }
    if (now < durable_) return broken(cat("step ", durable_, " was durable, and now it is ", now));
    durable_ = now;
    newest_ = prefix;
    if ((code == 0 || code == 143) && !lines.empty() && step_of(lines.back()) != now)
      return broken(cat("its last step is ", step_of(lines.back()), ", and step ", now, " is saved"));
    return true;
  }

  // An evaluation of one step finds the same in every run, and that step is durable.
  bool evaluates_alike(const std::vector<std::string>& log) {
    for (const std::string& line : log) {
      const auto found = after(line, "Saving dict for global step ");
      if (!found) continue;
      const std::int64_t step = std::strtoll(found->c_str(), nullptr, 10);
      const std::string& before = evaluations_.emplace(step, *found).first->second;
      if (before != *found) return broken(cat("it found '", *found, "', and before '", before, "'"));
      if (step > durable_) return broken(cat("step ", step, " was evaluated, but ", durable_, " is saved"));
      ++alike_;
    }
    return true;
  }

  bool is_readable(int code) {
    if (!std::filesystem::is_directory(folder_)) return true;
    try {
      events_ += events_in(folder_);
      const bool exported = exports_in(join_path(folder_, "export/served")) > 0;
      return exported || code != 0 || program_.name != "experiment" ? true : broken("nothing is exported");
    } catch (const Error& error) {
      return broken(error.what());
    }
  }

  void begin_anew() {
    ++ends_;
    std::filesystem::remove_all(folder_);
    durable_ = 0;
    newest_.clear();
  }

  bool broken(const std::string& why) const {
    std::printf("%s, round %d: %s; the files are in %s\n", program_.name.c_str(), kills_ + stops_,
                why.c_str(), folder_.c_str());
    return false;
  }

  const Program& program_;
  const std::string path_, folder_;
  Dice& dice_;
  std::map<std::int64_t, std::string> whole_, evaluations_;
  Seconds took_{0};
  std::int64_t durable_ = 0;
  std::string newest_;  // checkpoint, of step durable_; "" for none
  std::int64_t alike_ = 0, events_ = 0;
  int kills_ = 0, stops_ = 0, ends_ = 0, resumed_ = 0;
};

bool hunt(const Program& program, const std::string& path, const std::string& root, long rounds,
          std::uint64_t seed) {
  Dice dice(seed);
  Hunt hunt(program, path, root, dice);
  if (!hunt.measure()) return false;
  for (long i = 0; i < rounds; ++i)
    if (!hunt.round()) return false;
  hunt.report();
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const auto program = std::find_if(kPrograms.begin(), kPrograms.end(),
                                    [&](const Program& each) { return each.name == arguments[1]; });
  if (program == kPrograms.end()) return 2;
  const long rounds = count > 3 ? std::strtol(arguments[3], nullptr, 10) : 120;
  const std::uint64_t seed = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 1;
  // In memory if there is such a folder: a killed process loses nothing that it wrote, so no disk is needed.
  const std::filesystem::path memory = "/dev/shm";
  const auto parent = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  std::string root = (parent / "runnel_training_XXXXXX").string();
  if (!::mkdtemp(root.data())) return 2;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  if (!hunt(*program, arguments[2], root, rounds, seed)) return 1;
  std::filesystem::remove_all(root);
}
