// How a failed check prints what doctest by itself does not: vectors and pairs as "[1, 2]" and "(a, 1)",
// which are "{?}" otherwise, and C strings, which are addresses. tests/meson.build includes this before every
// unit test source, so that all print alike.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace doctest {

template <>
struct StringMaker<const char*> {
  static String convert(const char* text) { return text ? text : "null"; }
};

template <class A, class B>
struct StringMaker<std::pair<A, B>> {
  static String convert(const std::pair<A, B>& pair) {
    return "(" + toString(pair.first) + ", " + toString(pair.second) + ")";
  }
};

template <class T, class Allocator>
struct StringMaker<std::vector<T, Allocator>> {
  static constexpr std::size_t kMost = 1000;  // elements; a log with more is not read

  static String convert(const std::vector<T, Allocator>& values) {
    String out = "[";
    for (std::size_t i = 0; i < values.size() && i < kMost; ++i) {
      const T& value = values[i];
      if (i > 0) out += ", ";
      out += toString(value);
    }
    if (values.size() > kMost) out += ", ... of " + toString(values.size());
    return out + "]";
  }
};

}  // namespace doctest
