// Summary ops: nodes that turn a tensor into a serialized Summary, which FileWriter::add_summary writes.
// Names, tags and collections are those of tf.summary (formats 7.1). Those of pictures, sounds, tensors and
// texts are in media_ops.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/location.h"
#include "ops/operand.h"

namespace runnel::summary {

struct SummaryOptions {
  std::optional<std::vector<std::string>> collections = std::nullopt;  // not given: keys::kSummaries
  std::string family = "";  // groups tags in TensorBoard: tag and node are named "family/..."
  Location where = Location::here();
};

struct HistogramOptions {
  std::optional<std::vector<std::string>> collections = std::nullopt;
  std::string family = "";
  bool strict = false;  // NaN and infinities stop the step, as in TensorFlow
  Location where = Location::here();
};

struct MergeOptions {
  std::vector<std::string> collections = {};
  std::string name = "";
  Location where = Location::here();
};

struct MergeAllOptions {
  std::string key = keys::kSummaries;
  std::string scope = "";  // a regular expression (RE2's) that names must begin with
  std::string name = "";
  Location where = Location::here();
};

// A number as one point of a curve. The tag is the node's full name, which is `name` inside the current
// scope, made unique; characters that no name may hold become '_'.
//
//   name     of node and tag
//   tensor   T[]
//   returns  string[]: a serialized Summary
//   T        any real number; the value is stored as float
//   errors   InvalidArgument if the tensor is known to be no scalar: here, else from Session::run
//   grad     none: a string has no derivative
//   source   TensorFlow "ScalarSummary", tf.summary.scalar
Output scalar(std::string_view name, Operand tensor, SummaryOptions options = {});

// The distribution of a tensor's elements, under TensorFlow's limits (histogram.h). NaN and infinities are
// left out and logged once a plan, unless strict.
//
//   name     of node and tag
//   values   T[...]
//   returns  string[]: a serialized Summary
//   T        any real number
//   errors   InvalidArgument with tag and counts from Session::run, if strict and not all elements are finite
//   grad     none: a string has no derivative
//   source   TensorFlow "HistogramSummary", tf.summary.histogram
Output histogram(std::string_view name, Operand values, HistogramOptions options = {});

// All values of several summaries as one.
//
//   inputs   string[] each: serialized Summaries
//   returns  string[]
//   errors   InvalidArgument if there are none; from Session::run if a tag occurs twice
//   grad     none: a string has no derivative
//   source   TensorFlow "MergeSummary", tf.summary.merge
Output merge(const Outputs& inputs, MergeOptions options = {});

// All summaries of the collection as one; an empty Output if there are none.
//
//   returns  string[]
//   errors   InvalidArgument if the collection holds something else than tensors, or `scope` is no regular
//            expression
//   source   tf.summary.merge_all
Output merge_all(Graph& graph, MergeAllOptions options = {});

}  // namespace runnel::summary
