// Fits a line y = weight x + bias, with everything around it: name scopes, summaries, two savers, events, and
// going on after a stop. Without --data it makes 100 points of y = 0.1 x + 0.3.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <runnel/runnel.h>
#include <CLI/CLI.hpp>

#include "train/examples/csv.h"
#include "train/examples/run_folder.h"
#include "train/examples/tensorboard.h"

using namespace runnel;

namespace {

struct Line {
  std::vector<float> xs, ys;
};

constexpr std::int64_t kMost = 1'000'000'000;  // steps, rows or units

struct Flags {
  std::int64_t steps = 101;
  float learning_rate = 0.5f;
  std::int64_t seed = 7;
  std::string data;
  std::string out = "linear_regression.run";
  bool resume = false;
};

Line line_points(int count) {
  Line line;
  for (int i = 0; i < count; ++i) {
    line.xs.push_back(static_cast<float>(i) / static_cast<float>(count));
    line.ys.push_back(0.1f * line.xs.back() + 0.3f);
  }
  return line;
}

Line read_line(const std::string& path) {
  const CsvTable table = read_csv(path);
  return {table.column("x"), table.column("y")};
}

// For a flag whose value would make every weight NaN.
std::string finite_number(const std::string& text) {
  return std::isfinite(std::strtof(text.c_str(), nullptr)) ? "" : text + " is no finite number";
}

struct Model {
  Variable weight, bias;
  Output loss, summaries;
  Operation step, init;
};

Model build(Graph& g, const Line& line, float learning_rate, const Variable& global_step) {
  Model m;
  Output y;
  {
    NameScope linear(g, "linear");
    m.weight = variable(random_uniform<float>(g, Shape{1}, -1.0f, 1.0f), "weight");
    m.bias = variable(zeros<float>(g, Shape{1}), "bias");
    y = m.weight * Tensor::vector(line.xs) + m.bias;
    summary::histogram("linear_weight", m.weight);
    summary::histogram("linear_bias", m.bias);
  }
  {
    NameScope descent(g, "gradient_descent");
    m.loss = reduce_mean(square(y - Tensor::vector(line.ys)), {.name = "loss"});
    m.step = GradientDescent(learning_rate).minimize(m.loss, {.global_step = global_step});
    summary::scalar("linear_loss", m.loss);
  }
  m.init = initialize_global_variables(g);
  m.summaries = summary::merge_all(g);
  return m;
}

// The savers forget the oldest of both folders, of what the run before has saved, too.
void recover(Saver& saver, const std::string& folder) {
  if (const auto state = get_checkpoint_state(folder))
    saver.recover_last_checkpoints(real_file_system(), state->all_model_checkpoint_paths);
}

void require_finite(float loss, std::int64_t round, float learning_rate) {
  if (std::isfinite(loss)) return;
  throw OutOfRange("the loss is not finite at round " + std::to_string(round) +
                   ": lower --learning-rate, now " + std::to_string(learning_rate));
}

void train(const Flags& flags) {
  const Line line = flags.data.empty() ? line_points(100) : read_line(flags.data);
  const std::string logs = flags.out + "/logs", whole = flags.out + "/checkpoint",
                    weights = flags.out + "/weight";
  const std::string newest = flags.resume ? checkpoint_to_go_on_with(whole) : "";
  make_run_folders(flags.out, {"checkpoint", "weight", "logs"});
  Graph g({.seed = flags.seed});
  const Variable global_step = create_global_step(g);
  const Model model = build(g, line, flags.learning_rate, global_step);
  const Output w0 = model.weight[0], b0 = model.bias[0];

  Saver saver(g);
  Saver only_weight(g, {{"a_name", model.weight}});
  Session session(g);
  std::int64_t start = 0;
  if (flags.resume) {
    saver.restore(session, newest);
    recover(only_weight, weights);
    start = session.get<std::int64_t>(global_step);
    std::printf("Going on from %s at step %lld\n", newest.c_str(), static_cast<long long>(start));
  } else {
    session.run(model.init);
  }

  FileWriter writer(logs, g, {.purge_step = flags.resume ? std::optional(start) : std::nullopt});
  for (std::int64_t round = start; round < flags.steps; ++round) {
    if (round % 2 == 0) writer.add_summary(session.run(model.summaries), round);
    session.run(model.step);
    if (round % 10 != 0) continue;
    const auto [w, b, loss] = session.run({w0, b0, model.loss});
    require_finite(loss.scalar<float>(), round, flags.learning_rate);
    std::printf("Round %lld, weight: %.9g, bias: %.9g\n", static_cast<long long>(round), w.scalar<float>(),
                b.scalar<float>());
    std::fflush(stdout);
    writer.flush();  // a run that goes on from this checkpoint has all points before it
    saver.save(session, whole + "/linear.ckpt", {.global_step = round});
    only_weight.save(session, weights + "/linear.ckpt", {.global_step = round});
  }
  const float loss = session.run(model.loss).scalar<float>();
  require_finite(loss, flags.steps, flags.learning_rate);
  writer.close();
  saver.save(session, whole + "/linear.ckpt");
  std::printf("Loss: %.9g\n", loss);
  print_tensorboard_command(logs);
}

}  // namespace

int main(int count, char** arguments) {
  Flags flags;
  CLI::App program("Fits a line by gradient descent.");
  program.add_option("--steps", flags.steps, "rounds to train in all")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  program.add_option("--learning-rate", flags.learning_rate, "step width of the descent")
      ->check(finite_number)
      ->capture_default_str();
  program.add_option("--seed", flags.seed, "of the initial weight")->capture_default_str();
  program.add_option("--data", flags.data, "CSV with a header line and columns x and y")->check(not_empty);
  program.add_option("--out", flags.out, "folder for checkpoints and events")
      ->check(not_empty)
      ->capture_default_str();
  program.add_flag("--resume", flags.resume, "go on from the newest checkpoint in --out");
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;  // 0 for --help, 2 for what was used wrongly
  }
  try {
    train(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "linear_regression: %s\n", error.what());
    return 1;
  }
}
