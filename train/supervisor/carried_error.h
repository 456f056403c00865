// What a std::exception_ptr carries from one thread to another, whatever its class: its text on one line, its
// code if it is one of the library's, and throwing it again with more said.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "graph/error.h"

namespace runnel {

// "device is gone", or "an exception of an unknown class". Requires: error is not null.
std::string text_of(const std::exception_ptr& error);

// The code of a runnel::Error; none for every other exception.
std::optional<Code> code_of(const std::exception_ptr& error);

// Throws `error` again with `more` behind its text, as the same class with the same code, node and place. An
// exception of a class that cannot be made from a text (neither of the Error family nor a plain standard one)
// goes on as it is, and `more` is logged as a warning.
[[noreturn]] void rethrow_with(const std::exception_ptr& error, const std::string& more);

}  // namespace runnel
