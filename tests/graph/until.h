// Waiting in a test until another thread has come so far: bounded in real time, so that a test whose wait is
// in vain fails with its place instead of hanging.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "graph/location.h"

namespace runnel {

// Lets other threads run until `condition()`; false if that did not come within `limit`.
template <class Condition>
bool within(std::chrono::seconds limit, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Lets other threads run until `condition()`; fails the test after two minutes. On a thread of its own that
// ends the program, with the test's name.
template <class Condition>
void until(Condition condition, Location where = Location::here()) {
  if (!within(std::chrono::minutes(2), condition))
    ADD_FAIL_AT(where.file, where.line, "what is waited for here has not come in two minutes");
}

}  // namespace runnel
