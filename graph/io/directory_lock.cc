// A directory is known by device and inode, however its path is written.
#include "graph/io/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

namespace runnel {
namespace {

class Fixed final : public DirectoryLock {
 public:
  explicit Fixed(bool held) : held_(held) {}
  bool held() const override { return held_; }

 private:
  const bool held_;
};

// The system's lock belongs to an open descriptor, two of which would shut each other out in one process.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  // Unlocked by name, as a child made by fork may have a copy of the descriptor.
  ~Descriptor() {
    ::flock(number_, LOCK_UN);
    ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

 private:
  const int number_;
};

using Place = std::pair<dev_t, ino_t>;

// What this process holds: the system's view, which is one a process.
struct HeldByProcess {
  std::mutex mutex;
  std::map<Place, std::weak_ptr<Descriptor>> locks;
};
HeldByProcess& held_by_process() {
  static HeldByProcess held;
  return held;
}

class Shared final : public DirectoryLock {
 public:
  explicit Shared(std::shared_ptr<Descriptor> lock) : lock_(std::move(lock)) {}
  ~Shared() override {
    HeldByProcess& ours = held_by_process();
    const std::lock_guard guard(ours.mutex);
    lock_.reset();
    std::erase_if(ours.locks, [](const auto& one) { return one.second.expired(); });
  }
  bool held() const override { return true; }

 private:
  std::shared_ptr<Descriptor> lock_;
};

}  // namespace

std::unique_ptr<DirectoryLock> lock_real_directory(const std::string& path) {
  HeldByProcess& ours = held_by_process();
  const std::lock_guard guard(ours.mutex);
  const int number = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat info;
  if (number < 0 || ::fstat(number, &info) != 0) {
    if (number >= 0) ::close(number);
    return std::make_unique<Fixed>(false);
  }
  const Place place{info.st_dev, info.st_ino};
  const auto known = ours.locks.find(place);
  if (known != ours.locks.end())
    if (auto lock = known->second.lock()) {
      ::close(number);
      return std::make_unique<Shared>(std::move(lock));
    }
  if (::flock(number, LOCK_EX | LOCK_NB) != 0) {
    const bool taken = errno == EWOULDBLOCK;
    ::close(number);
    return taken ? nullptr : std::make_unique<Fixed>(false);
  }
  auto lock = std::make_shared<Descriptor>(number);
  ours.locks[place] = lock;
  return std::make_unique<Shared>(std::move(lock));
}

std::unique_ptr<DirectoryLock> lock_directory(FileSystem& files, const std::string& path) {
  if (auto* locks = dynamic_cast<LocksDirectories*>(&files)) return locks->lock_directory(path);
  return std::make_unique<Fixed>(true);
}

}  // namespace runnel
