// The table is never destroyed, and replaced in a forked child, where another thread of the parent may hold
// its lock for ever.
#include "summary/file_writer_cache.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "summary/events/fork_count.h"

namespace runnel {
namespace {

constexpr std::ptrdiff_t kIdle = 16;  // writers that nobody holds; each has a thread and an open file

struct Entry {
  std::shared_ptr<FileWriter> writer;
  std::uint64_t asked = 0;  // when, by the table's count

  bool idle() const { return writer.use_count() == 1; }
};

using Writers = std::map<std::string, Entry>;

struct Table {
  const unsigned forks = fork_count();
  Table* const before = nullptr;  // of the parent process; kept in sight of leak detectors
  std::mutex mutex;
  std::uint64_t calls = 0;
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

// Takes out the writer that nobody has asked for the longest, if too many are held by nobody. Requires: the
// table's mutex is held.
std::shared_ptr<FileWriter> take_one_too_many(Writers& writers) {
  auto oldest = writers.end();
  std::ptrdiff_t idle = 0;
  for (auto each = writers.begin(); each != writers.end(); ++each) {
    if (!each->second.idle()) continue;
    ++idle;
    if (oldest == writers.end() || each->second.asked < oldest->second.asked) oldest = each;
  }
  if (idle <= kIdle) return nullptr;
  std::shared_ptr<FileWriter> taken = std::move(oldest->second.writer);
  writers.erase(oldest);
  return taken;
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
  const std::string key = key_of(logdir);
  Table& all = table();
  std::shared_ptr<FileWriter> too_many;  // its destructor closes it, behind the lock
  const std::lock_guard hold(all.mutex);
  auto found = all.writers.find(key);
  if (found == all.writers.end()) {
    found = all.writers.emplace(key, Entry{std::make_shared<FileWriter>(logdir), ++all.calls}).first;
    too_many = take_one_too_many(all.writers);
  }
  found->second.asked = ++all.calls;
  found->second.writer->reopen();
  return found->second.writer;
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
  for (const auto& [name, entry] : writers) try {
      entry.writer->close();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

}  // namespace runnel
