// The names of a checkpoint as a rename map tells to take them: for each name that a graph may ask for, the
// name in the file.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/variable_info.h"

namespace runnel {

class RenamedEntries {
 public:
  using Renames = std::vector<std::pair<std::string, std::string>>;

  // Throws InvalidArgument for a rename of a scope to a name or of a name to a scope, for one of what is not
  // in the file, and for two names renamed to one. `stored` is sorted by name and outlives this; `prefix` is
  // for the messages.
  RenamedEntries(const std::vector<VariableInfo>& stored, const Renames& renames, const std::string& prefix);

  // What is in the file; null if it is not. `place` is looked at first, and left behind what was found: for
  // names that come sorted.
  const VariableInfo* find(const std::string& name, std::size_t& place) const;
  // Renames of which none of the new names is among `wanted`.
  Renames unmet(const std::vector<std::string>& wanted) const;

 private:
  struct Entry {
    const VariableInfo* stored;
    std::size_t rename;  // kNone: the name is its own
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  void add(const std::string& name, Entry entry);

  const std::vector<VariableInfo>& stored_;
  const Renames renames_;
  std::map<std::string, Entry> entries_;  // by new name; none if there are no renames
};

}  // namespace runnel
