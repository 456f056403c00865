// Trains a small model with hooks on a clock that stands still between the steps: run_hooks DIRECTORY WORD...
// with words such as steps=7 ckpt_steps=3 (test_hooks.py lists them). Prints the log, a line each, and how it
// ended.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/monitored/monitored_session.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Words = std::map<std::string, double>;

std::optional<double> secs(const Words& words, const std::string& key) {
  const auto found = words.find(key);
  return found == words.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::int64_t> steps(const Words& words, const std::string& key) {
  const auto found = words.find(key);
  return found == words.end() ? std::nullopt : std::optional(static_cast<std::int64_t>(found->second));
}
bool has(const Words& words, const std::string& key) { return words.contains(key); }

struct Model {
  explicit Model(bool resource) {
    w = variable(g, 1.0f, "w", {.use_resource = resource});
    step = get_or_create_global_step(g, {.use_resource = resource});
    offset = placeholder<float>(g, {}, "offset");
    loss = square(w - 3.0f) + offset;
    train = GradientDescent(0.25f).minimize(loss, {.global_step = step});
    summary::scalar("loss", loss);
  }
  Graph g;
  Variable w, step;
  Output offset, loss;
  Operation train;
};

// Prints what it hears.
class Listener final : public CheckpointSaverListener {
 public:
  void begin(Graph&) override { std::printf("listener begin\n"); }
  void before_save(Session&, std::int64_t step) override { say("before_save", step); }
  bool after_save(Session&, std::int64_t step) override {
    say("after_save", step);
    return step >= 8;
  }
  void end(Session&, std::int64_t step) override { say("end", step); }

 private:
  static void say(const char* what, std::int64_t step) {
    std::printf("listener %s %lld\n", what, static_cast<long long>(step));
  }
};

std::vector<Hook> make_hooks(const Words& words, const std::string& directory, Model& m,
                             const Scaffold& scaffold, Clock& clock) {
  std::vector<Hook> hooks;
  hooks.push_back(feed_fn([run = 0, nan_at = steps(words, "nan_at"), offset = m.offset]() mutable {
    const float value = ++run == nan_at ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
    return std::vector<Feed>{{offset, Tensor::scalar(value)}};
  }));
  if (has(words, "last") || has(words, "num"))
    hooks.push_back(std::make_shared<StopAtStepHook>(
        StopAtStepHookOptions{.num_steps = steps(words, "num"), .last_step = steps(words, "last")}));
  if (has(words, "count_steps") || has(words, "count_secs"))
    hooks.push_back(step_counter({.every_n_steps = steps(words, "count_steps"),
                                  .every_n_secs = secs(words, "count_secs"),
                                  .output_dir = directory,
                                  .clock = &clock}));
  if (has(words, "sum_steps") || has(words, "sum_secs"))
    hooks.push_back(summary_saver({.save_steps = steps(words, "sum_steps"),
                                   .save_secs = secs(words, "sum_secs"),
                                   .output_dir = directory,
                                   .scaffold = scaffold,
                                   .clock = &clock}));
  if (has(words, "ckpt_steps") || has(words, "ckpt_secs"))
    hooks.push_back(checkpoint_saver(directory, {.save_secs = secs(words, "ckpt_secs"),
                                                 .save_steps = steps(words, "ckpt_steps"),
                                                 .scaffold = scaffold,
                                                 .listeners = {std::make_shared<Listener>()},
                                                 .save_graph_def = !has(words, "no_graph"),
                                                 .clock = &clock}));
  if (has(words, "log_iter") || has(words, "log_secs"))
    hooks.push_back(logging_tensor({{"w", m.w}, {"loss", m.loss}}, {.every_n_iter = steps(words, "log_iter"),
                                                                    .every_n_secs = secs(words, "log_secs"),
                                                                    .clock = &clock}));
  if (has(words, "log_end"))
    hooks.push_back(logging_tensor({"w/read:0", "global_step"}, {.at_end = true, .clock = &clock}));
  if (has(words, "prof_steps") || has(words, "prof_secs"))
    hooks.push_back(profiler({.save_steps = steps(words, "prof_steps"),
                              .save_secs = secs(words, "prof_secs"),
                              .output_dir = directory,
                              .clock = &clock}));
  if (has(words, "nan_at"))
    hooks.push_back(nan_tensor(m.loss, {.fail_on_nan_loss = !has(words, "nan_stops")}));
  if (has(words, "wait")) hooks.push_back(global_step_waiter(*steps(words, "wait")));
  return hooks;
}

void train(const std::string& directory, const Words& words) {
  ManualClock clock;
  Model m(has(words, "resource"));
  const Scaffold scaffold;
  std::vector<Hook> hooks = make_hooks(words, directory, m, scaffold, clock);
  const auto final = std::make_shared<FinalOpsHook>(std::vector<FinalOp>{Fetch(m.w), Fetch(m.step)});
  if (has(words, "final")) hooks.push_back(final);
  MonitoredSession session(
      m.g, {.session_creator = std::make_shared<ChiefSessionCreator>(
                m.g, ChiefSessionCreatorOptions{.scaffold = scaffold, .checkpoint_dir = directory}),
            .hooks = hooks,
            .handle_signals = false,
            .clock = &clock});
  for (std::int64_t i = 0; i < *steps(words, "steps") && !session.should_stop(); ++i) {
    session.run(m.train);
    clock.advance(0.25);
  }
  session.close();
  if (has(words, "final"))
    std::printf("final: %.9g %lld\n", static_cast<double>(final->final_ops_values()[0].scalar<float>()),
                static_cast<long long>(final->final_ops_values()[1].scalar<std::int64_t>()));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  Words words;
  for (int i = 2; i < count; ++i) {
    const std::string word = arguments[i];
    const std::size_t at = word.find('=');
    words[word.substr(0, at)] = std::strtod(word.c_str() + at + 1, nullptr);
  }
  set_log_sink([](LogLevel, const std::string& line) { std::printf("%s\n", line.c_str()); });
  try {
    train(arguments[1], words);
  } catch (const NanLossDuringTrainingError&) {
    std::printf("ended by NanLossDuringTrainingError\n");
  } catch (const Error& error) {
    std::printf("ended by %s: %s\n", name_of(error.code()), error.what());
  }
}
