// Files by name: their bytes, and which there are.
#pragma once

#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "ops/operand.h"

namespace runnel {

// The bytes of a file.
//
//   filename  string[]
//   returns   string[]
//   errors    NotFound and the like, InvalidArgument for one of 2 GB or more: from Session::run
//   grad      none
//   source    TensorFlow "ReadFile", tf.read_file
Output read_file_contents(Output filename, OpOptions options = {});

// The names of the files and directories that match any of the patterns, sorted; one that matches two is
// there twice. '*' stands for any characters, '?' for one, "[a-c]" for one of a set; none matches '/'.
//
//   pattern  string[] or string[n]
//   returns  string[?]
//   errors   InvalidArgument for other ranks
//   grad     none
//   source   TensorFlow "MatchingFiles"
Output matching_files(Output pattern, OpOptions options = {});

struct MatchFilenamesOnceOptions {
  std::string name = "matching_filenames";
  Location where = Location::here();
};

// The same, kept in a local variable of that name: what was there when it was initialised.
//
//   source   tf.train.match_filenames_once
Variable match_filenames_once(Graph& graph, const std::vector<std::string>& patterns,
                              MatchFilenamesOnceOptions options = {});

}  // namespace runnel
