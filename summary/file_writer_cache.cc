// The table is never destroyed, and replaced in a forked child, where another thread of the parent may hold
// its lock for ever.
#include "summary/file_writer_cache.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "summary/events/fork_count.h"

namespace runnel {
namespace {

using Writers = std::map<std::string, std::shared_ptr<FileWriter>>;

struct Table {
  const unsigned forks = fork_count();
  Table* const before = nullptr;  // of the parent process; kept in sight of leak detectors
  std::mutex mutex;
  Writers writers;
};

Table& table() {
  static std::atomic<Table*> current = nullptr;
  Table* now = current.load();
  while (!now || now->forks != fork_count()) {
    auto mine = std::unique_ptr<Table>(new Table{.before = now});
    if (current.compare_exchange_strong(now, mine.get())) now = mine.release();
  }
  return *now;
}

// One name for all spellings of a directory, which need not exist.
std::string key_of(const std::string& logdir) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(logdir, error);
  if (!error) path = std::filesystem::weakly_canonical(path, error);
  if (error) return logdir;
  return (path.has_filename() ? path : path.parent_path()).string();
}

void clear_at_exit() {
  try {
    FileWriterCache::clear();
  } catch (...) {  // logged when it happened
  }
}

}  // namespace

std::shared_ptr<FileWriter> FileWriterCache::get(const std::string& logdir) {
  static const int kAtExit = std::atexit(clear_at_exit);
  static_cast<void>(kAtExit);
  Table& all = table();
  const std::lock_guard hold(all.mutex);
  const std::string key = key_of(logdir);
  auto found = all.writers.find(key);
  if (found == all.writers.end())
    found = all.writers.emplace(key, std::make_shared<FileWriter>(logdir)).first;
  found->second->reopen();
  return found->second;
}

std::shared_ptr<FileWriter> FileWriterCache::get(const std::string& logdir, const Graph& graph) {
  std::shared_ptr<FileWriter> writer = get(logdir);
  writer->add_graph(graph);
  return writer;
}

void FileWriterCache::clear() {
  Writers writers;
  {
    Table& all = table();
    const std::lock_guard hold(all.mutex);
    writers.swap(all.writers);
  }
  std::exception_ptr first;
  for (const auto& [name, writer] : writers) try {
      writer->close();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

}  // namespace runnel
