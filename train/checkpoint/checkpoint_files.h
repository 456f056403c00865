// The names of a checkpoint's files, and what to tell a user who gave something that is no checkpoint prefix:
// one file of a checkpoint, a directory, an archive, a git-lfs pointer, a V1 checkpoint. Names are literal,
// whatever characters they hold.
#pragma once

#include <string>
#include <vector>

#include "graph/io/file_system.h"

namespace runnel {

std::string index_path(const std::string& prefix);
std::string data_path(const std::string& prefix, int shard, int shards);  // PREFIX.data-00000-of-00001
std::string meta_path(const std::string& prefix);

// What a checkpoint that is written is called, with or without a directory. Throws InvalidArgument for a path
// that is a directory's: "", "d/", "d/.", "d/..".
const std::string& require_prefix(const std::string& path);

// "m" of "m.index", "m.meta" and "m.data-00000-of-00001"; empty for other names.
std::string prefix_of_file(const std::string& path);

// True for the name of a data file of the prefix. Both without directory.
bool is_data_file(const std::string& name, const std::string& prefix);
// And of a checkpoint that says it has so many.
bool is_data_file(const std::string& name, const std::string& prefix, int shards);

// True if the prefix has an index, or is itself a file (a V1 checkpoint, which only TensorFlow reads).
bool checkpoint_exists(FileSystem& files, const std::string& prefix);

// The prefixes that have an index in the directory, oldest first; names alone. None if it cannot be listed.
// Those of one name, as model.ckpt-7, are in the order of their steps, because a copy of the directory may
// have given their files any times; names, model.ckpt and model.ckpt-N being two, are in the order of their
// newest file's time.
std::vector<std::string> prefixes_in(FileSystem& files, const std::string& directory);
// "'a', 'b' and 3 more"; empty for none.
std::string name_some(const std::vector<std::string>& names);

// What a file is that should have been an index or a data file: "empty", "a git-lfs pointer, ...", "a tar
// archive", ...; empty if it is nothing known.
std::string kind_of_file(const ReadableFile& file);

// Throws the error for a prefix without an index, which says what was given and what to give instead.
[[noreturn]] void refuse_prefix(FileSystem& files, const std::string& prefix);

}  // namespace runnel
