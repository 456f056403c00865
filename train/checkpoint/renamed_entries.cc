// Each stored name is given its new ones, then they are looked up.
#include "train/checkpoint/renamed_entries.h"

#include <algorithm>
#include <set>

#include "graph/error.h"
#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/similar_names.h"

namespace runnel {
namespace {

using Rename = std::pair<std::string, std::string>;

bool is_scope(const std::string& name) { return name.ends_with('/'); }

// What names begin with in a scope: nothing in the root.
std::string start_of(const std::string& scope) { return scope == "/" ? "" : scope; }

void require_alike(const Rename& rename) {
  const auto& [from, to] = rename;
  if (!from.empty() && !to.empty() && is_scope(from) == is_scope(to)) return;
  throw InvalidArgument(cat("cannot rename ", quoted(from), " to ", quoted(to),
                            ": give two names, or two scopes such as 'old/' and 'new/' ('/' is the root)"));
}

// True if it is about the name.
bool matches(const Rename& rename, const std::string& name) {
  return is_scope(rename.first) ? name.starts_with(start_of(rename.first)) : name == rename.first;
}

std::string applied(const Rename& rename, const std::string& name) {
  if (!is_scope(rename.first)) return rename.second;
  return start_of(rename.second) + name.substr(start_of(rename.first).size());
}

[[noreturn]] void refuse_unknown(const Rename& rename, const std::vector<VariableInfo>& stored,
                                 const std::string& prefix) {
  std::vector<std::string> names;
  for (const VariableInfo& variable : stored) names.push_back(variable.name);
  std::string text = cat("cannot rename ", quoted(rename.first), ": checkpoint '", prefix,
                         is_scope(rename.first) ? "' has no name in that scope" : "' has no such name");
  for (const std::string& name : similar_names(rename.first, names))
    text += cat("; did you mean ", quoted(name), "?");
  throw InvalidArgument(text);
}

// How closely a rename is about a name: a whole name goes before any scope, a longer scope before a shorter.
std::size_t closeness(const Rename& rename) {
  return is_scope(rename.first) ? start_of(rename.first).size() : std::string::npos;
}

}  // namespace

RenamedEntries::RenamedEntries(const std::vector<VariableInfo>& stored, const Renames& renames,
                               const std::string& prefix)
    : stored_(stored), renames_(renames) {
  if (renames_.empty()) return;
  std::ranges::for_each(renames_, require_alike);
  std::set<std::size_t> met;
  for (const VariableInfo& variable : stored) {
    std::vector<std::size_t> about;
    for (std::size_t i = 0; i < renames_.size(); ++i)
      if (matches(renames_[i], variable.name)) about.push_back(i);
    met.insert(about.begin(), about.end());
    std::size_t closest = 0;
    for (const std::size_t i : about) closest = std::max(closest, closeness(renames_[i]));
    for (const std::size_t i : about)
      if (closeness(renames_[i]) == closest) add(applied(renames_[i], variable.name), {&variable, i});
    if (about.empty()) add(variable.name, {&variable, kNone});
  }
  for (std::size_t i = 0; i < renames_.size(); ++i)
    if (!met.contains(i)) refuse_unknown(renames_[i], stored, prefix);
}

void RenamedEntries::add(const std::string& name, Entry entry) {
  const auto [at, added] = entries_.emplace(name, entry);
  if (added || entry.rename == kNone) return;
  if (at->second.rename != kNone && at->second.stored != entry.stored)
    throw InvalidArgument(cat(quoted(at->second.stored->name), " and ", quoted(entry.stored->name),
                              " are both renamed to ", quoted(name), "; rename one of them otherwise"));
  at->second = entry;
}

const VariableInfo* RenamedEntries::find(const std::string& name, std::size_t& place) const {
  if (!renames_.empty()) {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : at->second.stored;
  }
  if (place >= stored_.size() || stored_[place].name != name)
    place = static_cast<std::size_t>(std::ranges::lower_bound(stored_, name, {}, &VariableInfo::name) -
                                     stored_.begin());
  return place < stored_.size() && stored_[place].name == name ? &stored_[place++] : nullptr;
}

RenamedEntries::Renames RenamedEntries::unmet(const std::vector<std::string>& wanted) const {
  if (renames_.empty()) return {};
  std::set<std::size_t> met;
  for (const std::string& name : wanted) {
    const auto at = entries_.find(name);
    if (at != entries_.end()) met.insert(at->second.rename);
  }
  Renames out;
  for (std::size_t i = 0; i < renames_.size(); ++i)
    if (!met.contains(i)) out.push_back(renames_[i]);
  return out;
}

}  // namespace runnel
