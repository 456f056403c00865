// Without help from the state file, the newest checkpoint is the one whose index was written last.
#include "train/examples/run_folder.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include <runnel/runnel.h>

using namespace runnel;

namespace {

// By what the folder holds alone; "" if there is none.
std::string newest_in(const std::string& folder) {
  const std::string ending = ".index";
  FileSystem& files = real_file_system();
  if (!files.is_directory(folder)) return "";
  std::vector<std::pair<double, std::string>> found;
  for (const std::string& name : files.list(folder)) {
    const std::string path = join_path(folder, name);
    if (name.ends_with(ending))
      found.emplace_back(files.modified(path), path.substr(0, path.size() - ending.size()));
  }
  return found.empty() ? "" : std::max_element(found.begin(), found.end())->second;
}

}  // namespace

void make_run_folders(const std::string& out, std::initializer_list<const char*> names) {
  for (const char* name : names) make_directories(real_file_system(), join_path(out, name));
}

std::string not_empty(const std::string& path) { return path.empty() ? "the path is empty" : ""; }

std::string checkpoint_to_go_on_with(const std::string& folder) {
  try {
    return latest_checkpoint(folder, {.verify = true});
  } catch (const NotFound& error) {
    std::string newest = newest_in(folder);
    if (newest.empty())
      throw NotFound(error.message() + "; there is no run to go on with: leave --resume out");
    std::fprintf(stderr, "warning: %s; going on with '%s', the last one written\n", error.message().c_str(),
                 newest.c_str());
    return newest;
  } catch (const DataLoss& error) {
    throw DataLoss(error.message() + "; begin anew in another --out");
  }
}
