// Ops on strings: what a sharded saver's file names are made of. Leaves out the rest of TensorFlow's string
// family.
#pragma once

#include <string>

#include "graph/dataflow.h"

namespace runnel {

struct StringJoinOptions {
  std::string separator = "";
  std::string name = "StringJoin";
  Location where = Location::here();
};

// The strings of `inputs` one after another, element by element.
//
//   inputs   string[...], all of one shape; a scalar is repeated
//   returns  string[...]
//   errors   InvalidArgument if two inputs that are no scalars have different shapes, or there are none
//   grad     none
//   source   TensorFlow "StringJoin"
Output string_join(const Outputs& inputs, StringJoinOptions options = {});

struct RegexFullMatchOptions {
  std::string name = "StaticRegexFullMatch";
  Location where = Location::here();
};

// Whether a whole string matches `pattern`, for each element.
//
//   input    string[...]
//   pattern  in RE2's syntax (https://github.com/google/re2/wiki/Syntax)
//   returns  bool[...]
//   errors   InvalidArgument for what is no pattern, and for one that would take megabytes: from
//            Session::run
//   grad     none
//   source   TensorFlow "StaticRegexFullMatch"
Output regex_full_match(Output input, const std::string& pattern, RegexFullMatchOptions options = {});

}  // namespace runnel
