// A training process is killed (kill -9) again and again while it saves, and the next one goes on from what
// it finds: exactly the last step that was reported as saved, or the one after it, bit for bit, and nothing
// half-written is left once it has saved. Five ways to save: the first save of a directory, checkpoints of
// which the newest two are kept, one prefix saved over, a sharded saver, and behind the caller's back. Usage:
// kill_test [KILLS [SEED]]; it starts itself as `kill_test --train FOLDER WAY`, which reports to its standard
// output.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/fuzz/mutate.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Timer = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Way {
  const char* name;
  bool first = false, numbered = true, sharded = false, async = false;
};
constexpr Way kWays[] = {{.name = "first", .first = true},
                         {.name = "kept"},
                         {.name = "over", .numbered = false},
                         {.name = "sharded", .sharded = true},
                         {.name = "async", .async = true}};

// --- the process that is killed

constexpr std::int64_t kWeights = 30'000;

Tensor weights(std::int64_t step) {
  Tensor out(DType::kFloat, {kWeights});
  float value = static_cast<float>(step) * 1000.0f;
  for (float& weight : out.mutable_values<float>()) weight = value += 0.25f;
  return out;
}
Tensor names(std::int64_t step) { return Tensor::vector<std::string>({cat("step ", step), "", "constant"}); }

struct Training {
  explicit Training(const Way& way) : session(g) {
    w = variable(g, weights(0), "w");
    n = variable(g, names(0), "n");
    s = variable(g, std::int64_t{0}, "s");
    values = {placeholder<float>(g, {kWeights}), placeholder<std::string>(g, {3}),
              placeholder<std::int64_t>(g, {})};
    set = group({Operation(assign(w, values[0]).node()), Operation(assign(n, values[1]).node()),
                 Operation(assign(s, values[2]).node())});
    saver.emplace(g, SaverOptions{.sharded = way.sharded, .max_to_keep = 2});
  }
  void take(std::int64_t step) {
    session.run(set,
                {{values[0], weights(step)}, {values[1], names(step)}, {values[2], Tensor::scalar(step)}});
  }
  void save(const Way& way, const std::string& path, std::int64_t step) {
    const SaveOptions options{.global_step = way.numbered ? SaveStep(step) : SaveStep()};
    if (!way.async) {
      saver->save(session, path, options);
      return;
    }
    saver->save_async(session, path, options);
    take(-step);  // training goes on, and what is being saved does not change
    saver->wait();
  }
  bool holds(std::int64_t step) {
    return session.run(w.value()) == weights(step) && session.run(n.value()) == names(step);
  }
  Graph g;
  Session session;
  Variable w, n, s;
  Outputs values;
  Operation set;
  std::optional<Saver> saver;
};

// A step that was restored or saved, and how long it took.
void say(char kind, std::int64_t step, Timer::time_point since) {
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(Timer::now() - since);
  const std::string line = cat(kind, " ", step, " ", passed.count(), "\n");
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) ::_exit(3);
}

// What saves write to before it is whole: m.index.tempstate12, m_temp.
std::string temporary_in(const std::string& folder) {
  for (const std::string& name : real_file_system().list(folder))
    if (name.find("temp") != std::string::npos) return name;
  return "";
}

int train(const std::string& folder, const Way& way) try {
  auto start = Timer::now();
  Training run(way);
  std::int64_t step = 0;
  if (real_file_system().exists(join_path(folder, "checkpoint"))) {
    const std::string newest = latest_checkpoint(folder);
    run.saver->restore(run.session, newest);
    step = run.session.get<std::int64_t>(run.s);
    if (!run.holds(step)) throw DataLoss(cat(newest, " holds values that do not belong together"));
    if (way.numbered && newest != cat(folder, "/m-", step)) throw DataLoss(cat(newest, " holds step ", step));
  }
  // Plans are made now, so that the save which may be killed is files alone.
  run.take(step);
  run.saver->save(run.session, folder + "_aside/m", {.write_state = false});
  say('r', step, start);
  for (;;) {
    start = Timer::now();
    run.take(++step);
    run.save(way, folder + "/m", step);
    if (const std::string left = temporary_in(folder); !left.empty())
      throw DataLoss(cat("'", left, "' is left after a save"));
    say('s', step, start);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// --- the process that kills

class Child {
 public:
  Child(const std::string& folder, const Way& way) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string self = "/proc/self/exe", mode = "--train", where = folder, what = way.name;
    char* arguments[] = {self.data(), mode.data(), where.data(), what.data(), nullptr};
    if (::posix_spawn(&process_, self.c_str(), &actions, nullptr, arguments, environ) != 0) std::abort();
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    reports_ = ::fdopen(ends[0], "r");
  }
  ~Child() { std::fclose(reports_); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  struct Report {
    std::int64_t step;
    Seconds took;
  };
  // The next report, if it is 'r' for restored or 's' for saved as wanted; nothing once it has ended.
  std::optional<Report> next(char wanted) {
    char line[80];
    char kind = 0;
    long long step = 0, microseconds = 0;
    if (!std::fgets(line, sizeof line, reports_)) return {};
    if (std::sscanf(line, "%c %lld %lld\n", &kind, &step, &microseconds) != 3 || kind != wanted) return {};
    return Report{step, Seconds(1e-6 * static_cast<double>(microseconds))};
  }
  // False if it had ended by itself.
  bool kill() {
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t process_ = 0;
  std::FILE* reports_ = nullptr;
};

// One directory and what is known to be in it.
class Hunt {
 public:
  Hunt(std::string folder, const Way& way, Dice& dice) : folder_(std::move(folder)), way_(way), dice_(dice) {}

  // How long the saves take that will be killed.
  void measure() {
    Child child(folder_, way_);
    child.next('r');
    const int saves = way_.first ? 1 : 4;
    for (int i = 0; i < saves; ++i)
      if (const auto saved = child.next('s')) save_ += saved->took / saves;
    child.kill();
    clear();
  }

  // Starts a process, checks what it found, and kills it in a save. False if a promise was broken.
  bool kill_one() {
    Child child(folder_, way_);
    const auto found = child.next('r');
    if (!found) return broken("a process ended before it had restored");
    if (found->step != saved_ && found->step != saved_ + 1)
      return broken(cat("step ", found->step, " was restored, but ", saved_, " was reported as saved"));
    (found->step == saved_ ? old_ : new_) += 1;
    saved_ = found->step;
    const bool only_check = way_.first && saved_ > 0;
    if (only_check) {
      if (!child.next('s')) return broken("a process ended in its first save");
    } else {
      const auto left = std::chrono::duration<double>(save_) * (way_.first ? 1.2 : 2.5);
      std::this_thread::sleep_for(left * (static_cast<double>(dice_.below(1 << 20)) / (1 << 20)));
      ++kills_;
    }
    if (!child.kill()) return broken("a process ended by itself");
    while (const auto saved = child.next('s')) saved_ = saved->step;
    if (!only_check && !temporary_in(folder_).empty()) ++torn_;
    if (only_check) clear();
    return true;
  }

  int kills() const { return kills_; }
  void report() const {
    std::printf(
        "%-8s %3d kills, a save takes %.1f ms: %d left files half-written; %d times the step "
        "reported last was found, %d times the one after it\n",
        way_.name, kills_, 1000 * save_.count(), torn_, old_, new_);
  }

 private:
  void clear() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    saved_ = 0;
  }
  bool broken(const std::string& why) {
    std::printf("%s, kill %d: %s; the files are in %s\n", way_.name, kills_, why.c_str(), folder_.c_str());
    return false;
  }

  const std::string folder_;
  const Way& way_;
  Dice& dice_;
  Seconds save_{0};
  std::int64_t saved_ = 0;
  int kills_ = 0, torn_ = 0, old_ = 0, new_ = 0;
};

bool hunt(const std::string& root, long kills, std::uint64_t seed) {
  for (const Way& way : kWays) {
    Dice dice(seed);
    const std::string folder = join_path(root, way.name);
    std::filesystem::create_directory(folder);
    Hunt hunt(folder, way, dice);
    hunt.measure();
    while (hunt.kills() * static_cast<long>(std::size(kWays)) < kills)
      if (!hunt.kill_one()) return false;
    hunt.report();
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "--train") {
    for (const Way& way : kWays)
      if (std::string(way.name) == arguments[3]) return train(arguments[2], way);
    return 2;
  }
  const long kills = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 200;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  // In memory if there is such a folder: a killed process loses nothing that it wrote, so no disk is needed,
  // and kills then fall on every operation instead of on the syncs.
  const std::filesystem::path memory = "/dev/shm";
  const auto parent = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  std::string root = (parent / "runnel_kill_XXXXXX").string();
  if (!::mkdtemp(root.data())) return 2;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  if (!hunt(root, kills, seed)) return 1;
  std::filesystem::remove_all(root);
}
