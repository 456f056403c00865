// One supervised run for test_supervisor.py, told by words, as the Python there tells TensorFlow's:
//   supervise LOGDIR [WORD]...
// Prints what happened; files and events are read by the test.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/train.h"

using namespace runnel;

namespace {

class Words {
 public:
  Words(int count, char** words) {
    for (int i = 0; i < count; ++i) {
      const std::string word = words[i];
      const std::size_t at = word.find('=');
      words_[word.substr(0, at)] = at == word.npos ? "" : word.substr(at + 1);
    }
  }
  bool has(const std::string& word) const { return words_.contains(word); }
  std::string text(const std::string& word, const std::string& otherwise) const {
    return has(word) ? words_.at(word) : otherwise;
  }
  int number(const std::string& word, int otherwise) const {
    return has(word) ? std::stoi(words_.at(word)) : otherwise;
  }

 private:
  std::map<std::string, std::string> words_;
};

struct Model {
  Graph g;
  Variable step = get_or_create_global_step(g);
  Variable w = variable(g, 0.0f, "w");
  Variable seen =
      variable(w.value() * 2.0f, "seen", {.trainable = false, .collections = {keys::kLocalVariables}});
  Operation train =
      group({Operation(assign_add(w, 0.5f).node()), Operation(assign_add(step, std::int64_t{1}).node())},
            {.name = "train"});
  Output five = assign(w, 5.0f);
  Output scalar = summary::scalar("loss", w.value() * 2.0f);
};

void fail(const std::string& kind) {
  if (kind == "OutOfRange") throw OutOfRange("mine");
  if (kind == "Aborted") throw Aborted("mine");
  if (kind == "Internal") throw Internal("mine");
}

SupervisorOptions options_of(const Words& words, const Model& m, const std::string& logdir) {
  SupervisorOptions o{.logdir = words.has("no_logdir") ? "" : logdir,
                      .save_summaries_secs = static_cast<double>(words.number("sum_secs", 120)),
                      .save_model_secs = static_cast<double>(words.number("model_secs", 600)),
                      .checkpoint_basename = words.text("basename", "model.ckpt")};
  if (words.has("no_summary_op")) o.summary_op = none;
  if (words.has("no_saver")) o.saver = none;
  if (words.has("no_global_step")) o.global_step = none;
  if (words.has("no_writer")) o.summary_writer = none;
  if (words.has("no_init_op")) o.init_op = none;
  if (words.has("no_local_init_op")) o.local_init_op = none;
  if (words.has("no_ready_op")) o.ready_op = none;
  if (words.has("init_fn")) o.init_fn = [&m](Session& session) { session.run(m.five); };
  return o;
}

std::string shown(Operation operation) { return operation ? operation.name() : "none"; }
std::string shown(Output output) { return output ? output.node().name() : "none"; }

void print_names(const Supervisor& sv) {
  std::printf("init_op %s\nlocal_init_op %s\nsummary_op %s\nready_op %d\nsaver %d\nwriter %d\npath %s\n",
              shown(sv.init_op()).c_str(), shown(sv.local_init_op()).c_str(), shown(sv.summary_op()).c_str(),
              static_cast<bool>(sv.ready_op()), sv.saver() != nullptr, sv.summary_writer() != nullptr,
              sv.save_path().empty() ? "none" : base_name_of(sv.save_path()).c_str());
}

void run(const Words& words, Model& m, Supervisor& sv, const std::atomic<bool>& summarised) {
  const bool services = !words.has("no_services");
  sv.managed_session(
      [&](Session& session) {
        const auto start = session.get<std::int64_t>(m.step);
        std::printf("start %lld w %g\n", static_cast<long long>(start), session.get<float>(m.w));
        if (!words.has("no_local_init_op")) std::printf("seen %g\n", session.get<float>(m.seen));
        const bool writes = services && sv.summary_writer() && !words.has("no_logdir");
        while (writes && sv.summary_op() && sv.save_summaries_secs() > 0 && !summarised)
          std::this_thread::yield();
        const std::string first =
            cat(sv.save_path(), words.has("no_global_step") ? "" : cat("-", start), ".index");
        const bool saves = services && sv.saver() && !sv.save_path().empty() && sv.save_model_secs() > 0;
        while (saves && !real_file_system().exists(first)) std::this_thread::yield();
        for (int i = 0; i < words.number("steps", 3) && !sv.should_stop(); ++i) session.run(m.train);
        if (words.has("by_hand")) sv.summary_computed(session, session.run(m.scalar));
        if (words.has("by_hand")) sv.summary_computed(session, session.run(m.scalar), 77);
        if (words.has("stops")) sv.request_stop();
        std::printf("end %lld w %g stop %d\n", static_cast<long long>(session.get<std::int64_t>(m.step)),
                    session.get<float>(m.w), sv.should_stop());
        fail(words.text("fails", ""));
      },
      {.start_standard_services = services});
}

}  // namespace

int main(int count, char** arguments) {
  const Words words(count - 2, arguments + 2);
  std::atomic<bool> summarised = false;
  set_log_sink([&](LogLevel, const std::string& line) {
    if (line.starts_with("Recording summary")) summarised = true;
  });
  try {
    Model m;
    Supervisor sv(m.g, options_of(words, m, arguments[1]));
    if (words.has("names")) print_names(sv);
    for (int i = 0; i < words.number("runs", 1); ++i) {
      summarised = false;
      run(words, m, sv, summarised);
      std::printf("ended stop %d\n", sv.should_stop());
    }
  } catch (const Error& error) {
    std::printf("error %s\n", name_of(error.code()));
  }
}
