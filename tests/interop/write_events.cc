// Writes event files for test_events.py, which lets TensorBoard read them: write_events DIR KIND.
//   kinds    one of each kind of event
//   resume   steps 0..150, then a writer that goes on at 101 up to 200
//   writers  fifty writers, one after another, an event each
//   late     as resume, but one curve goes on at 140 only
//   crowd    eight writers at once, a hundred events each
//   cycles   five thousand writers, one after another; fails if files, threads or memory pile up
//   killed   one event, a flush, and SIGKILL
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/array_ops.h"
#include "runnel/summary.pb.h"
#include "summary/summary.h"

using namespace runnel;

namespace {

void build(Graph& g) {
  const Output x = placeholder<float>(g, Shape{}, "x");
  constant(g, Tensor::zeros(DType::kFloat, Shape{1'000'000}), {.name = "data"});
  summary::scalar("loss", x);
}

std::string text_summary(const std::string& text) {
  pb::Summary summary;
  pb::Summary::Value& value = *summary.add_value();
  value.set_tag("words");
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  value.mutable_tensor()->set_dtype(pb::DT_STRING);
  value.mutable_tensor()->mutable_tensor_shape();
  value.mutable_tensor()->add_string_val(text);
  return summary.SerializeAsString();
}

void write_kinds(const std::string& directory) {
  Graph g;
  build(g);
  FileWriter writer(directory, g, {.purge_step = 0});
  std::vector<float> weights;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 50; ++i) weights.push_back(0.1f * static_cast<float>(i - 10 * step));
    writer.scalar("train/loss", 1.0 / (1 + step), step);
    writer.histogram("weights", std::span<const float>(weights), step);
    writer.add_summary(text_summary("step " + std::to_string(step)), step);
  }
  writer.add_session_log(SessionStatus::kCheckpoint, 3, "model.ckpt-3");
  writer.close();
}

void write_resumed(const std::string& directory, int late = 101) {
  const auto steps = [late](FileWriter& writer, int from, int to) {
    for (int step = from; step <= to; ++step) {
      writer.scalar("a", step, step);
      if (from == 0 || step >= late) writer.scalar("b", -step, step);
    }
  };
  Graph g;
  build(g);
  {
    FileWriter writer(directory, g);
    steps(writer, 0, 150);
  }
  FileWriter writer(directory, g, {.purge_step = 101});
  steps(writer, 101, 200);
}

void write_with_many_writers(const std::string& directory) {
  for (int i = 0; i < 50; ++i) FileWriter(directory).scalar("n", i, i);
}

void write_with_writers_at_once(const std::string& directory) {
  std::vector<std::unique_ptr<FileWriter>> writers;
  for (int i = 0; i < 8; ++i) writers.push_back(std::make_unique<FileWriter>(directory));
  for (int step = 0; step < 100; ++step)
    for (const auto& writer : writers) writer->scalar("n", step, step);
}

std::ptrdiff_t entries(const char* directory) {
  const std::filesystem::directory_iterator all(directory);
  return std::distance(begin(all), end(all));
}

// Pages of memory in use, from the second number there.
long resident_pages() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

// A thread is listed a moment longer than it can be joined: half a minute for those that have ended to go.
bool falls_to(std::ptrdiff_t threads) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (entries("/proc/self/task") > threads)
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

int write_and_count_what_stays(const std::string& directory) {
  const auto threads = entries("/proc/self/task");
  const auto cycle = [&](int i) { FileWriter(directory + "/" + std::to_string(i % 100)).scalar("n", i, i); };
  for (int i = 0; i < 100; ++i) cycle(i);
  const auto files = entries("/proc/self/fd");
  const long pages = resident_pages();
  for (int i = 0; i < 5000; ++i) cycle(i);
  const bool leaks = entries("/proc/self/fd") != files || !falls_to(threads) ||
                     resident_pages() > pages + 1000;  // 4 MiB: less than a kilobyte a writer
  return leaks ? 1 : 0;
}

void write_and_die(const std::string& directory) {
  FileWriter writer(directory);
  writer.scalar("last", 1, 1);
  writer.scalar("last", 2, 2);
  writer.flush();
  std::raise(SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 3 ? argv[2] : "";
  if (kind == "kinds") return write_kinds(argv[1]), 0;
  if (kind == "resume") return write_resumed(argv[1]), 0;
  if (kind == "writers") return write_with_many_writers(argv[1]), 0;
  if (kind == "late") return write_resumed(argv[1], 140), 0;
  if (kind == "crowd") return write_with_writers_at_once(argv[1]), 0;
  if (kind == "cycles") return write_and_count_what_stays(argv[1]);
  if (kind == "killed") return write_and_die(argv[1]), 0;
  std::fprintf(stderr, "usage: write_events DIR kinds|resume|late|writers|crowd|cycles|killed\n");
  return 2;
}
