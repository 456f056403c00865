// How many threads and descriptors this process holds, so that a test sees that nothing is left behind.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>

#include "tests/graph/until.h"

namespace runnel {

struct Held {
  std::ptrdiff_t threads, descriptors;
};

inline Held held() {
  const auto entries = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  return {entries("/proc/self/task"), entries("/proc/self/fd")};
}

// Checks that there are no more threads than `most`. One is listed a moment longer than it can be joined, so
// that those that have ended may take half a minute to go.
inline void check_threads(std::ptrdiff_t most) {
  within(std::chrono::seconds(30), [&] { return held().threads <= most; });
  CHECK(held().threads <= most);
}

// Checks that no more is held than `before`.
inline void check_nothing_left(const Held& before) {
  check_threads(before.threads);
  CHECK(held().descriptors <= before.descriptors);
}

}  // namespace runnel
