// What a call throws, as text to compare. One that throws nothing, or another class, gives a text that no
// error has.
#pragma once

#include <exception>
#include <string>

#include "graph/error.h"

namespace runnel {

// what() of whatever `call` throws; empty if it throws nothing.
template <class Call>
std::string what_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// The message of the error of class E that `call` throws.
template <class E, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.message();
  }
  return "no error of this class";
}

// "NotFound: message" of the error that `call` throws.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return cat(name_of(error.code()), ": ", error.message());
  }
  return "no error";
}

}  // namespace runnel
