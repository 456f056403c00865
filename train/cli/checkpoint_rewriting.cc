// `runnel checkpoint rename` and `merge`: a new checkpoint from the values of others, one tensor in memory at
// a time. Tensors that were saved in parts keep their parts. Left out: `.meta` files, whose graphs have the
// old names, and the state file.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "graph/graph.h"
#include "train/cli/checkpoint_jobs.h"
#include "train/cli/json.h"
#include "train/train.h"

namespace runnel {
namespace {

bool is_scope(const std::string& name) { return name.ends_with('/'); }

// What names begin with in a scope: nothing in the root.
std::string start_of(const std::string& scope) { return scope == "/" ? "" : scope; }

bool matches(const std::string& from, const std::string& name) {
  return is_scope(from) ? name.starts_with(start_of(from)) : name == from;
}

std::size_t closeness(const std::string& from) {
  return is_scope(from) ? start_of(from).size() : std::string::npos;
}

void require_sound(const Renames& renames) {
  std::set<std::string> seen;
  for (const auto& [from, to] : renames) {
    if (from.empty() || to.empty() || is_scope(from) != is_scope(to))
      throw InvalidArgument(
          cat("cannot rename '", from, "' to '", to,
              "': give two names, or two scopes such as 'old/' and 'new/' ('/' is the root)"));
    if (!seen.insert(from).second) throw InvalidArgument(cat("'", from, "' is renamed twice"));
  }
}

// New names by old ones. Every rename must be about something, and no two names may become one.
std::map<std::string, std::string> new_names(const CheckpointReader& reader, const Renames& renames) {
  require_sound(renames);
  std::map<std::string, std::string> out, olds;
  std::set<std::string> met;
  for (const VariableInfo& variable : reader.variables()) {
    const std::pair<std::string, std::string>* closest = nullptr;
    for (const auto& rename : renames) {
      if (!matches(rename.first, variable.name)) continue;
      met.insert(rename.first);
      if (!closest || closeness(rename.first) > closeness(closest->first)) closest = &rename;
    }
    std::string name = variable.name;
    if (closest)
      name = is_scope(closest->first)
                 ? start_of(closest->second) + name.substr(start_of(closest->first).size())
                 : closest->second;
    const auto [other, added] = olds.emplace(name, variable.name);
    if (!added)
      throw InvalidArgument(cat(shown_name(other->second), " and ", shown_name(variable.name),
                                " would both be called ", shown_name(name)));
    out.emplace(variable.name, name);
  }
  for (const auto& [from, to] : renames)
    if (!met.contains(from))
      throw NotFound(cat("'", reader.prefix(),
                         is_scope(from) ? "' has no tensor in scope '" : "' has no tensor '", from, "'"));
  return out;
}

struct Copied {
  std::size_t tensors = 0;
  std::uint64_t bytes = 0;
};

void copy(const CheckpointReader& from, const std::string& name, CheckpointWriter& to,
          const std::string& new_name, Copied& sum) {
  const std::vector<TensorSlice>& parts = from.parts(name);
  if (parts.empty()) to.add(new_name, from.read(name));
  for (const TensorSlice& part : parts)
    to.add(new_name, {.full = from.info(name).shape, .slice = part}, from.read(name, part));
  sum.bytes += from.stored_bytes(name);
}

std::string summary(const std::string& out, const Copied& sum, bool json) {
  if (json)
    return cat("{\"prefix\": ", json_text(out), ", \"tensors\": ", sum.tensors, ", \"bytes\": ", sum.bytes);
  return cat(out, ": ", sum.tensors, " tensors, ", sum.bytes, " bytes");
}

// The file that a path leads to, however it is written.
std::filesystem::path index_of(const std::string& prefix) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(prefix + ".index", ignored);
}

// Which argument is written is easily mistaken, so nothing is replaced unasked, and what is read never.
void require_free(const std::string& out, const std::vector<std::string>& prefixes, bool replace) {
  for (const std::string& prefix : prefixes)
    if (index_of(prefix) == index_of(out))
      throw InvalidArgument(cat("'", out,
                                "' is one of the checkpoints to merge: the first argument is where ",
                                "the result goes; give it another name"));
  if (!replace && checkpoint_exists(out))
    throw AlreadyExists(cat("there is a checkpoint '", out, "', and the first argument is where the result ",
                            "goes: give it another name, or --replace"));
}

}  // namespace

void rename_tensors(const std::string& prefix, const std::string& out, const Renames& renames, bool json) {
  const CheckpointReader reader(prefix);
  const auto names = new_names(reader, renames);
  Copied sum{.tensors = names.size()};
  CheckpointWriter writer(out);
  std::vector<std::string> changed;
  std::string lines;
  for (const auto& [name, new_name] : names) {
    copy(reader, name, writer, new_name, sum);
    if (name == new_name) continue;
    changed.push_back(cat("{\"old\": ", json_text(name), ", \"new\": ", json_text(new_name), "}"));
    lines += cat(shown_name(name), " -> ", shown_name(new_name), "\n");
  }
  writer.finish();
  if (json)
    std::cout << summary(out, sum, true) << ", \"renamed\": " << json_list(changed) << "}\n";
  else
    std::cout << lines << summary(out, sum, false) << ", " << changed.size() << " renamed\n";
}

void merge_checkpoints(const std::vector<std::string>& prefixes, const MergedCheckpoint& merged, bool json) {
  const std::string& out = merged.out;
  require_free(out, prefixes, merged.replace);
  std::vector<CheckpointReader> readers;
  for (const std::string& prefix : prefixes) readers.emplace_back(prefix);
  Copied sum;
  std::set<std::string> names;
  CheckpointWriter writer(out);
  for (const CheckpointReader& reader : readers)
    for (const VariableInfo& variable : reader.variables()) {
      copy(reader, variable.name, writer, variable.name, sum);
      names.insert(variable.name);
    }
  writer.finish();
  sum.tensors = names.size();
  std::cout << summary(out, sum, json);
  if (json)
    std::cout << ", \"merged\": " << readers.size() << "}\n";
  else
    std::cout << " from " << readers.size() << (readers.size() == 1 ? " checkpoint\n" : " checkpoints\n");
}

}  // namespace runnel
