// Comparing, the table, reading and assigning.
#include "train/checkpoint/restore_plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include "graph/runtime/variable_values.h"
#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/renamed_entries.h"
#include "train/checkpoint/similar_names.h"
#include "train/checkpoint/value_cast.h"

namespace runnel {
namespace {

constexpr std::size_t kUnusedShown = 20;
constexpr std::size_t kSuggested = 50;  // missing names that near ones are looked for

const Shape& shape_of(const RestoredTensor& wanted) {
  return wanted.slice ? wanted.slice->full : wanted.shape;
}

bool has_same_elements(const RestoredTensor& wanted, const Shape& stored) {
  return !wanted.slice && wanted.shape.is_known() && wanted.shape.elements() == stored.elements();
}

bool shape_fits(const RestoredTensor& wanted, const Shape& stored, bool reshape) {
  if (wanted.slice) return wanted.slice->full == stored;
  if (wanted.reshapes) return !wanted.shape.is_known() || has_same_elements(wanted, stored);
  return wanted.shape.compatible_with(stored) || (reshape && has_same_elements(wanted, stored));
}

bool dtype_fits(const RestoredTensor& wanted, DType stored, bool cast) {
  return stored == wanted.dtype || (cast && can_cast(stored, wanted.dtype));
}

std::string wanted_text(const RestoredTensor& wanted) {
  const std::string of =
      wanted.variable == wanted.key ? "" : cat(" (variable ", quoted(wanted.variable), ")");
  return cat("wanted ", wanted.dtype, shape_of(wanted), of);
}

// What differs, and the option under which it would not.
std::string mismatch_line(const RestoredTensor& wanted, const VariableInfo& stored) {
  std::string text = cat("\n  ", quoted(wanted.key), ": stored ", stored.dtype, stored.shape);
  if (stored.name != wanted.key) text += cat(" (as ", quoted(stored.name), ")");
  text += cat(", ", wanted_text(wanted));
  if (!dtype_fits(wanted, stored.dtype, false) && can_cast(stored.dtype, wanted.dtype))
    text += "; .cast converts it";
  if (!shape_fits(wanted, stored.shape, false) && shape_fits(wanted, stored.shape, true))
    text += "; .reshape fits it";
  return text;
}

std::string missing_line(const RestoredTensor& wanted, const std::vector<std::string>& among) {
  std::string text = cat("\n  ", quoted(wanted.key), ": not stored, ", wanted_text(wanted));
  const char* before = "; perhaps it is ";
  for (const std::string& name : similar_names(wanted.key, among)) {
    text += before + quoted(name);
    before = " or ";
  }
  return text;
}

std::string unused_lines(const CheckpointReader& reader, const std::vector<std::string>& unused) {
  std::string text;
  for (std::size_t i = 0; i < std::min(unused.size(), kUnusedShown); ++i) {
    const VariableInfo& stored = reader.info(unused[i]);
    text += cat("\n  ", quoted(stored.name), ": stored ", stored.dtype, stored.shape, ", not wanted");
  }
  if (unused.size() > kUnusedShown)
    text += cat("\n  and ", unused.size() - kUnusedShown, " more that are not wanted");
  return text;
}

struct Differences {
  std::vector<const RestoredTensor*> missing;
  std::vector<std::pair<const RestoredTensor*, const VariableInfo*>> mismatched;
};

[[noreturn]] void refuse(const CheckpointReader& reader, const Differences& found,
                         const std::vector<std::string>& unused) {
  std::vector<std::pair<std::string, std::string>> lines;  // with the key they are sorted by
  const std::vector<std::string> none;
  for (std::size_t i = 0; i < found.missing.size(); ++i)
    lines.emplace_back(found.missing[i]->key,
                       missing_line(*found.missing[i], i < kSuggested ? unused : none));
  for (const auto& [tensor, stored] : found.mismatched)
    lines.emplace_back(tensor->key, mismatch_line(*tensor, *stored));
  std::ranges::stable_sort(lines, {}, &std::pair<std::string, std::string>::first);
  std::string text = cat("checkpoint '", reader.prefix(), "' does not fit the graph; nothing was restored:");
  for (const auto& line : lines) text += line.second;
  text += unused_lines(reader, unused);
  if (!found.missing.empty())
    text += "\nrestore with {.partial = true} to leave what is missing as it is, or give .rename";
  throw_error(found.missing.empty() ? Code::kInvalidArgument : Code::kNotFound, text);
}

void require_met(const RenamedEntries::Renames& unmet) {
  if (unmet.empty()) return;
  const auto& [from, to] = unmet[0];
  throw InvalidArgument(cat("cannot rename ", quoted(from), " to ", quoted(to),
                            to.ends_with('/') ? ": no variable to restore has a name of that scope that fits"
                                              : ": no variable to restore is called so"));
}

// Each once. Requires: sorted.
std::vector<std::string> distinct(std::vector<std::string> names) {
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Those of the session that share a large kernel; none if it has no more than the caller's.
RunAll threads_of(Session& session) {
  Engine& engine = *session.engine();
  if (!engine.pool()) return {};
  return [&engine](std::int64_t n, const std::function<void(std::int64_t)>& body) {
    if (n == 1) return body(0);
    engine.pool()->for_ranges(
        n, 1, [&body](std::int64_t i, std::int64_t) { body(i); }, engine.kernel_threads());
  };
}

}  // namespace

RestorePlan::RestorePlan(const CheckpointReader& reader, const RestoredTensors& wanted,
                         const RestoreOptions& options)
    : reader_(reader), operation_does_more_(!wanted.all) {
  if (options.skip_mismatched && !options.partial)
    throw InvalidArgument(".skip_mismatched leaves variables out: say .partial = true too");
  const std::vector<VariableInfo>& variables = reader.variables();
  const RenamedEntries entries(variables, options.rename, reader.prefix());
  Differences found;
  std::vector<std::string> keys;
  std::vector<bool> used(variables.size());
  std::size_t place = 0;
  reads_.reserve(wanted.list.size());
  for (const RestoredTensor& tensor : wanted.list) {
    keys.push_back(tensor.key);
    const VariableInfo* stored = entries.find(tensor.key, place);
    if (!stored) {
      found.missing.push_back(&tensor);
      continue;
    }
    used[static_cast<std::size_t>(stored - variables.data())] = true;
    if (dtype_fits(tensor, stored->dtype, options.cast) &&
        shape_fits(tensor, stored->shape, options.reshape)) {
      reads_.push_back({&tensor, stored});
    } else {
      found.mismatched.emplace_back(&tensor, stored);
    }
  }
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (!used[i]) report_.unused.push_back(variables[i].name);
  require_met(entries.unmet(keys));
  if ((!found.missing.empty() && !options.partial) || (!found.mismatched.empty() && !options.skip_mismatched))
    refuse(reader, options.partial ? Differences{{}, found.mismatched} : found, report_.unused);
  for (const Read& read : reads_) report_.restored.push_back(read.into->key);
  for (const RestoredTensor* tensor : found.missing) report_.missing.push_back(tensor->key);
  for (const auto& [tensor, stored] : found.mismatched) report_.mismatched.push_back(tensor->key);
  for (auto* names : {&report_.restored, &report_.missing, &report_.mismatched})
    *names = distinct(std::move(*names));
}

void RestorePlan::run(Session& session, const SaverNodes& nodes) const {
  if (operation_does_more_) return run_operation(session, nodes);
  std::vector<Tensor> read = values(threads_of(session));
  std::vector<VariableValue> given;
  given.reserve(reads_.size());
  for (std::size_t i = 0; i < reads_.size(); ++i) given.push_back({reads_[i].into->node, std::move(read[i])});
  set_variables(*session.engine(), given);
}

// All that is planned, checked and converted. Values of another dtype are read one at a time, so that no more
// than one is there twice.
std::vector<Tensor> RestorePlan::values(const RunAll& run_all) const {
  std::vector<TensorRequest> requests;
  std::vector<std::size_t> places;
  std::vector<Tensor> out(reads_.size());
  requests.reserve(reads_.size());
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const auto& [into, stored] = reads_[i];
    TensorRequest request{stored->name, {}};
    if (into->slice) request.slice = into->slice->slice;
    if (stored->dtype == into->dtype) {
      requests.push_back(std::move(request));
      places.push_back(i);
    } else {
      out[i] = fitted(reads_[i], std::move(reader_.read({&request, 1}, run_all)[0]));
    }
  }
  std::vector<Tensor> read = reader_.read(requests, run_all);
  for (std::size_t k = 0; k < places.size(); ++k)
    out[places[k]] = fitted(reads_[places[k]], std::move(read[k]));
  return out;
}

// Of the variable's dtype and shape.
Tensor RestorePlan::fitted(const Read& one, Tensor value) const {
  const RestoredTensor& into = *one.into;
  if (value.dtype() != into.dtype) value = cast_value(value, into.dtype, one.stored->name);
  const bool as_it_is = into.slice || !into.shape.is_known() || value.shape() == into.shape;
  return as_it_is ? value : value.reshaped(into.shape);
}

// True if running the restore operation assigns what is planned, or nothing: one node then reads everything
// before anything is assigned.
bool RestorePlan::restored_by_operation() const {
  if (!report_.missing.empty() || !report_.mismatched.empty()) return false;
  return std::ranges::all_of(reads_, [&](const Read& one) {
    const RestoredTensor& into = *one.into;
    return one.stored->name == into.key && one.stored->dtype == into.dtype &&
           shape_fits(into, one.stored->shape, false) && &into.value.node() == &reads_[0].into->value.node();
  });
}

// Values that the operation would not read so itself are fed to it; in part, only assignments run.
void RestorePlan::run_operation(Session& session, const SaverNodes& nodes) const {
  const Feed prefix{nodes.filename, Tensor::scalar(reader_.prefix())};
  if (restored_by_operation()) {
    session.run(nodes.restore, {prefix});
    return;
  }
  if (reads_.empty()) return;
  const std::vector<Tensor> read = values(threads_of(session));
  std::vector<Feed> feeds{prefix};
  std::vector<Fetch> assigns;
  std::set<std::pair<const Node*, int>> fed;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const Output value = reads_[i].into->value;
    if (fed.emplace(&value.node(), value.index()).second) feeds.push_back({value, read[i]});
    assigns.emplace_back(reads_[i].into->assign);
  }
  if (report_.missing.empty() && report_.mismatched.empty()) assigns = {nodes.restore};
  session.run(assigns, feeds);
}

std::string RestoreReport::text() const {
  std::string out = cat("restored ", restored.size(), restored.size() == 1 ? " variable" : " variables");
  if (!missing.empty()) out += cat("; not in the file, left as they were: ", name_some(missing));
  if (!mismatched.empty())
    out += cat("; of another shape or dtype in the file, left as they were: ", name_some(mismatched));
  if (!unused.empty()) out += cat("; unused: ", name_some(unused));
  return out;
}

}  // namespace runnel
