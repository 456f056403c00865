// An argument with three states, as the services of TensorFlow have them: left at its default (USE_DEFAULT),
// switched off (None), or given. `Setting<Output> summary_op;` is the default; `summary_op = none` asks for
// none, `summary_op = x` for x. An optional tells only two of them apart.
#pragma once

#include <concepts>
#include <utility>
#include <variant>

#include "graph/error.h"

namespace runnel {

struct UseDefault {};
inline constexpr UseDefault use_default{};
struct None {};
inline constexpr None none{};

// A value of one of the three states; copies what T copies.
template <class T>
class Setting {
 public:
  Setting() = default;  // the default
  Setting(UseDefault) {}
  Setting(None) : value_(None{}) {}
  template <class U>
  requires std::convertible_to<U&&, T> Setting(U&& value)
      : value_(std::in_place_type<T>, std::forward<U>(value)) {}

  bool is_default() const { return std::holds_alternative<UseDefault>(value_); }
  bool is_none() const { return std::holds_alternative<None>(value_); }
  bool has_value() const { return std::holds_alternative<T>(value_); }
  // Requires: has_value(); throws FailedPrecondition otherwise.
  const T& value() const {
    if (const T* given = std::get_if<T>(&value_)) return *given;
    throw FailedPrecondition(
        cat("Setting: it is ", is_none() ? "none" : "left at its default", "; ask has_value() first"));
  }
  // What is given, or `other` for both other states.
  T value_or(T other) const { return has_value() ? std::get<T>(value_) : std::move(other); }

 private:
  std::variant<UseDefault, None, T> value_;
};

}  // namespace runnel
