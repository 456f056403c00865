// What interrupted saves leave behind, and how it is put right. A save writes its data and its index under
// temporary names, syncs both and then renames them: the data first. Killed in between over an older
// checkpoint, it leaves the new data, the old index, and the new index under its temporary name - from which
// the save is finished.
#pragma once

#include <string>

#include "graph/io/file_system.h"

namespace runnel {

// The index that fits the prefix's data files: PREFIX.index, or a temporary one left by an interrupted save
// if that fits and PREFIX.index does not. Values are read and compared only when there is a temporary one.
// Changes nothing. Requires: PREFIX.index exists.
std::string valid_index(FileSystem& files, const std::string& prefix);

// Finishes or undoes the interrupted saves of other processes in a directory, of checkpoints and state files
// whose name begins with `stem`: a new index that fits its data is renamed into place; other temporaries are
// removed, and the data of a first save that never got its index. What this process is writing is left alone.
// Requires: no other process is saving there.
void clean_up_interrupted_saves(FileSystem& files, const std::string& directory, const std::string& stem);

// Removes the folders of parts that killed sharded saves to PATH or PATH-STEP left ("PATH-7_temp"); one that
// holds anything else stays. Requires: nobody is saving to this path.
void remove_parts_of_interrupted_saves(FileSystem& files, const std::string& path);

}  // namespace runnel
