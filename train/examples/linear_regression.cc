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

// The checkpoint to go on from.
std::string newest_checkpoint(const std::string& out) {
  try {
    return latest_checkpoint(out + "/checkpoint");
  } catch (const NotFound& error) {
    throw NotFound(error.message() + "; there is no run to go on with: leave --resume out");
  }
}

void train(const Flags& flags) {
  const Line line = flags.data.empty() ? line_points(100) : read_line(flags.data);
  Graph g({.seed = flags.seed});
  const Variable global_step = create_global_step(g);

  Variable weight, bias;
  Output y;
  {
    NameScope linear(g, "linear");
    weight = variable(random_uniform<float>(g, Shape{1}, -1.0f, 1.0f), "weight");
    bias = variable(zeros<float>(g, Shape{1}), "bias");
    y = weight * Tensor::vector(line.xs) + bias;
    summary::histogram("linear_weight", weight);
    summary::histogram("linear_bias", bias);
  }
  Output loss;
  Operation step;
  {
    NameScope descent(g, "gradient_descent");
    loss = reduce_mean(square(y - Tensor::vector(line.ys)), {.name = "loss"});
    step = GradientDescent(flags.learning_rate).minimize(loss, {.global_step = global_step});
    summary::scalar("linear_loss", loss);
  }
  const Output w0 = weight[0], b0 = bias[0];
  const Operation init = initialize_global_variables(g);
  const Output summaries = summary::merge_all(g);

  Saver saver(g);
  Saver only_weight(g, {{"a_name", weight}});
  Session session(g);
  std::int64_t start = 0;
  if (flags.resume) {
    const std::string newest = newest_checkpoint(flags.out);
    saver.restore(session, newest);
    start = session.get<std::int64_t>(global_step);
    std::printf("Going on from %s at step %lld\n", newest.c_str(), static_cast<long long>(start));
  } else {
    session.run(init);
  }

  FileWriter writer(flags.out + "/logs", g,
                    {.purge_step = flags.resume ? std::optional(start) : std::nullopt});
  for (std::int64_t round = start; round < flags.steps; ++round) {
    if (round % 2 == 0) writer.add_summary(session.run(summaries), round);
    session.run(step);
    if (round % 10 != 0) continue;
    const auto [w, b] = session.run({w0, b0});
    std::printf("Round %lld, weight: %.9g, bias: %.9g\n", static_cast<long long>(round), w.scalar<float>(),
                b.scalar<float>());
    saver.save(session, flags.out + "/checkpoint/linear.ckpt", {.global_step = round});
    only_weight.save(session, flags.out + "/weight/linear.ckpt", {.global_step = round});
  }
  saver.save(session, flags.out + "/checkpoint/linear.ckpt");
  writer.close();
  std::printf("Loss: %.9g\n", session.run(loss).scalar<float>());
  print_tensorboard_command(flags.out + "/logs");
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
  program.add_option("--data", flags.data, "CSV with a header line and columns x and y");
  program.add_option("--out", flags.out, "folder for checkpoints and events")->capture_default_str();
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
