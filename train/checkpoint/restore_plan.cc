// Comparing, the table, and assigning through fed values.
#include "train/checkpoint/restore_plan.h"

#include <algorithm>
#include <optional>
#include <set>

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
  std::vector<std::pair<const RestoredTensor*, std::string>> mismatched;  // with the name in the file
};

[[noreturn]] void refuse(const CheckpointReader& reader, const Differences& found,
                         const std::vector<std::string>& unused) {
  std::vector<std::pair<std::string, std::string>> lines;  // with the key they are sorted by
  const std::vector<std::string> none;
  for (std::size_t i = 0; i < found.missing.size(); ++i)
    lines.emplace_back(found.missing[i]->key,
                       missing_line(*found.missing[i], i < kSuggested ? unused : none));
  for (const auto& [tensor, stored] : found.mismatched)
    lines.emplace_back(tensor->key, mismatch_line(*tensor, reader.info(stored)));
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

// Sorted, each once.
std::vector<std::string> distinct(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

RestorePlan::RestorePlan(const CheckpointReader& reader, const std::vector<RestoredTensor>& wanted,
                         const RestoreOptions& options)
    : reader_(reader) {
  if (options.skip_mismatched && !options.partial)
    throw InvalidArgument(".skip_mismatched leaves variables out: say .partial = true too");
  const RenamedEntries entries(reader.variables(), options.rename, reader.prefix());
  Differences found;
  std::vector<std::string> keys;
  std::set<std::string> used;
  for (const RestoredTensor& tensor : wanted) {
    keys.push_back(tensor.key);
    const std::string* name = entries.find(tensor.key);
    if (!name) {
      found.missing.push_back(&tensor);
      continue;
    }
    used.insert(*name);
    const VariableInfo& stored = reader.info(*name);
    if (dtype_fits(tensor, stored.dtype, options.cast) && shape_fits(tensor, stored.shape, options.reshape)) {
      reads_.push_back({&tensor, *name});
    } else {
      found.mismatched.emplace_back(&tensor, *name);
    }
  }
  for (const VariableInfo& variable : reader.variables())
    if (!used.contains(variable.name)) report_.unused.push_back(variable.name);
  require_met(entries.unmet(keys));
  if ((!found.missing.empty() && !options.partial) || (!found.mismatched.empty() && !options.skip_mismatched))
    refuse(reader, options.partial ? Differences{{}, found.mismatched} : found, report_.unused);
  for (const Read& read : reads_) report_.restored.push_back(read.into->key);
  for (const RestoredTensor* tensor : found.missing) report_.missing.push_back(tensor->key);
  for (const auto& [tensor, name] : found.mismatched) report_.mismatched.push_back(tensor->key);
  for (auto* names : {&report_.restored, &report_.missing, &report_.mismatched})
    *names = distinct(std::move(*names));
}

// True if running the restore operation assigns what is planned, or nothing: one node then reads everything
// before anything is assigned.
bool RestorePlan::restored_by_operation() const {
  if (!report_.missing.empty() || !report_.mismatched.empty()) return false;
  return std::ranges::all_of(reads_, [&](const Read& one) {
    const RestoredTensor& into = *one.into;
    const VariableInfo& stored = reader_.info(one.stored);
    return one.stored == into.key && stored.dtype == into.dtype && shape_fits(into, stored.shape, false) &&
           &into.value.node() == &reads_[0].into->value.node();
  });
}

Tensor RestorePlan::read(const Read& one) const {
  const RestoredTensor& into = *one.into;
  const Tensor stored = into.slice ? reader_.read(one.stored, into.slice->slice) : reader_.read(one.stored);
  const Tensor value = cast_value(stored, into.dtype, one.stored);
  return !into.slice && !shape_fits(into, value.shape(), false) ? value.reshaped(into.shape) : value;
}

void RestorePlan::run(Session& session, const SaverNodes& nodes) const {
  const Feed prefix{nodes.filename, Tensor::scalar(reader_.prefix())};
  if (restored_by_operation()) {
    session.run(nodes.restore, {prefix});
    return;
  }
  const bool all = report_.missing.empty() && report_.mismatched.empty();
  std::vector<Feed> feeds{prefix};
  std::vector<Fetch> assigns;
  std::set<std::pair<const Node*, int>> fed;
  for (const Read& one : reads_) {
    const Output value = one.into->value;
    if (fed.emplace(&value.node(), value.index()).second) feeds.push_back({value, read(one)});
    assigns.emplace_back(one.into->assign);
  }
  if (all) assigns = {nodes.restore};
  if (!reads_.empty()) session.run(assigns, feeds);
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
