// Joins checkpoints into one, as a sharded save does with what each device wrote: their data files are
// renamed, and one index is made of theirs. Values are not read.
#pragma once

#include <span>
#include <string>

#include "graph/io/file_system.h"

namespace runnel {

struct MergeCheckpointsOptions {
  bool delete_old_dirs = true;        // and their directories, if nothing is left in them
  bool allow_missing_files = false;   // pass over prefixes that have no index
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
};

// Makes `destination` of the checkpoints `prefixes`, which are gone afterwards; data files are numbered in
// their order. Durable when it returns. Until then an older checkpoint of the name `destination` is whole, as
// no file of it is replaced but its index, last. On an error the older one stays, and the parts are put back.
// Throws NotFound for a part that is not there, InvalidArgument for a tensor that is in two of them (parts of
// one tensor are joined), for none at all, and for a destination that is one of them.
void merge_checkpoints(std::span<const std::string> prefixes, const std::string& destination,
                       MergeCheckpointsOptions options = {});

}  // namespace runnel
