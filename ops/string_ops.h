// Ops on strings: joining, splitting, matching. Numbers out of strings are in parsing_ops.h. Leaves out the
// rest of TensorFlow's string family.
#pragma once

#include <cstdint>
#include <string>

#include "graph/dataflow.h"
#include "ops/sparse_tensor.h"

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

struct StringSplitOptions {
  bool skip_empty = true;  // false: also the empty tokens between two delimiters
  std::string name = "StringSplit";
  Location where = Location::here();
};

// The tokens of each string, cut at every character of `delimiter`; "" cuts between all bytes.
//
//   input    string[n]
//   returns  sparse string[n, most tokens]; an empty string has none
//   errors   InvalidArgument if input is no vector
//   grad     none
//   source   TensorFlow "StringSplit", tf.string_split
SparseTensor string_split(Output input, const std::string& delimiter = " ", StringSplitOptions options = {});

struct StringSplitV2Options {
  std::int64_t maxsplit = -1;  // cuts at most; negative: all
  std::string name = "StringSplitV2";
  Location where = Location::here();
};

// The tokens of each string, cut at the whole of `separator`; "" cuts at runs of blanks, as Python's split
// does.
//
//   input    string[n]
//   returns  sparse string[n, most tokens]
//   errors   InvalidArgument if input is no vector
//   grad     none
//   source   TensorFlow "StringSplitV2"
SparseTensor string_split_v2(Output input, const std::string& separator = "",
                             StringSplitV2Options options = {});

}  // namespace runnel
