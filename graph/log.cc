// The log sink behind one mutex, so that lines never mix. The mutex is recursive: a sink may call something
// that logs.
#include "graph/log.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

#include "graph/open_line.h"

namespace runnel {
namespace {

struct Log {
  std::recursive_mutex mutex;
  LogSink sink;
  std::atomic<bool> open_line{false};
};

Log& the_log() {
  static Log* log = new Log;  // never destroyed: threads may log while the process ends
  return *log;
}

void write(LogLevel level, const std::string& message) noexcept {
  try {
    std::string line = message;
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    Log& log = the_log();
    const std::lock_guard hold(log.mutex);
    const LogSink sink = log.sink;  // a copy, since the sink may replace itself
    if (sink) return sink(level, line);
    const char* erase = log.open_line.exchange(false) ? "\r\x1b[K" : "";
    std::fprintf(stderr, "%srunnel: %s: %s\n", erase, name_of(level), line.c_str());
  } catch (...) {  // a log line is never worth an exception
  }
}

}  // namespace

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "log";
}

LogSink set_log_sink(LogSink sink) {
  Log& log = the_log();
  const std::lock_guard hold(log.mutex);
  return std::exchange(log.sink, std::move(sink));
}

void set_open_line(bool open) noexcept { the_log().open_line = open; }

void log_info(const std::string& message) noexcept { write(LogLevel::kInfo, message); }
void log_warning(const std::string& message) noexcept { write(LogLevel::kWarning, message); }
void log_error(const std::string& message) noexcept { write(LogLevel::kError, message); }

}  // namespace runnel
