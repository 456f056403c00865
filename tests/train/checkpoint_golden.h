// Where the checkpoints that TensorFlow wrote lie, and reading them into memory so that a test can damage a
// copy.
#pragma once

#include <string>

#include "graph/io/memory_file_system.h"

inline std::string golden(const std::string& name) { return std::string(RUNNEL_GOLDEN) + "/" + name; }

inline std::string golden_bytes(const std::string& name) {
  return runnel::read_file(runnel::real_file_system(), golden(name));
}

inline void put_file(runnel::FileSystem& files, const std::string& path, const std::string& bytes) {
  runnel::write_file_atomically(files, path, bytes);
}
