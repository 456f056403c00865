// A monitored session as test_monitored.py asks for it: run_monitored DIRECTORY WORD..., with words such as
// loop=5 abort_before=3 (the test lists them). Prints what its hooks were told, what each run gave, and how
// it ended.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Words = std::map<std::string, std::string>;

bool has(const Words& words, const std::string& key) { return words.contains(key); }
std::int64_t number(const Words& words, const std::string& key) {
  return has(words, key) ? std::strtoll(words.at(key).c_str(), nullptr, 10) : -1;
}
template <class T>
Setting<T> setting(const Words& words, const std::string& key) {
  if (!has(words, key)) return use_default;
  if (words.at(key) == "none") return none;
  return static_cast<T>(std::strtod(words.at(key).c_str(), nullptr));
}

void say(const std::string& line) { std::printf("%s\n", line.c_str()); }

struct Mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& kind) {
  if (kind == "Mine") throw Mine("mine");
  for (const Code code : {Code::kAborted, Code::kUnavailable, Code::kOutOfRange, Code::kInternal,
                          Code::kNotFound, Code::kCancelled})
    if (kind == name_of(code)) throw_error(code, kind + " was injected");
  throw InvalidArgument("no kind of error is called " + kind);
}

// Errors are given as KIND@N: in the Nth call of that place.
class Failing {
 public:
  Failing(const Words& words, const std::string& key) {
    if (!has(words, key)) return;
    const std::string& text = words.at(key);
    const std::size_t at = text.find('@');
    kind_ = text.substr(0, at);
    nth_ = at == std::string::npos ? 1 : std::strtoll(text.c_str() + at + 1, nullptr, 10);
  }
  void come() {
    if (++calls_ == nth_) fail(kind_);
  }

 private:
  std::string kind_;
  std::int64_t nth_ = -1, calls_ = 0;
};

struct Model {
  Model() {
    step = get_or_create_global_step(g);
    x = identity(constant(g, Tensor::scalar(0.0f)), {.name = "x"});
    summary::scalar("step", cast<float>(step));
    up = assign_add(step, std::int64_t{1});
  }
  Graph g;
  Variable step;
  Output x, up;
};

class Recorder final : public SessionRunHook {
 public:
  Recorder(std::string called, const Words& words, const Model& model)
      : called_(std::move(called)),
        words_(words),
        model_(model),
        before_(words, called_ + "_before"),
        after_(words, called_ + "_after"),
        created_(words, called_ + "_created"),
        end_(words, called_ + "_end"),
        thread_(words, called_ + "_thread") {}

  std::string name() const override { return called_; }
  void begin(Graph&) override { say(called_ + " begin"); }
  void after_create_session(Session& session, Coordinator& coord) override {
    say(cat(called_, " created ", session.get<std::int64_t>(model_.step)));
    created_.come();
    try {
      thread_.come();
    } catch (...) {
      coord.request_stop(std::current_exception());
    }
    if (has(words_, called_ + "_stops_threads")) coord.request_stop();
  }
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override {
    say(called_ + " before");
    before_.come();
    if (number(words_, called_ + "_stop_before") == ++runs_) context.request_stop();
    SessionRunArgs args;
    if (has(words_, called_ + "_feeds")) args.feed_dict.push_back({model_.x, Tensor::scalar(2.0f)});
    if (has(words_, called_ + "_fetches")) args.fetches = {model_.x, model_.x};
    return args;
  }
  void after_run(SessionRunContext& context, const SessionRunValues& values) override {
    std::string line = called_ + " after";
    for (const Tensor& value : values.results) line = cat(line, " ", std::to_string(value.scalar<float>()));
    say(line);
    after_.come();
    if (number(words_, called_ + "_stop") == runs_) context.request_stop();
  }
  void end(Session& session) override {
    say(cat(called_, " end ", session.get<std::int64_t>(model_.step)));
    end_.come();
  }

 private:
  const std::string called_;
  const Words& words_;
  const Model& model_;
  Failing before_, after_, created_, end_, thread_;
  std::int64_t runs_ = 0;
};

void one_run(MonitoredSession& session, const Words& words, const Model& m, std::int64_t i) {
  std::vector<Feed> feeds;
  if (has(words, "feeds")) feeds.push_back({m.x, Tensor::scalar(1.0f)});
  const Fetch fetch = m.up;
  if (!has(words, "step_fn")) {
    say(cat("ran ",
            session.run(std::span(&fetch, 1), std::span<const Feed>(feeds))[0].scalar<std::int64_t>()));
    return;
  }
  say(cat("stepped ", session.run_step_fn([&](StepContext& context) {
    context.session().run(m.step);
    if (number(words, "step_stop") == i) context.request_stop();
    return context.run_with_hooks(m.up).scalar<std::int64_t>();
  })));
}

void body(MonitoredSession& session, const Words& words, const Model& m) {
  Failing failing(words, "loop_fails");
  for (std::int64_t i = 1; i <= number(words, "loop"); ++i) {
    if (!has(words, "never_asks") && session.should_stop()) {
      say("should stop");
      break;
    }
    one_run(session, words, m, i);
    failing.come();
  }
}

void report(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  say(cat("error ", ours ? name_of(ours->code()) : "Mine"));
}

template <class F>
void reporting(F call) {
  try {
    call();
    say("no error");
  } catch (const std::exception& error) {
    report(error);
  }
}

template <class Make>
void run(const Words& words, const Model& m, Make make) {
  try {
    const std::unique_ptr<MonitoredSession> session = make();
    reporting([&] { session->close_after([&](MonitoredSession& s) { body(s, words, m); }); });
    if (has(words, "again")) {
      reporting([&] { session->run(m.up); });
      reporting([&] { session->close(); });
      say(session->should_stop() ? "should stop" : "goes on");
    }
  } catch (const std::exception& error) {
    report(error);
  }
  say(m.g.finalized() ? "finalized" : "not finalized");
}

void train(const std::string& directory, const Words& words) {
  Model m;
  if (has(words, "two_ready_ops"))
    for (int i = 0; i < 2; ++i) m.g.add_to_collection(keys::kReadyOp, m.step.value());
  if (has(words, "finalized")) m.g.finalize();
  const auto a = std::make_shared<Recorder>("A", words, m), b = std::make_shared<Recorder>("B", words, m);
  if (has(words, "singular"))
    return run(words, m, [&] {
      return std::make_unique<SingularMonitoredSession>(
          m.g, SingularMonitoredSessionOptions{.hooks = {b, a}, .checkpoint_dir = directory});
    });
  run(words, m, [&] {
    MonitoredTrainingSessionOptions options{
        .is_chief = !has(words, "worker"),
        .checkpoint_dir = has(words, "no_dir") ? "" : directory,
        .hooks = {b},
        .chief_only_hooks = {a},
        .save_checkpoint_secs = setting<double>(words, "ckpt_secs"),
        .save_summaries_steps = setting<std::int64_t>(words, "sum_steps"),
        .save_summaries_secs = setting<double>(words, "sum_secs"),
        .log_step_count_steps = setting<std::int64_t>(words, "log_steps"),
        .max_wait_secs = 1,
        .save_checkpoint_steps = setting<std::int64_t>(words, "ckpt_steps"),
        .summary_dir = has(words, "sum_dir") ? directory + "/summaries" : "",
        .save_graph_def = !has(words, "no_graph")};
    return std::make_unique<MonitoredTrainingSession>(m.g, std::move(options));
  });
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  Words words;
  for (int i = 2; i < count; ++i) {
    const std::string word = arguments[i];
    const std::size_t at = word.find('=');
    words[word.substr(0, at)] = at == std::string::npos ? "" : word.substr(at + 1);
  }
  set_log_sink([](LogLevel, const std::string&) {});
  train(arguments[1], words);
}
