// A checkpoint's `.index` as sorted keys and values. LevelDB's own Table and TableBuilder do the work, set so
// that what they write is byte for byte what TensorFlow writes, and guarded so that a damaged or hostile file
// ends in DataLoss: the places of all blocks are checked first, checksums always, and the decoded size is
// limited.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "graph/io/file_system.h"

namespace runnel {

using IndexEntries =
    std::map<std::string, std::string>;  // std::string compares as unsigned bytes, as the table does

// Throws DataLoss naming the file and what is wrong.
IndexEntries read_index(const ReadableFile& file);
// The same, entry by entry in the order of the keys; what `take` throws ends it.
using TakeEntry = std::function<void(std::string_view key, std::string_view value)>;
void read_index(const ReadableFile& file, const TakeEntry& take);
// The bytes of a table that holds the entries.
std::string index_bytes(const IndexEntries& entries);
// Of those that `give` hands over, in the order of their keys.
std::string index_bytes(const std::function<void(const TakeEntry& take)>& give);

// True if the file ends like a table, which V1 checkpoints and V2 indexes do.
bool ends_like_table(const ReadableFile& file);

}  // namespace runnel
