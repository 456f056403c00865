// File names of checkpoints and advice about wrong ones.
#include "train/checkpoint/checkpoint_files.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <tuple>

#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/index_table.h"
#include "train/checkpoint/step_number.h"

namespace runnel {
namespace {

constexpr std::size_t kNamed = 3;  // prefixes that an error lists

// "data-00000-of-00001"
bool is_data_suffix(std::string_view text) {
  constexpr std::string_view kForm = "data-#####-of-#####";
  return std::ranges::equal(text, kForm,
                            [](char c, char form) { return form == '#' ? c >= '0' && c <= '9' : c == form; });
}

struct Mark {
  std::size_t at;
  std::string_view bytes;
  const char* kind;
};
using namespace std::string_view_literals;
constexpr Mark kMarks[] = {
    {0, "version https://git-lfs"sv, "a git-lfs pointer, not the file itself: run \"git lfs pull\""},
    {257, "ustar"sv, "a tar archive: unpack it"},
    {0, "\x1f\x8b"sv, "a gzip file: unpack it"},
    {0, "PK\x03\x04"sv, "a zip file: unpack it"},
    {0, "BZh"sv, "a bzip2 file: unpack it"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "an xz file: unpack it"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file (Keras), not a TensorFlow checkpoint"},
    {0, "\x93NUMPY"sv, "a NumPy array, not a checkpoint"},
    {0, "model_checkpoint_path"sv, "a \"checkpoint\" state file: pass its directory to latest_checkpoint()"},
};
constexpr std::size_t kHead = 512;  // bytes that the marks lie in

bool looks_like_text(std::string_view head) {
  return std::ranges::all_of(
      head, [](unsigned char c) { return c >= 0x20 || c == '\n' || c == '\r' || c == '\t'; });
}

std::string advice(FileSystem& files, const std::string& directory) {
  std::vector<std::string> names = prefixes_in(files, directory);
  for (auto& name : names) name = directory == "." ? name : join_path(directory, name);
  return names.empty() ? "" : cat("; there is ", name_some(names));
}

// "model.ckpt-7" is base "model.ckpt-", step 7; a name without a number is its own base, step -1.
struct FoundPrefix {
  std::string name, base;
  std::int64_t step = -1;
  double modified = 0;
};

FoundPrefix found_prefix(std::string name, double modified) {
  const auto step = step_behind(name);
  std::string base = step ? name.substr(0, name.rfind('-') + 1) : name;
  return {.name = std::move(name), .base = std::move(base), .step = step.value_or(-1), .modified = modified};
}

[[noreturn]] void refuse_file(FileSystem& files, const std::string& path) {
  const auto file = files.open_for_reading(path);
  if (ends_like_table(*file))
    throw Unimplemented(cat("'", path,
                            "' is a checkpoint of the old V1 format; load it with TensorFlow and save it ",
                            "again with Saver(write_version=2)"));
  const std::string kind = kind_of_file(*file);
  throw InvalidArgument(cat("'", path, "' is ", kind.empty() ? "no checkpoint" : kind,
                            "; pass a checkpoint's prefix, such as model.ckpt-7 where model.ckpt-7.index is",
                            advice(files, parent_of(path))));
}

}  // namespace

std::string index_path(const std::string& prefix) { return prefix + ".index"; }

std::string data_path(const std::string& prefix, int shard, int shards) {
  char numbers[40];
  std::snprintf(numbers, sizeof numbers, ".data-%05d-of-%05d", shard, shards);
  return prefix + numbers;
}

std::string meta_path(const std::string& prefix) { return prefix + ".meta"; }

const std::string& require_prefix(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty() || name == "." || name == "..")
    throw InvalidArgument(cat("'", path, "' is no path of a checkpoint: add a file name, as in '",
                              path.empty() ? path : join_path(path, ""), "model.ckpt'"));
  return path;
}

std::string prefix_of_file(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos || dot == 0 || path[dot - 1] == '/') return "";
  const std::string_view suffix = std::string_view(path).substr(dot + 1);
  return suffix == "index" || suffix == "meta" || is_data_suffix(suffix) ? path.substr(0, dot) : "";
}

bool is_data_file(const std::string& name, const std::string& prefix) {
  return prefix_of_file(name) == prefix && name != index_path(prefix) && name != meta_path(prefix);
}

bool is_data_file(const std::string& name, const std::string& prefix, int shards) {
  const std::string first = data_path("", 0, shards);
  return is_data_file(name, prefix) && name.ends_with(first.substr(first.rfind('-')));
}

bool checkpoint_exists(FileSystem& files, const std::string& prefix) {
  return files.exists(index_path(prefix)) || (files.exists(prefix) && !files.is_directory(prefix));
}

std::vector<std::string> prefixes_in(FileSystem& files, const std::string& directory) {
  std::vector<FoundPrefix> found;
  try {
    for (const std::string& name : files.list(directory))
      if (name.ends_with(".index") && name.size() > 6)
        found.push_back(
            found_prefix(name.substr(0, name.size() - 6), files.modified(join_path(directory, name))));
  } catch (const Error&) {
    // The caller is about to report something else; a list that cannot be had is left out.
  }
  std::map<std::string, double> newest;  // of a base
  for (const FoundPrefix& each : found) newest[each.base] = std::max(newest[each.base], each.modified);
  std::ranges::stable_sort(found, {}, [&](const FoundPrefix& each) {
    return std::tuple(newest[each.base], each.base, each.step, each.modified);
  });
  std::vector<std::string> names;
  for (auto& each : found) names.push_back(std::move(each.name));
  return names;
}

std::string name_some(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t first = names.size() > kNamed ? names.size() - kNamed : 0;
  for (std::size_t i = first; i < names.size(); ++i)
    text += cat(i == first ? "" : i + 1 == names.size() && first == 0 ? " and " : ", ", quoted(names[i]));
  return first == 0 ? text : cat(text, " and ", first, " more");
}

std::string kind_of_file(const ReadableFile& file) {
  const std::string head = file.read_at(0, kHead);
  if (head.empty()) return "empty";
  for (const Mark& mark : kMarks)
    if (head.size() >= mark.at && std::string_view(head).substr(mark.at).starts_with(mark.bytes))
      return mark.kind;
  return looks_like_text(head) ? "a text file" : "";
}

void refuse_prefix(FileSystem& files, const std::string& prefix) {
  if (prefix.empty()) throw InvalidArgument("an empty checkpoint prefix; pass one such as model.ckpt-7");
  const std::string real = prefix_of_file(prefix);
  if (!real.empty() && files.exists(index_path(real)))
    throw InvalidArgument(cat("'", prefix, "' is one file of a checkpoint: pass '", real, "'"));
  if (files.is_directory(prefix))
    throw InvalidArgument(
        cat("'", prefix, "' is a directory: pass a checkpoint's prefix", advice(files, prefix)));
  if (files.exists(prefix)) refuse_file(files, prefix);
  const std::string shown = real.empty() ? prefix : real;
  throw NotFound(cat("no checkpoint '", shown, "': there is no '", index_path(shown), "'",
                     advice(files, parent_of(shown))));
}

}  // namespace runnel
