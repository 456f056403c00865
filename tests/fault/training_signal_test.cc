// SIGTERM and Ctrl-C in every phase of a supervised run: the process saves the last step that it finished,
// once, closes its logs and ends with 128 + signal; a second signal ends it at once. It starts itself as
// `training_signal_test --child PHASE FOLDER`.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "graph/io/forwarding_file_system.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "tests/fault/child_process.h"
#include "train/train.h"

using namespace runnel;

namespace {

// --- the process that gets the signal

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

std::atomic<int> saves{0};

// The machine's files; a checkpoint's index takes its place only when training was asked to stop.
class SlowFiles : public ForwardingFileSystem {
 public:
  SlowFiles() : ForwardingFileSystem(real_file_system()) {}
  void rename(const std::string& from, const std::string& to) override {
    if (to.ends_with(".index")) {
      if (++saves == 1 && sv) {
        say("ready");
        sv.load()->wait_for_stop();
      }
    }
    files_.rename(from, to);
  }
  std::atomic<Supervisor*> sv{nullptr};
};

struct Model {
  Graph g;
  Variable step = get_or_create_global_step(g);
  FIFOQueue queue{g, 10, {DType::kInt64}, {.shapes = {{}}}};
  Operation fill = queue.enqueue_many({Tensor::vector<std::int64_t>({1, 1, 1, 1, 1})});
  Operation count{assign_add(step, std::int64_t{1}).node()};
  Operation take{assign_add(step, queue.dequeue().components()[0]).node()};
  Model() { summary::scalar("step", cast<float>(step)); }
};

SupervisorOptions options_of(const std::string& folder) {
  return {.logdir = folder, .save_summaries_secs = 1e9, .save_model_secs = 1e9};
}

int train(const std::string& phase, const std::string& folder) {
  std::atexit([] { say(cat("saves ", saves.load())); });
  Model m;
  SlowFiles files;
  SupervisorOptions options = options_of(folder);
  options.file_system = &files;
  if (phase == "elsewhere") {
    Graph g;
    DeviceScope device(g, "/cpu:0");
    variable(g, 1.0f, "of_the_chief");
    Supervisor(g, {.is_chief = false}).managed_session([](Session&) {});
    return 0;
  }
  options.handle_signals = phase != "unhandled";
  Supervisor sv(m.g, options);
  if (phase == "saving") files.sv = &sv;
  sv.managed_session([&](Session& session) {
    if (phase == "training" || phase == "unhandled") {
      for (int i = 0; !sv.should_stop(); ++i) {
        session.run(m.count);
        if (i == 500) say("ready");
      }
    } else if (phase == "input") {
      session.run(m.fill);
      for (int i = 0; !sv.should_stop(); ++i) {
        if (i == 5) say("ready");
        session.run(m.take);
      }
    } else if (phase == "saving") {
      sv.wait_for_stop();
    } else if (phase == "stubborn") {
      while (saves == 0) std::this_thread::yield();  // of the start, the only one before the stop
      session.run(m.count);
      say("ready");
      sv.wait_for_stop();
      say("it goes on all the same");
      for (;;) session.run(m.count);
    }
    say(cat("last ", session.get<std::int64_t>(m.step)));
  });
  return 0;
}

// --- the process that sends it

struct Outcome {
  int code = 0;
  double seconds = 0;
  std::string output;
  std::int64_t saved = -1;  // the newest checkpoint's step
  std::string number(const std::string& after) const {
    const std::size_t at = output.find(after);
    return at == output.npos ? "none"
                             : output.substr(at + after.size(), output.find('\n', at) - at - after.size());
  }
};

std::int64_t saved_in(const std::string& folder) {
  try {
    return load_variable(latest_checkpoint(folder, {.verify = true}), "global_step").scalar<std::int64_t>();
  } catch (const NotFound&) {
    return -1;
  }
}

// The last event of the directory's file is STOP, and all before it can be read.
bool is_log_whole(const std::string& folder) {
  int status = 0;
  for (const std::string& name : real_file_system().list(folder))
    if (name.find("tfevents") != name.npos)
      for (const Event& event : EventReader(join_path(folder, name))) status = event.session_status;
  return status == static_cast<int>(SessionStatus::kStop);
}

Outcome run(const std::string& phase, const std::string& folder, int signal, const std::string& when,
            const std::string& again = "") {
  ChildProcess child({"/proc/self/exe", "--child", phase, folder});
  Outcome out;
  if (!child.says(when)) return out;
  const auto start = std::chrono::steady_clock::now();
  child.signal(signal);
  if (!again.empty() && child.says(again)) child.signal(signal);
  while (const auto line = child.line()) out.output += *line + "\n";
  out.code = child.exit_code();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.saved = saved_in(folder);
  return out;
}

bool failed = false;

void check(bool good, const std::string& phase, const char* what, const Outcome& out) {
  if (good) return;
  failed = true;
  std::printf("%s: not true: %s; it ended with %d, step %lld is saved, and it said\n%s", phase.c_str(), what,
              out.code, static_cast<long long>(out.saved), out.output.c_str());
}

void try_phase(const std::string& root, const std::string& phase, int signal) {
  const std::string folder = join_path(root, cat(phase, signal));
  std::filesystem::create_directory(folder);
  const Outcome out =
      run(phase, folder, signal, phase == "elsewhere" ? "Waiting for model to be ready" : "ready",
          phase == "stubborn" ? "it goes on all the same" : "");
  check(out.code == (phase == "unhandled" ? -signal : 128 + signal), phase, "it ends with 128 + signal", out);
  check(out.seconds < 30, phase, "it ends soon", out);  // 0.1 s where nothing else runs
  if (phase == "training" || phase == "input" || phase == "saving") {
    const std::string last = phase == "input" ? "5" : out.number("last ");  // it waits for a sixth
    check(last == cat(out.saved), phase, "the last step is saved", out);
    check(is_log_whole(folder), phase, "its events end with STOP", out);
  }
  if (phase == "saving") check(out.number("saves ") == "1", phase, "it saved once", out);
  if (phase == "stubborn") check(out.saved <= 1, phase, "a second signal waits for nothing", out);
  std::printf("%-10s signal %2d: ended with %d after %.2f s, step %lld is saved\n", phase.c_str(), signal,
              out.code, out.seconds, static_cast<long long>(out.saved));
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 3 && std::string(arguments[1]) == "--child") return train(arguments[2], arguments[3]);
  std::string root = (std::filesystem::temp_directory_path() / "runnel_signals_XXXXXX").string();
  if (!::mkdtemp(root.data())) return 2;
  for (const std::string phase : {"training", "input", "saving", "elsewhere", "stubborn", "unhandled"})
    for (const int signal : {SIGTERM, SIGINT}) try_phase(root, phase, signal);
  if (failed) return 1;
  std::filesystem::remove_all(root);
}
