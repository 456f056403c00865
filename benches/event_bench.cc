// What logging costs: scalars on the caller's thread and until they are in the file, beside the bare encoding
// with checksums into a buffer; histograms; pictures that are encoded already. `compare_events` sets this
// beside the writers of TensorFlow, TensorBoard and tensorboardX. Nothing here checks results; tests do.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <random>
#include <vector>

#include "benches/bench_directory.h"
#include "summary/events/event.h"
#include "summary/events/record_block.h"
#include "summary/summary.h"
#include "summary/values/histogram.h"
#include "summary/values/png.h"

namespace runnel::benches {
namespace {

constexpr std::int64_t kBurst = 500'000;  // events between two flushes: 27 MB, within the queue's bound
constexpr std::size_t kBlockBytes = 1 << 20;
constexpr char kTag[] = "train/loss";

// A writer whose files are removed in the end.
struct Log {
  std::string logdir = directory() + "/log";
  FileWriter writer{logdir};
  ~Log() {
    writer.close();
    std::filesystem::remove_all(logdir);
  }
};

void add_burst(FileWriter& writer, std::int64_t& step) {
  for (std::int64_t i = 0; i < kBurst; ++i, ++step) writer.scalar(kTag, 0.5, step);
}

void note_lost(benchmark::State& state, const FileWriter& writer) {
  if (writer.lost() != 0) state.SkipWithError("events were lost");
}

// Until all events are in the file.
void scalars(benchmark::State& state) {
  Log log;
  std::int64_t step = 0;
  for (auto _ : state) {
    add_burst(log.writer, step);
    log.writer.flush();
  }
  note_lost(state, log.writer);
  state.SetItemsProcessed(step);
}
BENCHMARK(scalars)->UseRealTime()->Unit(benchmark::kMillisecond);

// The calls alone; what is left to the thread is waited for outside.
void scalar_calls(benchmark::State& state) {
  Log log;
  std::int64_t step = 0;
  for (auto _ : state) {
    add_burst(log.writer, step);
    state.PauseTiming();
    log.writer.flush();
    state.ResumeTiming();
  }
  note_lost(state, log.writer);
  state.SetItemsProcessed(step);
}
BENCHMARK(scalar_calls)->UseRealTime()->Unit(benchmark::kMillisecond);

// The floor: no time is asked for, nobody else may add, nothing is written.
void scalar_floor(benchmark::State& state) {
  RecordBlock block(kBlockBytes);
  std::int64_t step = 0;
  for (auto _ : state)
    for (std::int64_t i = 0; i < kBurst; ++i, ++step) {
      const ScalarEvent event({.wall = 1.7e9, .step = step}, kTag, 0.5f);
      if (!block.fits(event.event_bytes())) block.clear();
      event.write(block.next_payload());
      block.add(event.event_bytes(), false);
    }
  benchmark::DoNotOptimize(block.bytes().data());
  state.SetItemsProcessed(step);
}
BENCHMARK(scalar_floor)->UseRealTime()->Unit(benchmark::kMillisecond);

void histogram(benchmark::State& state) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(state.range(0)));
  for (float& value : values) value = normal(random);
  for (auto _ : state) benchmark::DoNotOptimize(histogram_of(std::span<const float>(values)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(histogram)->Arg(100'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

// A PNG file of so many bytes: noise, which no encoder makes smaller.
std::string noisy_png(std::int64_t bytes) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(bytes));
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(random());
  return png_of(pixels, {.height = bytes / 1024, .width = 1024, .channels = 1});
}

void picture(benchmark::State& state) {
  Log log;
  const std::string file = noisy_png(state.range(0));
  std::int64_t step = 0;
  for (auto _ : state) {
    for (int i = 0; i < 32; ++i) log.writer.encoded_image("picture", file, ++step);
    log.writer.flush();
  }
  note_lost(state, log.writer);
  state.SetBytesProcessed(step * static_cast<std::int64_t>(file.size()));
}
BENCHMARK(picture)->Arg(1 << 20)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace runnel::benches

BENCHMARK_MAIN();
