// The one exception family of Runnel. An Error holds a code (TensorFlow's codes and names), a one-line
// message, the node it speaks of and the place that made that node. Each code is a class of its own, so that
// `catch` and tests read well. Op and kernel code throws what is wrong; Graph::add and the executor add which
// node (`at_node`).
#pragma once

#include <exception>
#include <sstream>
#include <string>

#include "graph/location.h"

namespace runnel {

// TensorFlow's error codes, same numbers.
enum class Code {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};

// The code's name as classes and logs spell it: "InvalidArgument".
const char* name_of(Code code);

// What went wrong, in one line. Immutable; copies share nothing.
class Error : public std::exception {
 public:
  Error(Code code, std::string message, Location where = {}, std::string node = "");

  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const { return message_; }
  Code code() const { return code_; }
  const std::string& node() const { return node_; }  // name of the node, empty if none is concerned
  Location where() const { return where_; }          // the line that made the node, if known

 private:
  std::string message_;
  std::string node_;
  Code code_;
  Location where_;
};

template <Code C>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(std::string message, Location where = {}, std::string node = "")
      : Error(C, std::move(message), where, std::move(node)) {}
};

using Cancelled = ErrorOf<Code::kCancelled>;
using Unknown = ErrorOf<Code::kUnknown>;
using InvalidArgument = ErrorOf<Code::kInvalidArgument>;
using DeadlineExceeded = ErrorOf<Code::kDeadlineExceeded>;
using NotFound = ErrorOf<Code::kNotFound>;
using AlreadyExists = ErrorOf<Code::kAlreadyExists>;
using PermissionDenied = ErrorOf<Code::kPermissionDenied>;
using ResourceExhausted = ErrorOf<Code::kResourceExhausted>;
using FailedPrecondition = ErrorOf<Code::kFailedPrecondition>;
using Aborted = ErrorOf<Code::kAborted>;
using OutOfRange = ErrorOf<Code::kOutOfRange>;
using Unimplemented = ErrorOf<Code::kUnimplemented>;
using Internal = ErrorOf<Code::kInternal>;
using Unavailable = ErrorOf<Code::kUnavailable>;
using DataLoss = ErrorOf<Code::kDataLoss>;

// Throws the class that belongs to `code`.
[[noreturn]] void throw_error(Code code, std::string message, Location where = {}, std::string node = "");

// Throws `error` again with "OP 'NODE': " in front, as the same class. An error that names a node already
// goes on unchanged.
[[noreturn]] void throw_at_node(const Error& error, const std::string& op, const std::string& node,
                                Location where);

// The parts written one after another, as `<<` writes them: cat("rank ", 3) is "rank 3".
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

}  // namespace runnel
