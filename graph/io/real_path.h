// What a path of the machine leads to: so that a walk through folders sees where links go in circles, and a
// writer whether its file is still the one of that name.
#pragma once

#include <string>

namespace runnel {

// Absolute and without links; `path` as it is where the machine has no such file.
std::string real_path(const std::string& path);
// Two paths with the same identity are one file; empty where the machine has no such file.
std::string file_identity(const std::string& path);

}  // namespace runnel
