// Saves and logs to disks that cannot take them: a full one, one that is mounted read-only, a directory that
// may not be written. The disks are small ones in memory, mounted where only this process sees them; where
// the system forbids that, the test is skipped (status 77). Usage: disk_test full|readonly|refused|log.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "graph/graph.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/train.h"

using namespace runnel;

namespace {

constexpr int kSkipped = 77;  // what Meson takes for skipped

void require(bool kept, const std::string& promise) {
  if (!kept) throw Internal(cat("not so: ", promise));
}

void require_holds(const std::string& text, const std::string& part) {
  require(text.find(part) != std::string::npos, cat("'", text, "' holds '", part, "'"));
}

// A directory of its own, removed in the end.
class Folder {
 public:
  Folder() {
    path = (std::filesystem::temp_directory_path() / "runnel_disk_XXXXXX").string();
    if (!::mkdtemp(path.data())) throw Unknown(cat("cannot make '", path, "'"));
  }
  ~Folder() {
    ::umount(path.c_str());
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::vector<std::string> list() const { return real_file_system().list(path); }
  std::string path;
};

// Mounts are then this process's alone, with or without being root. False if the system forbids it.
bool leave_the_others() {
  const unsigned user = ::getuid(), team = ::getgid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << team << " 1";
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool mount_disk(const std::string& path, const char* options, unsigned long flags = 0) {
  return ::mount("tmpfs", path.c_str(), "tmpfs", flags, options) == 0;
}

int skipped(const char* what) {
  std::printf("skipped: %s is not allowed here (%s)\n", what, std::strerror(errno));
  return kSkipped;
}

Tensor ones(std::int64_t count) {
  return Tensor::vector(std::vector<float>(static_cast<std::size_t>(count), 1.0f));
}

// A variable of so many floats, its session and its saver.
struct Model {
  explicit Model(std::int64_t floats) : session(g) {
    session.run(assign(variable(g, Tensor::zeros(DType::kFloat, {floats}), "v"), ones(floats)));
  }
  std::string save(const std::string& prefix) { return Saver(g).save(session, prefix); }
  // The message of the error of class E that a save ends with.
  template <class E>
  std::string refusal(const std::string& prefix) {
    try {
      save(prefix);
    } catch (const E& error) {
      return error.message();
    }
    throw Internal(cat("the save to '", prefix, "' was not refused"));
  }
  Graph g;
  Session session;
};

constexpr std::int64_t kSmall = 16, kTwoMiB = (2 << 20) / 4;

void require_restorable(const std::string& prefix, std::int64_t floats) {
  const Tensor value = CheckpointReader(prefix).read("v");
  require(value == ones(floats), cat(prefix, " holds what was saved"));
}

int full(const Folder& disk) {
  if (!leave_the_others() || !mount_disk(disk.path, "size=1m")) return skipped("mounting");
  const std::string old = Model(kSmall).save(disk.path + "/old");
  const auto before = disk.list();
  Model big(kTwoMiB);
  const std::string why = big.refusal<ResourceExhausted>(disk.path + "/big");
  std::printf("%s\n", why.c_str());
  require_holds(why, "No space left on device");
  require_holds(why, cat("'", disk.path, "/big.data-00000-of-00001': "));
  require_holds(why, " bytes wanted, ");
  require_holds(why,
                cat("'v' takes ", 4 * kTwoMiB, " bytes, and 10"));  // and five digits more are free of 1 MiB
  require(disk.list() == before, "the directory is as it was");
  require(latest_checkpoint(disk.path) == old, "the older checkpoint is the newest");
  require_restorable(old, kSmall);
  if (!mount_disk(disk.path, "size=8m", MS_REMOUNT)) return skipped("mounting anew");
  require_restorable(big.save(disk.path + "/big"), kTwoMiB);
  return 0;
}

int readonly(const Folder& disk) {
  if (!leave_the_others() || !mount_disk(disk.path, "size=1m")) return skipped("mounting");
  Model model(kSmall);
  const std::string old = model.save(disk.path + "/old");
  const auto before = disk.list();
  if (!mount_disk(disk.path, nullptr, MS_REMOUNT | MS_RDONLY)) return skipped("mounting read-only");
  for (const char* name : {"/old", "/new", "/folder/new"}) {
    const std::string why = model.refusal<PermissionDenied>(disk.path + name);
    std::printf("%s\n", why.c_str());
    require_holds(why, "Read-only file system");
    require_holds(why, disk.path);
  }
  require(disk.list() == before, "the directory is as it was");
  require_restorable(latest_checkpoint(disk.path), kSmall);
  return 0;
}

int refused(const Folder& disk) {
  Model model(kSmall);
  const std::string old = model.save(disk.path + "/old"), missing = disk.path + "/folder/deeper/new";
  require_restorable(model.save(missing), kSmall);  // missing directories are made
  const auto before = disk.list();
  ::chmod(disk.path.c_str(), 0555);
  constexpr unsigned kNobody = 65534;  // whom permissions hold for, unlike root
  if (::getuid() == 0 && ::setresuid(kNobody, kNobody, 0) != 0) return skipped("being another user");
  for (const char* name : {"/old", "/new", "/other/new"}) {
    const std::string why = model.refusal<PermissionDenied>(disk.path + name);
    std::printf("%s\n", why.c_str());
    require_holds(why, "Permission denied");
  }
  require(disk.list() == before, "the directory is as it was");
  require_restorable(old, kSmall);
  if (::geteuid() == kNobody && ::setresuid(0, 0, 0) != 0) return 1;
  ::chmod(disk.path.c_str(), 0755);
  return 0;
}

// Events in the whole records of all files, without the record that each begins with.
std::int64_t events_on(const Folder& disk) {
  std::int64_t count = 0;
  for (const std::string& name : disk.list()) {
    RecordReader reader(real_file_system().open_for_reading(join_path(disk.path, name)));
    for (--count; reader.next(); ++count) {
    }
  }
  return count;
}

bool flush_refused(FileWriter& writer) try {
  writer.flush();
  return false;
} catch (const ResourceExhausted& error) {
  std::printf("%s\n", error.message().c_str());
  return true;
}

// A log's disk is full, gets room, and is full again when the log ends.
int log(const Folder& disk) {
  if (!leave_the_others() || !mount_disk(disk.path, "size=64k")) return skipped("mounting");
  constexpr std::int64_t kEvents = 1000;
  FileWriter writer(disk.path);
  const auto add = [&] {
    for (std::int64_t step = 0; step < kEvents; ++step) writer.scalar(std::string(100, 't'), 1, step);
  };
  add();
  require(flush_refused(writer), "a flush to a full disk throws");
  require(writer.lost() == 0 && events_on(disk) < kEvents, "what the disk did not take waits");
  if (!mount_disk(disk.path, "size=256k", MS_REMOUNT)) return skipped("mounting anew");
  writer.flush();
  require(events_on(disk) == kEvents, "all is there when there is room");
  for (int i = 0; i < 3; ++i) add();
  try {
    writer.close();
    require(false, "closing on a full disk throws");
  } catch (const ResourceExhausted&) {
  }
  require(writer.lost() > 0 && events_on(disk) + writer.lost() == 4 * kEvents, "every lost event is counted");
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string what = count > 1 ? arguments[1] : "";
  const Folder disk;
  if (what == "full") return full(disk);
  if (what == "readonly") return readonly(disk);
  if (what == "refused") return refused(disk);
  if (what == "log") return log(disk);
  return 2;
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
