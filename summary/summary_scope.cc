// The scope is opened before anything is made in it: TensorFlow numbers names in that order.
#include "summary/summary_scope.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/array_ops.h"

namespace runnel {
namespace {

std::string scope_name(const char* op, const SummaryName& name, const std::string& family) {
  const std::string cleaned = cleaned_summary_name(name.name);
  if (cleaned.empty()) throw InvalidArgument(cat(op, ": the name is empty"), name.where);
  return family.empty() ? cleaned : family + "/" + cleaned;
}

}  // namespace

std::string cleaned_summary_name(std::string_view name) {
  std::string out(name);
  const auto refused = [](unsigned char c) { return c < 128 && !std::isalnum(c) && !std::strchr("-/_.", c); };
  std::replace_if(out.begin(), out.end(), refused, '_');
  out.erase(0, std::min(out.find_first_not_of('/'), out.size()));
  if (out != name) log_info(cat("summary name '", name, "' cannot name a node; '", out, "' is used"));
  return out;
}

void collect_summary(Output summary, const std::vector<std::string>& collections) {
  for (const std::string& key : collections) summary.graph().add_to_collection(key, summary);
}

SummaryScope::SummaryScope(Graph& graph, const char* op, SummaryName name)
    : SummaryScope(graph, op, name, cleaned_summary_name(name.family)) {}

SummaryScope::SummaryScope(Graph& graph, const char* op, SummaryName name, const std::string& family)
    : graph_(graph), op_(op), name_(std::move(name)), scope_(graph, scope_name(op, name_, family)) {
  const std::string full = scope_.name().substr(0, scope_.name().size() - 1);
  tag_ = family.empty() ? full : family + "/" + full;
}

Output SummaryScope::text(const char* name, std::string value) const {
  return constant(graph_, Tensor::scalar(std::move(value)), {.name = name, .where = name_.where});
}

Output SummaryScope::add(const std::vector<Argument>& inputs, const Attrs& attrs) const {
  const Output out = graph_.add(op_, inputs, attrs, scope_.name(), name_.where);
  collect_summary(out, name_.collections.value_or(std::vector<std::string>{keys::kSummaries}));
  return out;
}

}  // namespace runnel
