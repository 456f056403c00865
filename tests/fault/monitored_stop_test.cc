// Monitored training that a signal stops. The first SIGTERM or SIGINT, wherever it comes, ends the process
// with 128 + signal; the last finished step is saved, once, and the events can be read to their end. A second
// one ends it at once. It starts itself as `monitored_stop_test --train FOLDER SCENE`. (kill -9:
// training_kill_test.cc.)
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/train.h"

using namespace runnel;

namespace {

struct Scene {
  const char* name;
  int signal = SIGTERM;
  std::int64_t saved = -1;  // the step of the newest checkpoint; -1: whatever was done last
};
constexpr Scene kScenes[] = {
    {.name = "running"},
    {.name = "running", .signal = SIGINT},
    {.name = "blocked", .saved = 5},     // in a dequeue
    {.name = "saving", .saved = 3},      // while a checkpoint is written
    {.name = "waiting", .saved = 0},     // for a chief; nothing is saved
    {.name = "ending", .saved = 10},     // and again while it ends
    {.name = "evaluating", .saved = 4},  // in a session inside the training's
    {.name = "failing"}                  // in an Experiment whose training cannot end well; its log says why
};

// --- the process that is stopped

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Says that it is ready to be stopped, in the middle of a save, and saves on when the signal is there.
class SlowSave final : public CheckpointSaverListener {
 public:
  explicit SlowSave(Coordinator*& coord) : coord_(coord) {}
  void before_save(Session&, std::int64_t step) override {
    if (step != 3) return;
    say("ready");
    coord_->wait_for_stop();
  }

 private:
  Coordinator*& coord_;
};

class Watcher final : public SessionRunHook {
 public:
  Watcher(Coordinator*& coord, bool slow_end) : coord_(coord), slow_end_(slow_end) {}
  std::string name() const override { return "Watcher"; }
  void after_create_session(Session&, Coordinator& coord) override { coord_ = &coord; }
  void end(Session&) override {
    if (!slow_end_) return;
    say("ready");
    for (;;) ::pause();
  }

 private:
  Coordinator*& coord_;
  const bool slow_end_;
};

struct Training {
  explicit Training(const std::string& called)
      : scene(called),
        step(get_or_create_global_step(g)),
        up(assign_add(step, std::int64_t{1}).node()),
        never(FIFOQueue(g, 1, {DType::kFloat}).dequeue()) {
    summary::scalar("step", cast<float>(step));
  }

  MonitoredTrainingSessionOptions options(const std::string& folder) {
    const Scaffold scaffold;
    const std::vector<std::shared_ptr<CheckpointSaverListener>> listeners{std::make_shared<SlowSave>(coord)};
    return {
        .is_chief = scene != "waiting",
        .checkpoint_dir = folder,
        .scaffold = scaffold,
        .hooks = {std::make_shared<Watcher>(coord, scene == "ending")},
        .chief_only_hooks = {checkpoint_saver(folder, {.save_steps = scene == "saving" ? 3 : 1'000'000'000,
                                                       .scaffold = scaffold,
                                                       .listeners = listeners})},
        .save_checkpoint_secs = none,
        .save_summaries_steps = 1,
        .max_wait_secs = 1e9};
  }

  void one_step(MonitoredSession& session) {
    if (scene == "blocked" && done == 5) {
      say("ready");
      session.run(never);
    }
    if (scene == "evaluating" && done == 4) evaluate();
    session.run(up);
    say(cat("done ", ++done));
    if ((scene == "running" && done == 500) || (scene == "ending" && done == 10)) {
      say("ready");
      if (scene == "ending") coord->wait_for_stop();
    }
  }
  // In a graph and a session of its own.
  static void evaluate() {
    Graph g;
    const Output nothing = FIFOQueue(g, 1, {DType::kFloat}).dequeue();
    SingularMonitoredSession session(g);
    session.close_after([&](MonitoredSession& s) {
      say("ready");
      s.run(nothing);
    });
    say("evaluated");
  }

  const std::string scene;
  Graph g;
  Variable step;
  Operation up;
  Output never;
  Coordinator* coord = nullptr;
  std::int64_t done = 0;
};

// Waits for the stop, and cannot save what it has to.
class FailsAtEnd final : public SessionRunHook {
 public:
  std::string name() const override { return "FailsAtEnd"; }
  void after_create_session(Session&, Coordinator& coord) override { coord_ = &coord; }
  void after_run(SessionRunContext&, const SessionRunValues&) override {
    say("ready");
    coord_->wait_for_stop();
  }
  void end(Session&) override { throw ResourceExhausted("the disk is full"); }

 private:
  Coordinator* coord_ = nullptr;
};

void fail(const std::string& folder) {
  const auto input = [](Graph& g) { return InputBatch{.features = constant(g, Tensor::scalar(1.0f))}; };
  const auto model = [](const ModelContext& c) {
    return EstimatorSpec{.mode = c.mode,
                         .loss = c.features.only(),
                         .train_op = Operation(assign_add(get_global_step(c.graph), std::int64_t{1}).node())};
  };
  Experiment({.estimator = std::make_shared<Estimator>(model, EstimatorOptions{.model_dir = folder}),
              .train_input_fn = input,
              .eval_input_fn = input,
              .train_monitors = {std::make_shared<FailsAtEnd>()}})
      .train();
}

int train(const std::string& folder, const std::string& scene) {
  set_log_sink([](LogLevel, const std::string& line) {
    say("log " + line);
    if (line.find("Waiting for model") != std::string::npos) say("ready");
  });
  if (scene == "failing") {
    fail(folder);
    return 1;  // as below
  }
  Training training(scene);
  monitored_training(training.g, training.options(folder), [&](MonitoredSession& session) {
    while (!session.should_stop()) training.one_step(session);
  });
  return 1;  // the signal should have ended the process
}

// --- the process that stops others

class Child {
 public:
  Child(const std::string& folder, const std::string& scene) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string self = "/proc/self/exe", mode = "--train", where = folder, what = scene;
    char* arguments[] = {self.data(), mode.data(), where.data(), what.data(), nullptr};
    // As from a terminal, also where this test runs in the background, with SIGINT ignored.
    sigset_t handled;
    ::sigemptyset(&handled);
    for (const int number : {SIGTERM, SIGINT}) ::sigaddset(&handled, number);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigdefault(&attributes, &handled);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (::posix_spawn(&process_, self.c_str(), &actions, &attributes, arguments, environ) != 0) std::abort();
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    lines_ = ::fdopen(ends[0], "r");
  }
  ~Child() {
    if (!ended_) end_with(SIGKILL);
    std::fclose(lines_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // False when it says nothing more.
  bool next(std::string& line) {
    char text[400];
    if (!std::fgets(text, sizeof text, lines_)) return false;
    line.assign(text);
    if (!line.empty() && line.back() == '\n') line.pop_back();
    return true;
  }
  void send(int signal) { ::kill(process_, signal); }
  // What it ended with; 1000 + signal if a signal ended it by itself.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    ended_ = true;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  void end_with(int signal) {
    send(signal);
    wait();
  }

 private:
  pid_t process_ = 0;
  std::FILE* lines_ = nullptr;
  bool ended_ = false;
};

bool broken(const std::string& what) {
  std::printf("%s\n", what.c_str());
  return false;
}

bool events_can_be_read(const std::string& folder) {
  bool any = false;
  for (const std::string& name : real_file_system().list(folder)) {
    if (name.find("tfevents") == std::string::npos) continue;
    EventReader reader(join_path(folder, name));
    for (const Event& event : reader) any |= event.kind == EventKind::kSummary;
    if (reader.truncated()) return false;
  }
  return any;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool stop(const std::string& folder, const Scene& scene) {
  const std::string what = cat(scene.name, ", signal ", scene.signal, ": ");
  Child child(folder, scene.name);
  std::string line, log;
  long long done = 0;
  while (child.next(line)) {
    if (line == "ready") child.send(scene.signal);
    std::sscanf(line.c_str(), "done %lld", &done);
    log += line + "\n";
  }
  const int code = child.wait();
  if (code != 128 + scene.signal) return broken(cat(what, "it ended with ", code, "\n", log));
  if (std::string(scene.name) == "failing")
    return log.find("training ended with an error: the disk is full") != log.npos ||
           broken(cat(what, "its log does not say why\n", log));
  if (std::string(scene.name) == "waiting")
    return !real_file_system().exists(join_path(folder, "checkpoint"));
  const std::int64_t last = scene.saved < 0 ? done : scene.saved;
  const std::string newest = latest_checkpoint(folder, {.verify = true});
  if (newest != cat(folder, "/model.ckpt-", last))
    return broken(cat(what, "the newest is ", newest, "\n", log));
  const int saves = count_of(log, cat("Saving checkpoints for ", last, " "));
  if (done != last || saves != 1) return broken(cat(what, saves, " saves of step ", done, "\n", log));
  return events_can_be_read(folder) || broken(what + "the events cannot be read");
}

bool test(const std::string& root) {
  int number = 0;
  for (const Scene& scene : kScenes) {
    const std::string folder = join_path(root, cat("scene", ++number));
    std::filesystem::create_directory(folder);
    if (!stop(folder, scene)) return false;
    std::printf("%s, signal %d: as it should be\n", scene.name, scene.signal);
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count == 4 && std::string(arguments[1]) == "--train") return train(arguments[2], arguments[3]);
  std::string root = (std::filesystem::temp_directory_path() / "runnel_stop_XXXXXX").string();
  if (!::mkdtemp(root.data())) return 2;
  const bool passed = test(root);
  if (passed) std::filesystem::remove_all(root);
  return passed ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "monitored_stop_test: %s\n", error.what());
  return 1;
}
