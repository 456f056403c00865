// The name is drawn until it is free: process and count make a second draw rare, but containers can share a
// directory and a process number.
#include "summary/event_file.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>

#include "summary/event.h"
#include "summary/record_writer.h"

namespace runnel {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;
constexpr int kTries = 100;

std::string host_name() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0 || buffer[0] == '\0') return "localhost";
  std::string host = buffer.data();
  for (char& c : host)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  return host;
}

std::unique_ptr<WritableFile> make_file(FileSystem& files, const Clock& clock, const std::string& directory,
                                        const std::string& suffix) {
  static std::atomic<std::uint64_t> count = 0;
  for (int i = 0;; ++i) {
    const std::string path = join_path(directory, event_file_name(clock.now_nanos(), count++, suffix));
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
  return cat("events.out.tfevents.", time.data(), ".", host_name(), ".", process.data(), suffix);
}

EventFile::EventFile(FileSystem& files, const Clock& clock, const std::string& directory,
                     const std::string& suffix, std::string_view records)
    : files_(files), file_(make_file(files, clock, directory, suffix)) {
  try {
    begin(clock, directory, records);
  } catch (...) {
    remove_quietly(files_, path());
    throw;
  }
}

void EventFile::begin(const Clock& clock, const std::string& directory, std::string_view records) {
  std::string bytes;
  append_record(bytes, version_event(static_cast<double>(clock.now_nanos() / kNanos)));  // whole seconds
  bytes.append(records);
  append(bytes);
  sync();
  files_.sync_directory(directory);
}

void EventFile::append(std::string_view records) { file_->append(records); }
void EventFile::sync() { file_->sync(); }
void EventFile::close() { file_->close(); }
bool EventFile::vanished() const { return !files_.exists(path()); }

std::uint64_t EventFile::size() const noexcept {
  try {
    return files_.file_size(path());
  } catch (...) {
    return 0;
  }
}

}  // namespace runnel
