// One writer for each log directory of the process, so that parts of a program that know nothing of each
// other log into one file. Source: TensorFlow's FileWriterCache.
#pragma once

#include <memory>
#include <string>

#include "summary/file_writer.h"

namespace runnel {

// All calls may be made from many threads. A forked child begins with an empty cache of its own.
class FileWriterCache {
 public:
  // The directory's writer, which is made with default options by the first call, and opened again if
  // somebody closed it. However the path is spelled, one directory has one writer. Of those that nobody
  // holds, 16 stay open; then a call for another directory closes the one that was asked for longest ago.
  static std::shared_ptr<FileWriter> get(const std::string& logdir);
  // The same; the writer also has this graph, once.
  static std::shared_ptr<FileWriter> get(const std::string& logdir, const Graph& graph);
  // Closes all writers and forgets them. Throws the first reason why something could not be written. The end
  // of the process does the same and drops the reason.
  static void clear();
};

}  // namespace runnel
