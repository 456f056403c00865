// A place in the user's program: the file and line that made a node. Every builder takes one as its last
// option with `Location::here()` as default, so that an error can point at the line that is wrong. clang 14
// lacks std::source_location, hence the builtins.
#pragma once

namespace runnel {

struct Location {
  const char* file = "";
  int line = 0;  // 0: unknown, as for nodes that came out of a file

  static constexpr Location here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  bool known() const { return line > 0; }
};

}  // namespace runnel
