// What a path leads to when its links are followed, so that a walk through folders sees where links go in
// circles.
#pragma once

#include <string>

namespace runnel {

// Absolute and without links; `path` as it is where the machine has no such file.
std::string real_path(const std::string& path);

}  // namespace runnel
