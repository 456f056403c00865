// Errors of the library, with what to do about them in terms of these programs' flags.
#include "train/examples/run_folder.h"

#include <runnel/runnel.h>

using namespace runnel;

void make_run_folders(const std::string& out, std::initializer_list<const char*> names) {
  for (const char* name : names) make_directories(real_file_system(), join_path(out, name));
}

std::string not_empty(const std::string& path) { return path.empty() ? "the path is empty" : ""; }

std::string checkpoint_to_go_on_with(const std::string& folder) {
  try {
    return latest_checkpoint(folder, {.verify = true});
  } catch (const NotFound& error) {
    throw NotFound(error.message() + "; there is no run to go on with: leave --resume out");
  } catch (const DataLoss& error) {
    throw DataLoss(error.message() + "; begin anew in another --out");
  }
}
