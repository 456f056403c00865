// Classes are told by typeid, not by base: an exception of a class derived by a user must reach them as that
// class.
#include "train/supervisor/carried_error.h"

#include <algorithm>
#include <stdexcept>
#include <typeinfo>

#include "graph/log.h"

namespace runnel {
namespace {

// Throws E(text) if `error` is exactly an E.
template <class E>
void throw_if(const std::exception& error, const std::string& text) {
  if (typeid(error) == typeid(E)) throw E(text);
}

void throw_standard(const std::exception& error, const std::string& text) {
  throw_if<std::runtime_error>(error, text);
  throw_if<std::logic_error>(error, text);
  throw_if<std::invalid_argument>(error, text);
  throw_if<std::domain_error>(error, text);
  throw_if<std::length_error>(error, text);
  throw_if<std::out_of_range>(error, text);
  throw_if<std::range_error>(error, text);
  throw_if<std::overflow_error>(error, text);
  throw_if<std::underflow_error>(error, text);
}

// Throws the library's error of the same code with `text`, if that is exactly the class of `error`.
void throw_own(const Error& error, const std::string& text) {
  try {
    throw_error(error.code(), text, error.where(), error.node());
  } catch (const Error& made) {
    if (typeid(made) == typeid(error)) throw;
  }
}

}  // namespace

std::string text_of(const std::exception_ptr& error) {
  std::string text = "an exception of an unknown class";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    text = known.what();
  } catch (...) {  // the text above says so
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::optional<Code> code_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return known.code();
  } catch (...) {
    return std::nullopt;
  }
}

void rethrow_with(const std::exception_ptr& error, const std::string& more) {
  if (more.empty()) std::rethrow_exception(error);
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    throw_own(known, known.message() + more);
  } catch (const std::exception& known) {
    throw_standard(known, known.what() + more);
  } catch (...) {  // thrown as it is below
  }
  log_warning(text_of(error) + more);
  std::rethrow_exception(error);
}

}  // namespace runnel
