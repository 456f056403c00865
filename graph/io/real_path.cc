// The system follows the links.
#include "graph/io/real_path.h"

#include <stdlib.h>

#include <memory>

namespace runnel {

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), &::free);
  return real ? real.get() : path;
}

}  // namespace runnel
