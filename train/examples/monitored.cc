// Fits a line with everything that monitored training gives: it saves, logs and shows how far it is, ends on
// a step, a NaN or a signal, and goes on where it was when it is started again. Step N trains on points that
// N alone decides, so that a run which was stopped, or killed, ends with the numbers of one which was not.
// Its last line is "step N loss L weight W bias B".
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <runnel/runnel.h>
#include <CLI/CLI.hpp>

#include "train/examples/run_folder.h"

using namespace runnel;

namespace {

constexpr std::int64_t kMost = 1'000'000'000;  // steps

struct Flags {
  std::int64_t steps = 1000;
  std::int64_t save_checkpoint_steps = 100;
  std::int64_t save_summaries_steps = 10;
  std::int64_t print_steps = 100;
  std::string out = "monitored.run";
};

struct Model {
  Variable step, weight, bias;
  Output loss;
  Operation train;
};

struct Points {
  Output x, y;
};

// 20 points near y = 0.1 x + 0.3, others in each step.
Points points_of(const Variable& step) {
  std::vector<std::int64_t> spread;
  for (std::int64_t i = 0; i < 20; ++i) spread.push_back(13 * i);
  const Output place = floormod(7 * step + Tensor::vector(spread), Tensor::scalar(std::int64_t{101}));
  const Output wobble = floormod(29 * place + 3 * step, Tensor::scalar(std::int64_t{11}));
  const Output x = cast<float>(place) / 101.0f;
  return {x, 0.1f * x + 0.3f + 0.01f * (cast<float>(wobble) - 5.0f)};
}

Model build(Graph& g) {
  Model m;
  m.step = get_or_create_global_step(g);
  const Points points = points_of(m.step);
  m.weight = variable(g, 0.0f, "weight");
  m.bias = variable(g, 0.0f, "bias");
  const Output error = m.weight * points.x + m.bias - points.y;
  m.loss = reduce_mean(square(error), {.name = "loss"});
  summary::scalar("loss", m.loss);
  summary::histogram("error", error);
  m.train = Adam(0.01f).minimize(m.loss, {.global_step = m.step});
  return m;
}

// A hook of one's own: prints a line every so many steps, and one at the end.
class PrintHook final : public SessionRunHook {
 public:
  PrintHook(const Model& model, std::int64_t every)
      : all_{model.step, model.loss, model.weight, model.bias}, every_(every) {}

  std::string name() const override { return "PrintHook"; }
  std::optional<SessionRunArgs> before_run(SessionRunContext&) override {
    return SessionRunArgs{.fetches = all_};
  }
  void after_run(SessionRunContext&, const SessionRunValues& values) override {
    if (values.results[0].scalar<std::int64_t>() % every_ == 0) print(values.results);
  }
  void end(Session& session) override { print(session.run(all_)); }

 private:
  static void print(std::span<const Tensor> values) {
    std::printf("step %" PRId64 " loss %.9g weight %.9g bias %.9g\n", values[0].scalar<std::int64_t>(),
                values[1].scalar<float>(), values[2].scalar<float>(), values[3].scalar<float>());
    std::fflush(stdout);
  }

  const std::vector<Fetch> all_;
  const std::int64_t every_;
};

int train(const Flags& flags) {
  make_run_folders(flags.out, {});
  Graph g;
  const Model m = build(g);
  const StopReason why = monitored_training(
      g,
      {.checkpoint_dir = flags.out,
       .hooks = {stop_at_step(flags.steps), nan_tensor(m.loss), progress_bar(flags.steps, {.loss = m.loss}),
                 std::make_shared<PrintHook>(m, flags.print_steps)},
       .save_summaries_steps = flags.save_summaries_steps,
       .save_checkpoint_steps = flags.save_checkpoint_steps},
      [&](MonitoredSession& session) {
        while (!session.should_stop()) session.run(m.train);
      });
  return why.exit_code();
}

}  // namespace

int main(int count, char** arguments) {
  Flags flags;
  CLI::App program("Fits a line under the eyes of a monitored session.");
  const auto steps = [&](const char* flag, std::int64_t& value, const char* what) {
    program.add_option(flag, value, what)->check(CLI::Range(std::int64_t{1}, kMost))->capture_default_str();
  };
  steps("--steps", flags.steps, "train up to this step, over all runs");
  steps("--save-checkpoint-steps", flags.save_checkpoint_steps, "save every so many steps");
  steps("--save-summaries-steps", flags.save_summaries_steps, "log every so many steps");
  steps("--print-steps", flags.print_steps, "print a line every so many steps");
  program.add_option("--out", flags.out, "folder for checkpoints and events; a run in it is gone on with")
      ->check(not_empty)
      ->capture_default_str();
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;  // 0 for --help, 2 for what was used wrongly
  }
  try {
    return train(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "monitored: %s\n", error.what());
    return 1;
  }
}
