// Why training stopped, for programs and for people: every stop has one, and the first one counts. A program
// ends with `return coord.stop_reason().exit_code();`.
#pragma once

#include <exception>
#include <string>

namespace runnel {

enum class StopCause { kNone, kRequested, kStepsReached, kInputExhausted, kSignal, kHook, kError };

// "none", "requested", "steps reached", "input exhausted", "signal", "hook", "error".
const char* name_of(StopCause cause);

// A value; copies share the exception.
struct StopReason {
  StopCause cause = StopCause::kNone;
  std::string text =
      "";          // one line for a person: "input exhausted: FIFOQueue 'input_producer' is closed and ..."
  int signal = 0;  // of kSignal
  std::exception_ptr error = nullptr;  // of kError and kInputExhausted

  // True for every end that was meant: all but kSignal and kError.
  bool normal() const { return cause != StopCause::kSignal && cause != StopCause::kError; }
  // What a program returns: 0 for a normal end, 128 + signal, 1 for an error.
  int exit_code() const;
};

}  // namespace runnel
