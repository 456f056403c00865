// Event files with damage: the reader gives records that were written, in their order, or DataLoss; it never
// gives bytes that nobody wrote, and never ends otherwise. usage: record_fuzz [ROUNDS [SEED]]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/io/memory_file_system.h"
#include "graph/io/record_format.h"
#include "summary/events/record_reader.h"
#include "tests/fuzz/mutate.h"

using namespace runnel;

namespace {

const std::vector<std::string>& payloads() {
  static const std::vector<std::string> kPayloads{"brain.Event:2", "", "a scalar", std::string(300, 'h'),
                                                  std::string("\0\1", 2)};
  return kPayloads;
}

// True if what is read is a subsequence of what was written (damaged records may be missing, doubled bytes
// may give a record again).
bool known(const std::string& record) {
  for (const std::string& payload : payloads())
    if (record == payload) return true;
  return false;
}

bool holds(const std::string& bytes, bool skip_damaged) {
  MemoryFileSystem files;
  const auto file = files.open_for_writing("events", WriteMode::kTruncate);
  file->append(bytes);
  file->close();
  RecordReader reader(files.open_for_reading("events"), {.skip_damaged = skip_damaged});
  try {
    while (const std::optional<std::string> record = reader.next())
      if (!known(*record)) return false;
  } catch (const DataLoss& error) {
    return error.message().find("events") != std::string::npos;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const long rounds = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 20000;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  std::string whole;
  for (const std::string& payload : payloads()) append_record(whole, payload);
  for (long i = 0; i < rounds; ++i) {
    const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(i);
    Dice dice(own_seed);
    if (holds(mutated(whole, dice), dice.one_in(2))) continue;
    std::printf("seed %llu: run record_fuzz 1 %llu\n", static_cast<unsigned long long>(own_seed),
                static_cast<unsigned long long>(own_seed));
    return 1;
  }
  std::printf("%ld damaged event files: records that were written, or DataLoss\n", rounds);
}
