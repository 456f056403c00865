// Learns to read handwritten digits: a small network on a CSV of 64 pixel columns and a label, such as the
// 1,797 digits that scikit-learn ships (tests/interop/write_data.py writes them). A fifth of the rows is held
// out for the test.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <runnel/runnel.h>
#include <CLI/CLI.hpp>

#include "train/examples/csv.h"
#include "train/examples/run_folder.h"
#include "train/examples/tensorboard.h"

using namespace runnel;

namespace {

constexpr std::int64_t kPixels = 64;
constexpr int kClasses = 10;
constexpr std::size_t kTestShare = 5;  // one row in this many is held out

constexpr std::int64_t kMost = 1'000'000'000;  // steps, rows or units

struct Flags {
  std::string data;
  int epochs = 60;
  int batch = 32;
  int hidden = 128;
  std::string optimizer = "adam";
  std::int64_t seed = 7;
  std::string out = "digits.run";
};

struct Rows {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  std::size_t count() const { return labels.size(); }
};

struct Digits {
  Rows train, test;
};

std::size_t label_column(const CsvTable& table) {
  const auto at = std::find(table.names.begin(), table.names.end(), "label");
  if (at == table.names.end() || table.names.size() != kPixels + 1)
    throw std::runtime_error(table.path + " must have 64 pixel columns and one called label; it has " +
                             std::to_string(table.names.size()) + " columns" +
                             (at == table.names.end() ? ", none called label" : ""));
  return static_cast<std::size_t>(at - table.names.begin());
}

void add_row(const CsvTable& table, std::size_t row, std::size_t label_at, Rows& to) {
  constexpr float kBrightest = 16;  // of scikit-learn's digits
  for (std::size_t c = 0; c < table.names.size(); ++c)
    if (c != label_at) to.pixels.push_back(table.at(row, c) / kBrightest);
  const float label = table.at(row, label_at);
  if (label < 0 || label >= kClasses || label != static_cast<float>(static_cast<int>(label)))
    throw std::runtime_error(table.place_of(row) + ": the label is " + std::to_string(label) +
                             "; labels are 0 to 9");
  to.labels.push_back(static_cast<std::int64_t>(label));
}

Digits read_digits(const std::string& path, std::int64_t seed) {
  const CsvTable table = read_csv(path);
  const std::size_t label_at = label_column(table);
  if (table.rows() < kTestShare)
    throw std::runtime_error(path + " has fewer than 5 rows, too few to hold a fifth out");
  std::vector<std::size_t> order(table.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::shuffle(order.begin(), order.end(), random);
  Digits digits;
  for (std::size_t i = 0; i < order.size(); ++i)
    add_row(table, order[i], label_at, i % kTestShare == 0 ? digits.test : digits.train);
  return digits;
}

struct Batch {
  Tensor pixels, labels;
};

Batch batch_of(const Rows& rows, const std::vector<std::size_t>& order, std::size_t from, std::size_t count) {
  Rows some;
  for (std::size_t i = from; i < from + count; ++i) {
    const auto first = rows.pixels.begin() + static_cast<std::ptrdiff_t>(order[i]) * kPixels;
    some.pixels.insert(some.pixels.end(), first, first + kPixels);
    some.labels.push_back(rows.labels[order[i]]);
  }
  return {Tensor::from({static_cast<std::int64_t>(count), kPixels}, some.pixels),
          Tensor::vector(some.labels)};
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name) {
  if (name == "sgd") return std::make_unique<GradientDescent>(0.2f);
  if (name == "momentum") return std::make_unique<Momentum>(0.05f, 0.9f);
  return std::make_unique<Adam>(0.001f);
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::string note_of(float loss, float accuracy) {
  char text[64];
  std::snprintf(text, sizeof(text), "loss %.4f  test accuracy %.2f %%", static_cast<double>(loss),
                100.0 * accuracy);
  return text;
}

void train(const Flags& flags) {
  const Digits digits = read_digits(flags.data, flags.seed);
  make_run_folders(flags.out, {"checkpoint", "logs"});
  Graph g({.seed = flags.seed});
  const Output x = placeholder<float>(g, {kUnknown, kPixels}, "pixels");
  const Output label = placeholder<std::int64_t>(g, {kUnknown}, "label");
  const Output hidden = relu(dense(x, flags.hidden, {.name = "hidden"}));
  const Output logits = dense(hidden, kClasses, {.name = "logits"});
  const Output loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(logits, label), {.name = "loss"});
  const Output right = cast(equal(argmax(logits, 1), label), DType::kFloat);
  const Output accuracy = reduce_mean(right, {.name = "accuracy"});
  const Variable global_step = get_or_create_global_step(g);
  const Operation step = make_optimizer(flags.optimizer)->minimize(loss, {.global_step = global_step});
  const Operation init = initialize_global_variables(g);

  Saver saver(g);
  Session session(g);
  session.run(init);
  FileWriter log(flags.out + "/logs", g);
  Prepared train_step = session.prepare({.feeds = {x, label}, .fetches = {loss, step}});
  Prepared measure = session.prepare({.feeds = {x, label}, .fetches = {accuracy}});
  const auto accuracy_on = [&](const Rows& rows) {
    return measure({Tensor::from({static_cast<std::int64_t>(rows.count()), kPixels}, rows.pixels),
                    Tensor::vector(rows.labels)})[0]
        .scalar<float>();
  };

  // A bar on a terminal, a line an epoch elsewhere.
  ProgressBar progress(
      flags.epochs,
      {.line_secs = 0, .unit = "epoch", .terminal = isatty(STDOUT_FILENO) != 0, .write = print});
  std::mt19937_64 random(static_cast<std::uint64_t>(flags.seed) + 1);
  std::vector<std::size_t> order(digits.train.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t steps = 0;
  float test_accuracy = 0, last_loss = 0;
  for (int epoch = 1; epoch <= flags.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t from = 0; from < order.size(); from += static_cast<std::size_t>(flags.batch)) {
      const Batch batch = batch_of(digits.train, order, from,
                                   std::min(static_cast<std::size_t>(flags.batch), order.size() - from));
      last_loss = train_step({batch.pixels, batch.labels})[0].scalar<float>();
      log.scalar("loss", last_loss, ++steps);
      if (!std::isfinite(last_loss))
        throw OutOfRange("the loss is not finite at step " + std::to_string(steps) +
                         ": try another --optimizer or a larger --batch");
    }
    test_accuracy = accuracy_on(digits.test);
    log.scalar("accuracy/test", test_accuracy, steps);
    log.scalar("accuracy/train", accuracy_on(digits.train), steps);
    progress.update(epoch, [&] { return note_of(last_loss, test_accuracy); });
  }
  log.close();  // first, so that the curves have what the checkpoint has
  saver.save(session, flags.out + "/checkpoint/digits.ckpt", {.global_step = steps});
  std::printf("train accuracy %.2f %%, test accuracy %.2f %% on %zu held-out digits\n",
              100.0 * accuracy_on(digits.train), 100.0 * test_accuracy, digits.test.count());
  print_tensorboard_command(flags.out + "/logs");
}

}  // namespace

int main(int count, char** arguments) {
  Flags flags;
  CLI::App program("Learns handwritten digits from a CSV.");
  program.add_option("--data", flags.data, "CSV with 64 pixel columns and one called label")
      ->check(not_empty)
      ->required();
  program.add_option("--epochs", flags.epochs, "times through the data")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  program.add_option("--batch", flags.batch, "rows a step")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  program.add_option("--hidden", flags.hidden, "units of the hidden layer")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  program.add_option("--optimizer", flags.optimizer)
      ->check(CLI::IsMember({"sgd", "momentum", "adam"}))
      ->capture_default_str();
  program.add_option("--seed", flags.seed, "of initial weights and of the order of rows")
      ->capture_default_str();
  program.add_option("--out", flags.out, "folder for the checkpoint and events")
      ->check(not_empty)
      ->capture_default_str();
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;  // 0 for --help, 2 for what was used wrongly
  }
  try {
    train(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
}
