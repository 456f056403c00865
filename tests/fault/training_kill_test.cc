// Training programs are stopped (SIGTERM) and killed (kill -9) at random times, again and again, and each
// time the next one goes on from the newest checkpoint: what was durable is never lost, a run that could say
// goodbye has lost no step, and every number that it prints is, bit for bit, that of a run which nothing
// interrupted. Usage: training_kill_test SUPERVISED MONITORED [ROUNDS [SEED]], the first two being programs
// of train/examples/.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "tests/fault/child_process.h"
#include "tests/fuzz/mutate.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Timer = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kEvery = 100;  // steps between two lines of a program

struct Program {
  std::string name;
  std::vector<std::string> command;
  bool last_line_alike;  // the line at its end tells the state as the others do
};

// "step 100 loss L weight W bias B": 100. Below 0 for another line.
std::int64_t step_of(const std::string& line) {
  long long step = 0;
  int read = 0;
  return std::sscanf(line.c_str(), "step %lld loss%n", &step, &read) == 1 && read > 0 ? step : -1;
}

// One program in one directory.
class Hunt {
 public:
  Hunt(Program program, std::string root, Dice& dice)
      : program_(std::move(program)), folder_(join_path(root, program_.name)), dice_(dice) {}

  // The numbers of a run that nothing interrupts, and how long it takes.
  bool measure() {
    const auto start = Timer::now();
    const std::string aside = folder_ + "_whole";
    ChildProcess child(command(aside));
    while (const auto line = child.line()) {
      const std::int64_t step = step_of(*line);
      if (step >= 0 && !(step % kEvery)) whole_.emplace(step, *line);
    }
    took_ = Timer::now() - start;
    std::filesystem::remove_all(aside);
    return child.exit_code() == 0 && whole_.size() > 2 ? true
                                                       : broken("the run that nothing interrupts failed");
  }

  bool round() {
    ChildProcess child(command(folder_));
    std::this_thread::sleep_for(took_ * (0.9 * static_cast<double>(dice_.below(1 << 20)) / (1 << 20)));
    const bool gentle = dice_.below(2) == 0;
    child.signal(gentle ? SIGTERM : SIGKILL);
    std::vector<std::string> lines;
    std::string log;
    while (const auto line = child.line()) {
      if (step_of(*line) >= 0) lines.push_back(*line);
      log += *line + "\n";
    }
    const int code = child.exit_code();
    ++(gentle ? stops_ : kills_);
    const bool good =
        ended_well(code, gentle) && goes_on(lines, code) && is_alike(lines, code) && is_durable(lines, code);
    if (!good) std::printf("%s", log.c_str());
    if (code == 0) begin_anew();
    return good;
  }

  void report() const {
    std::printf("%-10s %d kills, %d stops, %d runs to the end; a run takes %.2f s; %lld lines were alike\n",
                program_.name.c_str(), kills_, stops_, ends_, took_.count(), static_cast<long long>(alike_));
  }

 private:
  std::vector<std::string> command(const std::string& out) const {
    std::vector<std::string> all = program_.command;
    all.insert(all.end(), {"--print-steps", cat(kEvery), "--out", out});
    return all;
  }

  bool ended_well(int code, bool gentle) {
    // Before its handlers are there a signal ends it, as it would any process.
    const bool good = code == 0 || (gentle ? code == 143 || code == -SIGTERM : code == -SIGKILL);
    return good ? true : broken(cat("it ended with ", code));
  }

  // The first line is the next after the checkpoint that was there; the one at the end tells of any step.
  bool goes_on(const std::vector<std::string>& lines, int code) {
    if (lines.size() < (code == -SIGKILL ? 1u : 2u)) return true;
    const std::int64_t first = step_of(lines.front()),
                       next = std::min((durable_ / kEvery + 1) * kEvery, whole_.rbegin()->first);
    return first == next ? true
                         : broken(cat("step ", durable_, " was durable, and its first line is of ", first));
  }

  bool is_alike(const std::vector<std::string>& lines, int code) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last = i + 1 == lines.size();
      const std::int64_t step = step_of(lines[i]);
      if (last && (code >= 0 || step == whole_.rbegin()->first) && !program_.last_line_alike) continue;
      if (step == 0 || step % kEvery != 0) continue;
      const auto at = whole_.find(step);
      if (at == whole_.end() || at->second != lines[i])
        return broken(cat("it says '", lines[i], "', and one that nothing interrupted '",
                          at == whole_.end() ? "nothing" : at->second, "'"));
      ++alike_;
    }
    return true;
  }

  bool is_durable(const std::vector<std::string>& lines, int code) {
    std::int64_t now = 0;
    try {
      const std::string prefix = latest_checkpoint(folder_, {.verify = true});
      now = load_variable(prefix, "global_step").scalar<std::int64_t>();
      if (!prefix.ends_with(cat("-", now))) return broken(cat(prefix, " holds step ", now));
    } catch (const NotFound&) {
    }
    if (now < durable_) return broken(cat("step ", durable_, " was durable, and now it is ", now));
    durable_ = now;
    if ((code == 0 || code == 143) && !lines.empty() && step_of(lines.back()) != now)
      return broken(cat("its last step is ", step_of(lines.back()), ", and step ", now, " is saved"));
    return true;
  }

  void begin_anew() {
    ++ends_;
    std::filesystem::remove_all(folder_);
    durable_ = 0;
  }

  bool broken(const std::string& why) const {
    std::printf("%s, round %d: %s; the files are in %s\n", program_.name.c_str(), kills_ + stops_,
                why.c_str(), folder_.c_str());
    return false;
  }

  const Program program_;
  const std::string folder_;
  Dice& dice_;
  std::map<std::int64_t, std::string> whole_;
  Seconds took_{0};
  std::int64_t durable_ = 0, alike_ = 0;
  int kills_ = 0, stops_ = 0, ends_ = 0;
};

bool hunt(const std::vector<Program>& programs, const std::string& root, long rounds, std::uint64_t seed) {
  for (const Program& program : programs) {
    Dice dice(seed);
    Hunt hunt(program, root, dice);
    if (!hunt.measure()) return false;
    for (long i = 0; i < rounds; ++i)
      if (!hunt.round()) return false;
    hunt.report();
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const long rounds = count > 3 ? std::strtol(arguments[3], nullptr, 10) : 120;
  const std::uint64_t seed = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 1;
  const std::vector<Program> programs{
      {"supervised",
       {arguments[1], "--steps", "40000", "--save-model-secs", "0.02", "--save-summaries-secs", "0.05"},
       true},
      {"monitored", {arguments[2], "--steps", "10000", "--save-checkpoint-steps", "500"}, false}};
  // In memory if there is such a folder: a killed process loses nothing that it wrote, so no disk is needed.
  const std::filesystem::path memory = "/dev/shm";
  const auto parent = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  std::string root = (parent / "runnel_training_XXXXXX").string();
  if (!::mkdtemp(root.data())) return 2;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  if (!hunt(programs, root, rounds / static_cast<long>(programs.size()), seed)) return 1;
  std::filesystem::remove_all(root);
}
