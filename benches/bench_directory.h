// Where benches put their files: RUNNEL_BENCH_DIRECTORY, or a new folder below TMPDIR that is gone in the
// end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "graph/error.h"

namespace runnel::benches {

class BenchDirectory {
 public:
  BenchDirectory() {
    if (const char* given = std::getenv("RUNNEL_BENCH_DIRECTORY")) {
      path_ = given;
      std::filesystem::create_directories(path_);
      return;
    }
    path_ = std::filesystem::temp_directory_path() / "runnel-bench-XXXXXX";
    if (!mkdtemp(path_.data())) throw Unavailable(cat("cannot make '", path_, "'"));
    ours_ = true;
  }
  ~BenchDirectory() {
    std::error_code ignored;
    if (ours_) std::filesystem::remove_all(path_, ignored);
  }
  BenchDirectory(const BenchDirectory&) = delete;
  BenchDirectory& operator=(const BenchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool ours_ = false;
};

inline const std::string& directory() {
  static const BenchDirectory directory;
  return directory.path();
}

}  // namespace runnel::benches
