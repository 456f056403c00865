// What the verbs of `runnel checkpoint` do. Results go to standard output, as text or, with `json`, as one
// line of JSON; runnel::Error is thrown for what failed, and also where checkpoints differ or are damaged, so
// that the status tells.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace runnel {

// The prefix itself, or that of a directory's newest checkpoint.
std::string checkpoint_prefix(const std::string& prefix_or_directory);

// A tensor's name as text shows it: quoted and escaped if it has bytes that do not print.
std::string shown_name(const std::string& name);

void list_checkpoint(const std::string& prefix, bool json);

struct ShownTensor {
  std::string prefix, name, npy;  // `npy`: a file for the value, which is then not printed
};
void show_tensor(const ShownTensor& wanted, bool json);

// Reads every value. Throws DataLoss if something is damaged, after naming it.
void verify_checkpoint(const std::string& prefix, bool json);

// Throws FailedPrecondition if the two are not the same tensors with the same bits, after telling what
// differs.
void compare_checkpoints(const std::string& a, const std::string& b, bool json);

// Old names to new ones: a name to a name, or a scope to a scope ("old/" to "new/", "/" is the root). A whole
// name goes before a scope and a longer scope before a shorter one.
using Renames = std::vector<std::pair<std::string, std::string>>;
void rename_tensors(const std::string& prefix, const std::string& out, const Renames& renames, bool json);

struct MergedCheckpoint {
  std::string out;
  bool replace = false;  // the checkpoint that is there already
};
// Writes what the checkpoints hold together as one with one data file. A name may be in several of them if
// each holds other parts of it. Throws InvalidArgument if `out` is one of them, AlreadyExists if it is there
// and not to be replaced.
void merge_checkpoints(const std::vector<std::string>& prefixes, const MergedCheckpoint& merged, bool json);

}  // namespace runnel
