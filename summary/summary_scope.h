// How the summary builders name what they make: a scope of the cleaned name, the tag as a constant in it, the
// summary node named as the scope, entries in collections. Source: formats 7.1.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/location.h"

namespace runnel {

// The name as TensorFlow cleans it, with a line in the log if that changes it; a byte above 127 stays and is
// refused as a node name.
std::string cleaned_summary_name(std::string_view name);

void collect_summary(Output summary, const std::vector<std::string>& collections);

struct SummaryName {
  std::string name, family;
  std::optional<std::vector<std::string>> collections;  // not given: keys::kSummaries
  Location where;
};

// While it lives, nodes are made in the scope of one summary.
class [[nodiscard]] SummaryScope {
 public:
  // Throws InvalidArgument, beginning with `op`, for a name of which nothing is left.
  SummaryScope(Graph& graph, const char* op, SummaryName name);

  const std::string& tag() const { return tag_; }
  Output text(const char* name, std::string value) const;  // a constant
  // The summary itself, in its collections.
  Output add(const std::vector<Argument>& inputs, const Attrs& attrs) const;

 private:
  SummaryScope(Graph& graph, const char* op, SummaryName name, const std::string& family);

  Graph& graph_;
  const char* op_;
  SummaryName name_;
  NameScope scope_;
  std::string tag_;
};

}  // namespace runnel
