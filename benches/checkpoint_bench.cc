// What a checkpoint costs: saves with and without the disk's syncs, restores, and the bare system calls that
// do the same (write and fsync; read and checksum), for one large variable, twenty, and a thousand tiny ones.
// CRC-32C beside google/crc32c where GOOGLE_CRC32C names its library. Files go to RUNNEL_BENCH_DIRECTORY (or
// a folder of their own under TMPDIR): on tmpfs syncs cost nothing, on a disk they are what "durable" means.
// `compare_checkpoints` sets this beside TensorFlow. Nothing here checks results; tests do.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "benches/bench_directory.h"
#include "benches/unsynced_file_system.h"
#include "graph/graph.h"
#include "graph/io/crc32c.h"
#include "ops/ops.h"
#include "train/checkpoint/saver.h"

namespace runnel::benches {
namespace {

struct Workload {
  const char* name;
  int variables;
  std::int64_t floats;  // of each
};
const Workload kWorkloads[] = {
    {"1x256MB", 1, 64'000'000}, {"20x20MB", 20, 5'000'000}, {"1000x64B", 1000, 16}};
constexpr std::int64_t kSmall = 1 << 20;  // workloads of fewer bytes are run more often

std::int64_t bytes_of(const Workload& work) { return 4 * work.variables * work.floats; }

std::string prefix() { return directory() + "/model.ckpt"; }

void remove_files() {
  for (const auto& file : std::filesystem::directory_iterator(directory()))
    std::filesystem::remove(file.path());
}

// A trained model of a workload: its session, whose files can be told not to sync, and its saver.
struct Trained {
  Graph graph;
  UnsyncedFileSystem files{real_file_system()};
  std::unique_ptr<Saver> saver;
  std::unique_ptr<Session> session;

  explicit Trained(const Workload& work) {
    for (int i = 0; i < work.variables; ++i)
      variable(random_uniform<float>(graph, {work.floats}, 0, 1, {.seed = i + 1}), cat("v", i));
    saver = std::make_unique<Saver>(graph);
    session = std::make_unique<Session>(graph, SessionOptions{.file_system = &files});
    session->run(initialize_global_variables(graph));
  }
};

// One at a time, since the large ones fill memory.
Trained& trained(const Workload& work) {
  static std::unique_ptr<Trained> kept;
  static const Workload* of = nullptr;
  if (of != &work) {
    kept.reset();
    kept = std::make_unique<Trained>(work);
    of = &work;
  }
  return *kept;
}

template <class Call>
double seconds(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Times `call` alone; `before` makes the files as they must be. Dirty pages of earlier work are written out
// first, or the disk would be busy with them.
template <class Before, class Call>
void measure(benchmark::State& state, const Workload& work, Before before, Call call) {
  for (auto _ : state) {
    before();
    if (bytes_of(work) >= kSmall) ::sync();
    state.SetIterationTime(seconds(call));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes_of(work));
}

struct SaveCase {
  bool synced = true;
  bool all = false;  // with the graph and the state file
};

void save(benchmark::State& state, const Workload& work, SaveCase how) {
  Trained& model = trained(work);
  model.files.synced = how.synced;
  measure(state, work, remove_files, [&] {
    model.saver->save(*model.session, prefix(), {.write_meta_graph = how.all, .write_state = how.all});
  });
  remove_files();
}

// How long the caller of an asynchronous save is held.
void save_async(benchmark::State& state, const Workload& work) {
  Trained& model = trained(work);
  model.files.synced = true;
  const auto before = [&] {
    model.saver->wait();
    remove_files();
  };
  measure(state, work, before, [&] {
    model.saver->save_async(*model.session, prefix(), {.write_meta_graph = false, .write_state = false});
  });
  before();
}

void restore(benchmark::State& state, const Workload& work) {
  Trained& model = trained(work);
  remove_files();
  model.files.synced = true;
  model.saver->save(*model.session, prefix(), {.write_meta_graph = false, .write_state = false});
  model.saver->restore(*model.session, prefix());
  measure(
      state, work, [] {}, [&] { model.saver->restore(*model.session, prefix()); });
  remove_files();
}

// In a session that has run nothing yet, as a program that goes on or serves does once.
void restore_first(benchmark::State& state, const Workload& work) {
  Trained& model = trained(work);
  remove_files();
  model.saver->save(*model.session, prefix(), {.write_meta_graph = false, .write_state = false});
  std::unique_ptr<Session> session;
  measure(
      state, work, [&] { session = std::make_unique<Session>(model.graph); },
      [&] { model.saver->restore(*session, prefix()); });
  remove_files();
}

// What the bare system calls need, on memory that was touched before.
class Floor {
 public:
  explicit Floor(const Workload& work) : bytes_(static_cast<std::size_t>(bytes_of(work)), '\1') {}

  // The least that makes a checkpoint durable: values and index are synced under names that do not count, so
  // are these names, then the files are renamed and that is synced. An index has kIndexEntry bytes a
  // variable.
  void write_checkpoint(int variables) const {
    constexpr std::size_t kIndexEntry = 40;
    const std::string index = path() + ".index";
    write_file(path() + ".new", bytes_, true);
    write_file(index + ".new", std::string(kIndexEntry * static_cast<std::size_t>(variables), '\1'), true);
    sync_directory();
    ::rename((path() + ".new").c_str(), path().c_str());
    ::rename((index + ".new").c_str(), index.c_str());
    sync_directory();
  }
  void write(bool synced) const { write_file(path(), bytes_, synced); }
  void read(std::string& into) const {
    const int file = ::open(path().c_str(), O_RDONLY);
    constexpr std::size_t kPart = 1 << 18;  // stays in the cache between reading and checking
    std::uint32_t crc = 0;
    for (std::size_t at = 0; at < into.size(); at += kPart) {
      const std::size_t part = std::min(kPart, into.size() - at);
      if (::pread(file, into.data() + at, part, static_cast<off_t>(at)) != static_cast<ssize_t>(part))
        throw Unavailable("cannot read");
      crc = crc32c_extend(crc, {into.data() + at, part});
    }
    benchmark::DoNotOptimize(crc);
    ::close(file);
  }
  static std::string path() { return directory() + "/floor"; }
  std::size_t size() const { return bytes_.size(); }

 private:
  static void write_file(const std::string& to, const std::string& bytes, bool synced) {
    const int file = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto done = ::write(file, bytes.data() + at, bytes.size() - at);
      if (done <= 0) throw Unavailable("cannot write");
      at += static_cast<std::size_t>(done);
    }
    if (synced) ::fsync(file);
    ::close(file);
  }
  static void sync_directory() {
    const int folder = ::open(directory().c_str(), O_RDONLY | O_DIRECTORY);
    ::fsync(folder);
    ::close(folder);
  }

  const std::string bytes_;
};

void floor_write(benchmark::State& state, const Workload& work, bool synced) {
  const Floor floor(work);
  measure(state, work, remove_files, [&] { floor.write(synced); });
  remove_files();
}

void floor_checkpoint(benchmark::State& state, const Workload& work) {
  const Floor floor(work);
  measure(state, work, remove_files, [&] { floor.write_checkpoint(work.variables); });
  remove_files();
}

void floor_read(benchmark::State& state, const Workload& work) {
  const Floor floor(work);
  floor.write(true);
  std::string into(floor.size(), '\2');
  measure(
      state, work, [] {}, [&] { floor.read(into); });
  remove_files();
}

using ExtendCrc = std::uint32_t (*)(std::uint32_t, const std::uint8_t*, std::size_t);

void checksum(benchmark::State& state, ExtendCrc extend) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  std::uint32_t crc = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        crc = extend(crc, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}

std::uint32_t extend_ours(std::uint32_t crc, const std::uint8_t* at, std::size_t count) {
  return crc32c_extend(crc, {reinterpret_cast<const char*>(at), count});
}

void register_checksums() {
  benchmark::RegisterBenchmark("crc32c/runnel", checksum, extend_ours)->Arg(1 << 16)->Arg(16 << 20);
  const char* library = std::getenv("GOOGLE_CRC32C");
  if (!library) return;
  void* opened = ::dlopen(library, RTLD_NOW);
  if (!opened) throw NotFound(cat("GOOGLE_CRC32C: ", ::dlerror()));
  const auto extend = reinterpret_cast<ExtendCrc>(::dlsym(opened, "crc32c_extend"));
  if (!extend) throw NotFound("GOOGLE_CRC32C names a library without crc32c_extend");
  benchmark::RegisterBenchmark("crc32c/google", checksum, extend)->Arg(1 << 16)->Arg(16 << 20);
}

template <class Run, class... Args>
void add(const std::string& what, const Workload& work, Run run, Args... args) {
  auto* added = benchmark::RegisterBenchmark(
      (what + "/" + work.name).c_str(), [=, &work](benchmark::State& state) { run(state, work, args...); });
  added->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(bytes_of(work) < kSmall ? 15 : 3);
}

void register_workloads() {
  for (const Workload& work : kWorkloads) {
    add("floor/write_fsync", work, floor_write, true);
    add("floor/checkpoint", work, floor_checkpoint);
    add("save/durable", work, save, SaveCase{});
    add("floor/write", work, floor_write, false);
    add("save/unsynced", work, save, SaveCase{.synced = false});
    add("save/unsynced_all", work, save, SaveCase{.synced = false, .all = true});
    add("save/durable_all", work, save, SaveCase{.all = true});
    add("save/async_held", work, save_async);
    add("floor/read_crc", work, floor_read);
    add("restore", work, restore);
    add("restore/first", work, restore_first);
  }
}

}  // namespace
}  // namespace runnel::benches

int main(int argc, char** argv) {
  using namespace runnel::benches;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    register_checksums();
    register_workloads();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "checkpoint_bench: %s\n", error.what());
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}
