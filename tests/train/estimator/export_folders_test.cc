// Folders of exports: names by time, never two alike, and the newest few kept.
#include "train/estimator/export_folders.h"

#include <doctest/doctest.h>

#include "graph/io/memory_file_system.h"

using namespace runnel;

TEST_CASE("an export is called by the second, and a second one by the next") {
  MemoryFileSystem files;
  ManualClock clock;  // stands at 1700000000
  const std::string first = new_export_folder(files, clock, "m/export/latest");
  CHECK(first == "m/export/latest/1700000000");
  files.make_directory(first);
  CHECK(new_export_folder(files, clock, "m/export/latest") == "m/export/latest/1700000001");
}

TEST_CASE("the newest exports are kept, by number, and what is no export is left alone") {
  MemoryFileSystem files;
  for (const std::string name : {"9", "10", "11", "temp", "12a"}) {
    make_directories(files, "base/" + name);
    write_file_atomically(files, "base/" + name + "/x", "x");
  }
  remove_old_exports(files, "base", 2);
  CHECK(export_folders(files, "base") == std::vector<std::string>{"base/10", "base/11"});
  CHECK_FALSE(files.exists("base/9"));
  CHECK(files.exists("base/temp/x"));
  CHECK(files.exists("base/12a/x"));
  CHECK(export_folders(files, "nowhere").empty());
}
