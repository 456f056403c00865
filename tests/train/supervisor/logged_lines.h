// The log of a test, as lines.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "graph/log.h"

namespace runnel {

// Catches every line while it lives: "warning: Coordinator: ...".
class LoggedLines {
 public:
  LoggedLines()
      : sink_([this](LogLevel level, const std::string& line) {
          const std::lock_guard hold(mutex_);
          lines_.push_back(std::string(name_of(level)) + ": " + line);
        }) {}

  std::vector<std::string> all() const {
    const std::lock_guard hold(mutex_);
    return lines_;
  }
  bool has(const std::string& part) const {
    const std::lock_guard hold(mutex_);
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  ScopedLogSink sink_;  // last: goes first
};

}  // namespace runnel
