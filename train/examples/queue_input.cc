// Fits a line to points that come out of files through queues: file names are shuffled, lines or records read
// and decoded by threads that run ahead, and put into shuffled batches. Without --data it writes 600 points
// of y = 0.1 x + 0.3 into three files. It ends at --steps or after --epochs, whichever comes first; it saves
// now and then and at its end, and goes on from the newest checkpoint when it is started again: from its
// step, but with its files from their beginning, since what the queues held is not saved. Its last line is
// "step N loss L weight W bias B".
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <runnel/runnel.h>
#include <CLI/CLI.hpp>

#include "train/examples/run_folder.h"

using namespace runnel;

namespace {

constexpr std::int64_t kMost = 1'000'000'000;  // steps, epochs or examples of a batch

struct Flags {
  std::int64_t steps = 1000;
  std::int64_t epochs = 0;  // 0: no limit
  std::int64_t save_steps = 1000;
  std::int64_t batch_size = 20;
  std::int64_t seed = 7;
  std::string format = "csv";
  std::vector<std::string> data;
  std::string out = "queue_input.run";

  bool is_csv() const { return format == "csv"; }
};

// --- the files

struct Point {
  float x, y;
};

void write_csv(const std::string& path, const std::vector<Point>& points) {
  std::string text = "x,y\n";
  for (const Point& p : points) {
    char line[64];
    std::snprintf(line, sizeof line, "%.9g,%.9g\n", p.x, p.y);
    text += line;
  }
  write_file_atomically(real_file_system(), path, text);
}

void write_tfrecord(const std::string& path, const std::vector<Point>& points) {
  TFRecordWriter writer(path);
  for (const Point& p : points)
    writer.write(Example{{{"x", std::vector<float>{p.x}}, {"y", std::vector<float>{p.y}}}}.serialize());
  writer.close();
}

// Writes three files into OUT/data, and returns their names.
std::vector<std::string> write_points(const Flags& flags) {
  constexpr int kFiles = 3, kPoints = 200;
  make_run_folders(flags.out, {"data"});
  std::vector<std::string> names;
  for (int file = 0; file < kFiles; ++file) {
    std::vector<Point> points;
    for (int i = 0; i < kPoints; ++i) {
      const float x = static_cast<float>(i * kFiles + file) / (kFiles * kPoints);
      points.push_back({x, 0.1f * x + 0.3f});
    }
    names.push_back(join_path(flags.out, "data/points-" + std::to_string(file) + "." + flags.format));
    (flags.is_csv() ? write_csv : write_tfrecord)(names.back(), points);
  }
  return names;
}

// --- the graph

// One example a run: x and y.
Outputs read_point(Graph& g, const FIFOQueue& files, bool csv) {
  if (csv) {
    const Output line = TextLineReader(g, {.skip_header_lines = 1}).read(files).value;
    return decode_csv(line, {Tensor::zeros(DType::kFloat, {0}), Tensor::zeros(DType::kFloat, {0})});
  }
  const Output record = TFRecordReader(g).read(files).value;
  const ParsedFeatures features =
      parse_single_example(record, {{"x", FixedLenFeature{}}, {"y", FixedLenFeature{}}});
  return {features["x"], features["y"]};
}

struct Model {
  Variable global_step, weight, bias;
  Output loss;
  Operation train, init, local_init;
};

Model build(Graph& g, const Flags& flags, const std::vector<std::string>& names) {
  Model m;
  m.global_step = create_global_step(g);
  const FIFOQueue files = string_input_producer(
      g, names, {.num_epochs = flags.epochs > 0 ? std::optional(flags.epochs) : std::nullopt});
  const Outputs point = read_point(g, files, flags.is_csv());
  const Outputs batch = shuffle_batch(
      point, static_cast<std::int32_t>(flags.batch_size),
      {.capacity = 10 * flags.batch_size, .min_after_dequeue = 5 * flags.batch_size, .num_threads = 2});
  m.weight = variable(g, 0.0f, "weight");
  m.bias = variable(g, 0.0f, "bias");
  m.loss = reduce_mean(square(m.weight * batch[0] + m.bias - batch[1]), {.name = "loss"});
  m.train = GradientDescent(0.5f).minimize(m.loss, {.global_step = m.global_step});
  m.init = initialize_global_variables(g);
  m.local_init = initialize_local_variables(g);
  return m;
}

// --- the run

// Saves between steps, and no step twice.
class Checkpoints {
 public:
  Checkpoints(Saver& saver, Session& session, const Variable& global_step, const std::string& folder)
      : saver_(saver), session_(session), global_step_(global_step), folder_(folder) {}

  // From the newest one in the folder that is whole, if there is one.
  void restore() {
    std::string newest;
    try {
      newest = latest_checkpoint(folder_, {.verify = true});
    } catch (const NotFound&) {
      return;
    }
    saver_.restore(session_, newest);
    saved_ = session_.get<std::int64_t>(global_step_);
    std::printf("going on from %s\n", newest.c_str());
    std::fflush(stdout);
  }
  void save() {
    const std::int64_t step = session_.get<std::int64_t>(global_step_);
    if (step == saved_) return;
    saver_.save(session_, join_path(folder_, "model.ckpt"), {.global_step = step});
    saved_ = step;
  }

 private:
  Saver& saver_;
  Session& session_;
  const Variable global_step_;
  const std::string folder_;
  std::int64_t saved_ = -1;
};

// Until the steps are done, the input ends, or something asks for a stop. Returns the last loss; NaN if there
// was no step.
float run_steps(Session& session, Coordinator& coord, Checkpoints& checkpoints, const Model& m,
                const Flags& flags) {
  float loss = std::numeric_limits<float>::quiet_NaN();
  std::int64_t step = session.get<std::int64_t>(m.global_step);
  coord.stop_on_exception([&] {
    while (!coord.should_stop()) {
      if (step >= flags.steps)
        return coord.request_stop(StopReason{.cause = StopCause::kStepsReached,
                                             .text = "step " + std::to_string(step) + " is done"});
      loss = session.run({m.loss, m.train})[0].scalar<float>();
      if (++step % 100 == 0) {
        std::printf("step %" PRId64 " loss %.9g\n", step, loss);
        std::fflush(stdout);
      }
      if (step % flags.save_steps == 0) checkpoints.save();
    }
  });
  return loss;
}

int train(const Flags& flags) {
  const std::vector<std::string> names = flags.data.empty() ? write_points(flags) : flags.data;
  const std::string folder = join_path(flags.out, "checkpoint");
  make_run_folders(flags.out, {"checkpoint"});
  Graph g({.seed = flags.seed});
  const Model m = build(g, flags, names);
  Saver saver(g);
  Session session(g);
  Checkpoints checkpoints(saver, session, m.global_step, folder);
  session.run(m.init);
  session.run(m.local_init);
  checkpoints.restore();

  Coordinator coord;
  const StopSignals signals(coord);
  const OnStop wake = coord.on_stop([&] { session.stop_waiting("training stops"); });
  start_queue_runners(session, &coord);
  const float loss = run_steps(session, coord, checkpoints, m, flags);
  coord.join();

  checkpoints.save();
  const std::int64_t step = session.get<std::int64_t>(m.global_step);
  std::printf("%s\n", coord.stop_reason().text.c_str());
  std::printf("step %" PRId64 " loss %.9g weight %.9g bias %.9g\n", step, loss, session.get<float>(m.weight),
              session.get<float>(m.bias));
  std::fflush(stdout);
  exit_if_signalled(coord.stop_reason());
  return coord.stop_reason().exit_code();
}

}  // namespace

int main(int count, char** arguments) {
  Flags flags;
  CLI::App program("Fits a line to points out of files, read through queues.");
  program.add_option("--steps", flags.steps, "train up to this step, over all runs")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  program.add_option("--epochs", flags.epochs, "how often the files are read in this run; 0 for no limit")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->capture_default_str();
  program.add_option("--save-steps", flags.save_steps, "save every so many steps, besides at the end")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->capture_default_str();
  program.add_option("--batch-size", flags.batch_size, "points of a step")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  program.add_option("--format", flags.format, "of the files")
      ->check(CLI::IsMember({"csv", "tfrecord"}))
      ->capture_default_str();
  program.add_option("--seed", flags.seed, "of the order of files and points")->capture_default_str();
  program
      .add_option("--data", flags.data,
                  "files to read: CSV with a header line and columns x and y, or TFRecord "
                  "files of Examples with features x and y")
      ->check(not_empty);
  program.add_option("--out", flags.out, "folder for checkpoints; a run in it is gone on with")
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
    std::fprintf(stderr, "queue_input: %s\n", error.what());
    return 1;
  }
}
