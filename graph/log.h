// The one place where the library says something to a person: a replaceable sink that takes one line an
// event. The default writes to stderr. Errors that a caller can handle are thrown, not logged; what is logged
// is what happens in the background and must not stop training.
#pragma once

#include <functional>
#include <string>

namespace runnel {

enum class LogLevel { kInfo, kWarning, kError };

// "info", "warning", "error".
const char* name_of(LogLevel level);

// Called with one line without its line end, one call at a time, from any thread. What it throws is dropped.
using LogSink = std::function<void(LogLevel level, const std::string& line)>;

// Installs `sink` and returns the one before; an empty sink means stderr. May be called at any time.
LogSink set_log_sink(LogSink sink);

// Line ends within a message become spaces.
void log_info(const std::string& message) noexcept;
void log_warning(const std::string& message) noexcept;
void log_error(const std::string& message) noexcept;

// A sink for the life of this object; the one before comes back when it ends.
class [[nodiscard]] ScopedLogSink {
 public:
  explicit ScopedLogSink(LogSink sink) : before_(set_log_sink(std::move(sink))) {}
  ~ScopedLogSink() { set_log_sink(std::move(before_)); }
  ScopedLogSink(const ScopedLogSink&) = delete;
  ScopedLogSink& operator=(const ScopedLogSink&) = delete;

 private:
  LogSink before_;
};

}  // namespace runnel
