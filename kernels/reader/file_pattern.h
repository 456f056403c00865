// Names of files by a pattern: '*' stands for any characters, '?' for one, "[a-c]" and "[^a-c]" for one of a
// set, a backslash makes the next character plain; none of them matches '/'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/io/file_system.h"

namespace runnel {

// Whether the whole of a name, which has no '/', matches. Takes time in proportion to both lengths.
bool matches_pattern(std::string_view name, std::string_view pattern);

// Adds the files and directories that match. Those that may not be listed are passed over.
void add_matching_files(FileSystem& files, const std::string& pattern, std::vector<std::string>& found);

}  // namespace runnel
