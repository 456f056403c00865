// The system follows the links.
#include "graph/io/real_path.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <memory>

#include "graph/error.h"

namespace runnel {

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), &::free);
  return real ? real.get() : path;
}

std::string file_identity(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return "";
  return cat(found.st_dev, ":", found.st_ino);
}

}  // namespace runnel
