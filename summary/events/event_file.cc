// The name is drawn until it is free: process and count make a second draw rare, but containers can share a
// directory and a process number.
#include "summary/events/event_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>

#include "graph/io/record_format.h"
#include "summary/events/event.h"

namespace runnel {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;
constexpr int kTries = 100;
constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::size_t kSecondsDigits = 10, kNanosDigits = 9;

std::string host_name() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0 || buffer[0] == '\0') return "localhost";
  std::string host = buffer.data();
  for (char& c : host)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  return host;
}

// The number that these digits are; nothing if one is none.
std::optional<std::int64_t> number_in(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// Where it is forbidden to look, the clock has to do.
std::int64_t start_in(FileSystem& files, const std::string& directory) {
  try {
    return start_behind(files.list(directory));
  } catch (const PermissionDenied&) {
    return 0;
  }
}

std::unique_ptr<WritableFile> make_file(FileSystem& files, const Clock& clock, const std::string& directory,
                                        const std::string& suffix) {
  static std::atomic<std::uint64_t> count = 0;
  const std::int64_t earliest = start_in(files, directory);
  for (int i = 0;; ++i) {
    const std::int64_t start = std::max(clock.now_nanos(), earliest);
    const std::string path = join_path(directory, event_file_name(start, count++, suffix));
    try {
      return files.open_for_writing(path, WriteMode::kExclusive);
    } catch (const AlreadyExists&) {
      if (i >= kTries) throw;
    }
  }
}

}  // namespace

std::string event_file_name(std::int64_t now_nanos, std::uint64_t count, const std::string& suffix) {
  std::array<char, 64> time{}, process{};
  std::snprintf(time.data(), time.size(), "%010lld.%09lld", static_cast<long long>(now_nanos / kNanos),
                static_cast<long long>(now_nanos % kNanos));
  std::snprintf(process.data(), process.size(), "%07lld.%06llu", static_cast<long long>(getpid()),
                static_cast<unsigned long long>(count));
  return cat(kPrefix, time.data(), ".", host_name(), ".", process.data(), suffix);
}

std::int64_t start_behind(const std::vector<std::string>& names) {
  constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / kNanos - 1;
  std::string_view last;
  for (const std::string& name : names)
    if (name.starts_with(kPrefix)) last = std::max(last, std::string_view(name));
  if (last.empty()) return 0;
  last.remove_prefix(kPrefix.size());
  if (last.size() < kSecondsDigits) return 0;  // of somebody else's making
  const auto seconds = number_in(last.substr(0, kSecondsDigits));
  if (!seconds || *seconds > kMostSeconds) return 0;
  last.remove_prefix(kSecondsDigits);
  const bool ours = last.size() > kNanosDigits + 1 && last[0] == '.' && last[kNanosDigits + 1] == '.';
  const auto nanos = ours ? number_in(last.substr(1, kNanosDigits)) : std::nullopt;
  return nanos ? *seconds * kNanos + *nanos + 1 : (*seconds + 1) * kNanos;
}

EventFile::EventFile(FileSystem& files, const Clock& clock, const std::string& directory,
                     const std::string& suffix, std::string_view records, Durability durability)
    : files_(files), file_(make_file(files, clock, directory, suffix)), identity_(files.identity(path())) {
  try {
    begin(clock, directory, records, durability);
  } catch (...) {
    remove_quietly(files_, path());
    throw;
  }
}

void EventFile::begin(const Clock& clock, const std::string& directory, std::string_view records,
                      Durability durability) {
  std::string bytes;
  append_record(bytes, version_event(static_cast<double>(clock.now_nanos() / kNanos)));  // whole seconds
  bytes.append(records);
  append(bytes);
  if (durability == Durability::kSystem) return;
  sync();
  files_.sync_directory(directory);
}

void EventFile::append(std::string_view records) { file_->append(records); }
void EventFile::sync() { file_->sync(); }
void EventFile::close() { file_->close(); }
bool EventFile::vanished() const {
  const std::string now = files_.identity(path());
  return now.empty() ? !files_.exists(path()) : now != identity_;  // it may be there and not be shown
}

std::uint64_t EventFile::size() const noexcept {
  try {
    return files_.file_size(path());
  } catch (...) {
    return 0;
  }
}

}  // namespace runnel
