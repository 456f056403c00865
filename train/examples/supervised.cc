// Fits a line under a Supervisor, which saves and summarises in the background, goes on from the newest
// checkpoint when the program is started again, and saves the last step when it is stopped. Four scenarios:
//
//   simple       services do everything
//   large-model  no summary service, which would need memory for a second run: the loop makes summaries
//                every 100 steps
//   pre-trained  the first start takes the weight from another model's checkpoint, by an init function
//   own-service  a service of one's own, beside those of the supervisor
//
// Step N trains on points that N alone decides, so a run that was stopped or killed ends with the very
// numbers of one that was not. The last line is "step N loss L weight W bias B".
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <runnel/runnel.h>
#include <CLI/CLI.hpp>

#include "train/examples/run_folder.h"

using namespace runnel;

namespace {

constexpr std::int64_t kMost = 1'000'000'000;  // steps

struct Flags {
  std::string scenario = "simple";
  std::int64_t steps = 10'000;
  double save_model_secs = 600;
  double save_summaries_secs = 120;
  std::int64_t print_steps = 0;
  std::string out = "supervised.run";
};

struct Model {
  Variable step, weight, bias;
  Output loss;
  Operation train;
};

Model build(Graph& g) {
  Model m;
  m.step = get_or_create_global_step(g);
  std::vector<std::int64_t> spread;
  for (std::int64_t i = 0; i < 16; ++i) spread.push_back(11 * i);
  const Output place = floormod(7 * m.step + Tensor::vector(spread), Tensor::scalar(std::int64_t{97}));
  const Output x = cast<float>(place) / 97.0f;
  m.weight = variable(g, 0.0f, "weight");
  m.bias = variable(g, 0.0f, "bias");
  m.loss = reduce_mean(square(m.weight * x + m.bias - (0.1f * x + 0.3f)), {.name = "loss"});
  m.train = Adam(0.01f).minimize(m.loss, {.global_step = m.step});
  const NameScope line(g, "line");
  summary::scalar("loss", m.loss);
  summary::scalar("weight", m.weight);
  return m;
}

void print(Session& session, const Model& m) {
  const auto [step, loss, weight, bias] = session.run({m.step, m.loss, m.weight, m.bias});
  std::printf("step %" PRId64 " loss %.9g weight %.9g bias %.9g\n", step.scalar<std::int64_t>(),
              loss.scalar<float>(), weight.scalar<float>(), bias.scalar<float>());
  std::fflush(stdout);
}

// Trains up to the last step, or until something asks for a stop. `train_step` does one step.
template <class Step>
void loop(Supervisor& sv, Session& session, const Model& m, const Flags& flags, Step train_step) {
  std::int64_t step = session.get<std::int64_t>(m.step);
  while (!sv.should_stop() && step < flags.steps) {
    train_step(step);
    ++step;
    if (flags.print_steps > 0 && step % flags.print_steps == 0 && step < flags.steps) print(session, m);
  }
  if (step >= flags.steps)
    sv.request_stop(StopReason{.cause = StopCause::kStepsReached, .text = "all steps are done"});
  print(session, m);
}

SupervisorOptions options_of(const Flags& flags) {
  return {.logdir = flags.out,
          .save_summaries_secs = flags.save_summaries_secs,
          .save_model_secs = flags.save_model_secs};
}

StopReason simple(Graph& g, const Model& m, const Flags& flags) {
  Supervisor sv(g, options_of(flags));
  sv.managed_session(
      [&](Session& session) { loop(sv, session, m, flags, [&](std::int64_t) { session.run(m.train); }); });
  return sv.stop_reason();
}

StopReason large_model(Graph& g, const Model& m, const Flags& flags) {
  const Output summaries = summary::merge_all(g);
  SupervisorOptions options = options_of(flags);
  options.summary_op = none;  // no summary service
  Supervisor sv(g, options);
  sv.managed_session([&](Session& session) {
    loop(sv, session, m, flags, [&](std::int64_t step) {
      if (step % 100 == 0) {
        const auto [trained, summary] = session.run({m.train, summaries});
        sv.summary_computed(session, summary);
      } else {
        session.run(m.train);
      }
    });
  });
  return sv.stop_reason();
}

// The checkpoint of another model, which has a weight, but no bias of this one's.
std::string other_model(const std::string& folder) {
  const std::string path = folder + "/model.ckpt";
  if (std::filesystem::exists(path + ".index")) return path;
  CheckpointWriter writer(path);
  writer.add("weight", Tensor::scalar(0.25f));
  writer.add("other/layer", Tensor::vector<float>({1, 2, 3}));
  writer.finish();
  return path;
}

StopReason pre_trained(Graph& g, const Model& m, const Flags& flags) {
  make_run_folders(flags.out, {"pre_trained"});
  const std::string checkpoint = other_model(flags.out + "/pre_trained");
  Saver weight(g, {m.weight}, {.name = "pre_trained"});  // of all variables, a saver would miss some there
  SupervisorOptions options = options_of(flags);
  options.init_fn = [&](Session& session) { weight.restore(session, checkpoint); };
  Supervisor sv(g, options);
  sv.managed_session(
      [&](Session& session) { loop(sv, session, m, flags, [&](std::int64_t) { session.run(m.train); }); });
  return sv.stop_reason();
}

StopReason own_service(Graph& g, const Model& m, const Flags& flags) {
  const Output bias = summary::scalar("line/bias", m.bias, {.collections = {{"my_summaries"}}});
  Supervisor sv(g, options_of(flags));
  sv.managed_session([&](Session& session) {
    if (flags.save_summaries_secs > 0)
      sv.loop(flags.save_summaries_secs, [&] { sv.summary_computed(session, session.run(bias)); });
    loop(sv, session, m, flags, [&](std::int64_t) { session.run(m.train); });
  });
  return sv.stop_reason();
}

StopReason train(const Flags& flags) {
  Graph g;
  const Model m = build(g);
  if (flags.scenario == "large-model") return large_model(g, m, flags);
  if (flags.scenario == "pre-trained") return pre_trained(g, m, flags);
  if (flags.scenario == "own-service") return own_service(g, m, flags);
  return simple(g, m, flags);
}

}  // namespace

int main(int count, char** arguments) {
  Flags flags;
  CLI::App program("Fits a line under a Supervisor.");
  program.add_option("--scenario", flags.scenario, "which way to use it")
      ->check(CLI::IsMember({"simple", "large-model", "pre-trained", "own-service"}))
      ->capture_default_str();
  program.add_option("--steps", flags.steps, "train up to this step, over all runs")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  program.add_option("--save-model-secs", flags.save_model_secs, "save every so many seconds; 0: not at all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  program
      .add_option("--save-summaries-secs", flags.save_summaries_secs,
                  "write summaries every so many seconds; 0: not at all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  program
      .add_option("--print-steps", flags.print_steps, "print a line every so many steps; 0: at the end alone")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->capture_default_str();
  program.add_option("--out", flags.out, "folder for checkpoints and events; a run in it is gone on with")
      ->check(not_empty)
      ->capture_default_str();
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;  // 0 for --help, 2 for what was used wrongly
  }
  try {
    return train(flags).exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "supervised: %s\n", error.what());
    return 1;
  }
}
