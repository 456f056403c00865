// The folder of a run, for the examples: made whole before anything is written, so that what is in the way is
// found while nothing has been done.
#pragma once

#include <initializer_list>
#include <string>

// Makes OUT and these folders in it. Throws runnel::Error with the path that is in the way.
void make_run_folders(const std::string& out, std::initializer_list<const char*> names);

// For CLI11: what is wrong with an empty path, which would mean the root directory.
std::string not_empty(const std::string& path);

// The newest checkpoint in the folder that can be read to its end. Damaged ones are passed over with a
// warning each, and so is a state file that is gone or names none that is there. Throws runnel::NotFound,
// which says to leave --resume out, only if there is no checkpoint at all; runnel::DataLoss if all are
// damaged.
std::string checkpoint_to_go_on_with(const std::string& folder);
