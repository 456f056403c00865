// What a reader does with one file: record after record, each with the key under which TensorFlow gives it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "graph/io/file_system.h"

namespace runnel {

struct KeyedRecord {
  std::string key, value;
};

// For one thread at a time.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  // The next record, or nothing at the end of the file. An error comes again at the next call.
  virtual std::optional<KeyedRecord> next() = 0;
  // A file that is one record: it is done with when that was read.
  virtual bool is_whole() const { return false; }
};

// How a reader opens a file. Throws NotFound and the like, after which the reader goes on to the next file.
class RecordFormat {
 public:
  virtual ~RecordFormat() = default;
  virtual std::unique_ptr<RecordSource> open(FileSystem& files, const std::string& path) const = 0;
};

}  // namespace runnel
