// Names of the error codes and the two throwers that keep code and class together.
#include "graph/error.h"

#include <utility>

namespace runnel {

const char* name_of(Code code) {
  switch (code) {
    case Code::kCancelled: return "Cancelled";
    case Code::kUnknown: return "Unknown";
    case Code::kInvalidArgument: return "InvalidArgument";
    case Code::kDeadlineExceeded: return "DeadlineExceeded";
    case Code::kNotFound: return "NotFound";
    case Code::kAlreadyExists: return "AlreadyExists";
    case Code::kPermissionDenied: return "PermissionDenied";
    case Code::kResourceExhausted: return "ResourceExhausted";
    case Code::kFailedPrecondition: return "FailedPrecondition";
    case Code::kAborted: return "Aborted";
    case Code::kOutOfRange: return "OutOfRange";
    case Code::kUnimplemented: return "Unimplemented";
    case Code::kInternal: return "Internal";
    case Code::kUnavailable: return "Unavailable";
    case Code::kDataLoss: return "DataLoss";
  }
  return "Unknown";
}

Error::Error(Code code, std::string message, Location where, std::string node)
    : message_(std::move(message)), node_(std::move(node)), code_(code), where_(where) {}

void throw_error(Code code, std::string message, Location where, std::string node) {
  switch (code) {
    case Code::kCancelled: throw Cancelled(std::move(message), where, std::move(node));
    case Code::kUnknown: throw Unknown(std::move(message), where, std::move(node));
    case Code::kInvalidArgument: throw InvalidArgument(std::move(message), where, std::move(node));
    case Code::kDeadlineExceeded: throw DeadlineExceeded(std::move(message), where, std::move(node));
    case Code::kNotFound: throw NotFound(std::move(message), where, std::move(node));
    case Code::kAlreadyExists: throw AlreadyExists(std::move(message), where, std::move(node));
    case Code::kPermissionDenied: throw PermissionDenied(std::move(message), where, std::move(node));
    case Code::kResourceExhausted: throw ResourceExhausted(std::move(message), where, std::move(node));
    case Code::kFailedPrecondition: throw FailedPrecondition(std::move(message), where, std::move(node));
    case Code::kAborted: throw Aborted(std::move(message), where, std::move(node));
    case Code::kOutOfRange: throw OutOfRange(std::move(message), where, std::move(node));
    case Code::kUnimplemented: throw Unimplemented(std::move(message), where, std::move(node));
    case Code::kInternal: throw Internal(std::move(message), where, std::move(node));
    case Code::kUnavailable: throw Unavailable(std::move(message), where, std::move(node));
    case Code::kDataLoss: throw DataLoss(std::move(message), where, std::move(node));
  }
  throw Unknown(std::move(message), where, std::move(node));
}

void throw_at_node(const Error& error, const std::string& op, const std::string& node, Location where) {
  if (!error.node().empty()) throw_error(error.code(), error.message(), error.where(), error.node());
  throw_error(error.code(), cat(op, " '", node, "': ", error.message()), where, node);
}

}  // namespace runnel
