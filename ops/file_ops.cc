// Specs and builders of ReadFile and MatchingFiles. Both look at what a step cannot know, so they are
// computed in every step, before it locks a variable, as what may wait is.
#include "ops/file_ops.h"

#include <utility>

#include "graph/op_spec.h"
#include "ops/variables.h"

namespace runnel {
namespace {

const OpRegistration kReadFile{{
    .name = "ReadFile",
    .inputs = {"filename: string"},
    .outputs = {"contents: string"},
    .attrs = {},
    .shape = [](const ShapeContext& c) -> Shapes { return c.input("filename", Rank{0}); },
    .gradient = Gradient::none("reads a file"),
    .traits = {.may_park = true},
}};

const OpRegistration kMatchingFiles{{
    .name = "MatchingFiles",
    .inputs = {"pattern: string"},
    .outputs = {"filenames: string"},
    .attrs = {},
    .shape = [](const ShapeContext& c) -> Shapes {
      if (c.input("pattern").rank() > 1) c.refuse("the patterns are neither a scalar nor a vector");
      return Shape{kUnknown};
    },
    .gradient = Gradient::none("lists files"),
    .traits = {.may_park = true},
}};

}  // namespace

Output read_file_contents(Output filename, OpOptions o) {
  return filename.graph().add("ReadFile", {filename}, {}, o.name, o.where);
}

Output matching_files(Output pattern, OpOptions o) {
  return pattern.graph().add("MatchingFiles", {pattern}, {}, o.name, o.where);
}

Variable match_filenames_once(Graph& graph, const std::vector<std::string>& patterns,
                              MatchFilenamesOnceOptions o) {
  NameScope scope(graph, o.name.empty() ? "matching_filenames" : o.name);
  Output found;
  {
    NameScope inner(graph, "MatchingFiles");
    const Tensor value = patterns.size() == 1 ? Tensor::scalar(patterns[0]) : Tensor::vector(patterns);
    const Output pattern = constant(graph, value, {.name = "pattern", .where = o.where});
    found = matching_files(pattern, {.name = inner.name(), .where = o.where});
  }
  return variable(found, scope.name(),
                  {.trainable = false,
                   .collections = {keys::kLocalVariables},
                   .validate_shape = false,
                   .where = o.where});
}

}  // namespace runnel
