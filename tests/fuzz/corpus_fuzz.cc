// The four formats of a checkpoint's small files, each by itself: the index (a table), the entries in it, the
// state file `checkpoint`, the graph `.meta`; event files; and what programs read as input. Every file of
// corpus/FORMAT, as it is and in damaged copies, must end in a runnel::Error or in something that is written
// and read again as the same (of events: is read by every reader as the same). Usage: corpus_fuzz FORMAT
// CORPUS [ROUNDS [SEED]]; a failure prints what repeats it. Compiled with -DRUNNEL_LIBFUZZER=FORMAT and
// clang's -fsanitize=fuzzer it is a target that looks for new paths by itself; finds go into the corpus.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "graph/io/memory_file_system.h"
#include "graph/io/record_format.h"
#include "graph/log.h"
#include "summary/events/event_log.h"
#include "tests/fuzz/graph_promise.h"
#include "tests/fuzz/input_promise.h"
#include "tests/fuzz/mutate.h"
#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/index_table.h"

using namespace runnel;

namespace {

IndexEntries read_table(const std::string& bytes) {
  MemoryFileSystem files;
  const auto file = files.open_for_writing("i", WriteMode::kTruncate);
  file->append(bytes);
  file->close();
  return read_index(*files.open_for_reading("i"));
}

// Each is true if its promise was kept, and throws the Error of what was refused.
bool index_holds(const std::string& bytes) {
  const IndexEntries entries = read_table(bytes);
  return read_table(index_bytes(entries)) == entries;
}

bool entry_holds(const std::string& bytes) {
  constexpr int kShards = 3;
  try {
    const int shards = parse_header(bytes);
    if (shards < 0 || shards > kMostShards || parse_header(header_bytes(shards)) != shards) return false;
  } catch (const Error&) {
    // Most entries are no header.
  }
  const BundleEntry entry = BundleEntry::parse(bytes, "v", kShards);
  if (entry.shard < 0 || entry.shard >= kShards || !entry.shape.is_known()) return false;
  for (const TensorSlice& slice : entry.slices) slice_key("v", slice.within(entry.shape));
  return BundleEntry::parse(entry.bytes(), "v", kShards).bytes() == entry.bytes();
}

bool state_holds(const std::string& bytes) {
  const std::string text = text_of(parse_checkpoint_state(bytes));  // texts, since a time may be NaN
  return text_of(parse_checkpoint_state(text)) == text;
}

// What a run has must be found again at the places that it names, in the file as it is and to its end.
bool run_holds(FileSystem& files, std::uint64_t size, Restarts restarts, bool skip_damaged) {
  const std::vector<std::string> paths(1, "e");
  EventRun run(".", {.restarts = restarts, .skip_damaged = skip_damaged, .files = &files});
  run.reload(paths);
  run.reload(paths);
  const EventFileInfo& file = run.files().at(0);
  if (file.offset > size || (file.damage.empty() && !file.truncated && file.offset != size)) return false;
  for (const auto& [name, tag] : run.tags()) {
    if (tag.points.size() > tag.written) return false;
    for (const EventPoint& point : tag.points) {
      const EventValue value = run.value(point);
      if (value.tag != name || point.offset >= file.offset) return false;
      if (point.dtype == DType::kFloat && value.tensor.bytes() != sizeof(float)) return false;
    }
  }
  return true;
}

// With right checksums and lengths that fit, so that damage gets to what is inside of the records.
std::string mended(std::string_view bytes) {
  std::string out;
  while (bytes.size() >= kRecordHeaderBytes + kRecordFooterBytes) {
    const std::size_t most = bytes.size() - kRecordHeaderBytes - kRecordFooterBytes;
    const std::size_t length = std::min<std::size_t>(static_cast<unsigned char>(bytes[0]), most);
    append_record(out, bytes.substr(kRecordHeaderBytes, length));
    bytes.remove_prefix(kRecordHeaderBytes + length + kRecordFooterBytes);
  }
  return out;
}

bool event_file_holds(const std::string& bytes) {
  MemoryFileSystem files;
  const auto file = files.open_for_writing("e", WriteMode::kTruncate);
  file->append(bytes);
  file->close();
  for (const Restarts restarts : {Restarts::kBySteps, Restarts::kBySessionLog, Restarts::kKept})
    if (!run_holds(files, bytes.size(), restarts, restarts == Restarts::kKept)) return false;
  EventReader reader("e", {.files = &files});
  try {
    while (reader.next())
      if (reader.offset() > bytes.size()) return false;
  } catch (const DataLoss& error) {
    return error.message().starts_with("e: at byte ");
  }
  return true;
}

bool events_hold(const std::string& bytes) {
  return event_file_holds(mended(bytes)) && event_file_holds(bytes);
}

struct Format {
  const char* name;
  bool (*holds)(const std::string& bytes);
  long rounds;  // for a file of the corpus, in a test run
};
constexpr Format kFormats[] = {{"index", index_holds, 20'000}, {"entry", entry_holds, 20'000},
                               {"state", state_holds, 5'000},  {"meta", graph_holds, 300},
                               {"events", events_hold, 3'000}, {"example", example_holds, 5'000},
                               {"csv", csv_holds, 5'000},      {"records", record_files_hold, 500}};

const Format* format_named(const char* name) {
  for (const Format& format : kFormats)
    if (std::strcmp(format.name, name) == 0) return &format;
  return nullptr;
}

// Internal is for mistakes of our own, and an error says something in one line.
bool holds(const Format& format, const std::string& bytes) {
  try {
    return format.holds(bytes);
  } catch (const Error& error) {
    return error.code() != Code::kInternal && !error.message().empty();
  }
}

[[maybe_unused]] bool fuzz(const Format& format, const std::string& corpus, long rounds, std::uint64_t seed) {
  long tried = 0;
  FileSystem& files = real_file_system();
  for (const std::string& name : files.list(corpus)) {
    const std::string bytes = read_file(files, join_path(corpus, name));
    for (long i = -1; i < rounds; ++i) {
      const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(i);
      Dice dice(own_seed);
      ++tried;
      if (holds(format, i < 0 ? bytes : mutated(bytes, dice))) continue;
      std::printf("%s, seed %llu: run corpus_fuzz %s CORPUS 1 %llu\n", name.c_str(),
                  static_cast<unsigned long long>(own_seed), format.name,
                  static_cast<unsigned long long>(own_seed));
      return false;
    }
  }
  std::printf("%ld pieces of %s: an error, or the same again\n", tried, format.name);
  return tried > 0;
}

}  // namespace

#ifdef RUNNEL_LIBFUZZER
#define RUNNEL_TEXT(x) #x
#define RUNNEL_TEXT_OF(x) RUNNEL_TEXT(x)
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const Format& format = *format_named(RUNNEL_TEXT_OF(RUNNEL_LIBFUZZER));
  static const ScopedLogSink silent([](LogLevel, const std::string&) {});
  if (!holds(format, std::string(reinterpret_cast<const char*>(data), size))) std::abort();
  return 0;
}
#else
int main(int count, char** arguments) {
  const Format* format = count > 2 ? format_named(arguments[1]) : nullptr;
  if (!format) return 2;
  const ScopedLogSink silent([](LogLevel, const std::string&) {});
  const long rounds = count > 3 ? std::strtol(arguments[3], nullptr, 10) : format->rounds;
  const std::uint64_t seed = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 1;
  return fuzz(*format, arguments[2], rounds, seed) ? 0 : 1;
}
#endif
