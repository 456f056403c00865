// The machine's own files. Interrupted calls are repeated, short writes continued, and every errno becomes an
// Error that carries path, reason and - where it helps - what to do. Leaves out memory mapping.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "graph/io/directory_lock.h"
#include "graph/io/file_system.h"

namespace runnel {
namespace {

// Never Unavailable or Aborted, which mean "try again", and would take training back to its last checkpoint,
// and never OutOfRange, which means the end of the input.
Code code_of(int number) {
  switch (number) {
    case ENOENT: return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::kResourceExhausted;
    case EEXIST: return Code::kAlreadyExists;
    case ENOTEMPTY:
    case EISDIR:
    case ENOTDIR: return Code::kFailedPrecondition;
    case ENAMETOOLONG:
    case EINVAL:
    case ELOOP: return Code::kInvalidArgument;
    default: return Code::kUnknown;
  }
}

// The path as the system takes it, which would stop at a zero byte.
const char* literal(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    throw InvalidArgument(cat("a path holds a zero byte after '", path.c_str(), "'"));
  return path.c_str();
}

std::uint64_t free_bytes_or_zero(const std::string& path) {
  struct statvfs info;
  if (::statvfs(literal(path), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

[[noreturn]] void fail(int number, const std::string& action, const std::string& path) {
  std::string message = cat("cannot ", action, " '", path, "': ", std::generic_category().message(number));
  if (number == EROFS || number == EACCES || number == EPERM)
    message += "; check who owns it and how it is mounted";
  if (number == EMFILE) message += "; raise the limit with ulimit -n";
  throw_error(code_of(number), std::move(message));
}

// Of a temporary the file is named that it would have become, which is what the user knows of.
[[noreturn]] void fail_write(int number, const std::string& path, std::size_t wanted) {
  const std::string target = target_of_temporary(path);
  const std::string& shown = target.empty() ? path : target;
  if (number != ENOSPC && number != EDQUOT) fail(number, "write", shown);
  throw ResourceExhausted(cat("cannot write '", shown, "': ", std::generic_category().message(number), ", ",
                              wanted, " bytes wanted, ", free_bytes_or_zero(parent_of(path)),
                              " free; free some space or name another folder"));
}

template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  // False with errno set if the system reports that earlier writes were lost. After EINTR Linux has closed it
  // too.
  bool close() {
    const int number = number_;
    number_ = -1;
    return number < 0 || ::close(number) == 0 || errno == EINTR;
  }

 private:
  int number_;
};

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, int descriptor) : path_(std::move(path)), file_(descriptor) {}

  void append(std::string_view bytes) override {
    const std::size_t wanted = bytes.size();
    while (!bytes.empty()) {
      const auto done = uninterrupted([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
      if (done < 0) fail_write(errno, path_, wanted);
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
  }
  void sync() override {
    // EINVAL: a pipe or a device, which has nothing to sync.
    if (uninterrupted([&] { return ::fsync(file_.get()); }) != 0 && errno != EINVAL)
      fail_write(errno, path_, 0);
  }
  void close() override {
    if (!file_.close()) fail_write(errno, path_, 0);
  }
  const std::string& path() const override { return path_; }

 private:
  std::string path_;
  Descriptor file_;
};

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(std::string path, int descriptor) : path_(std::move(path)), file_(descriptor) {
    struct stat info;
    if (::fstat(file_.get(), &info) != 0) fail(errno, "read", path_);
    if (S_ISDIR(info.st_mode)) fail(EISDIR, "read", path_);
    if (!S_ISREG(info.st_mode)) throw InvalidArgument(cat("cannot read '", path_, "': not a regular file"));
  }

  std::size_t read_at(std::uint64_t offset, std::span<char> into) const override {
    std::size_t got = 0;
    while (got < into.size() && offset + got <= static_cast<std::uint64_t>(INT64_MAX)) {
      const auto done = uninterrupted([&] {
        return ::pread(file_.get(), into.data() + got, into.size() - got, static_cast<off_t>(offset + got));
      });
      if (done < 0) fail(errno, "read", path_);
      if (done == 0) break;
      got += static_cast<std::size_t>(done);
    }
    return got;
  }
  std::uint64_t size() const override {
    struct stat info;
    if (::fstat(file_.get(), &info) != 0) fail(errno, "read", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }
  const std::string& path() const override { return path_; }

 private:
  std::string path_;
  Descriptor file_;
};

struct stat status_of(const std::string& path) {
  struct stat info;
  if (::stat(literal(path), &info) != 0) fail(errno, "look at", path);
  return info;
}

// A file must not take the place of a standard stream that is closed: it would get what the program prints.
void keep_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int nothing = ::open("/dev/null", O_RDWR);  // for programs that are started from here, too
    if (nothing > STDERR_FILENO) ::close(nothing);
  }
}

class PosixFileSystem final : public FileSystem, public LocksDirectories {
 public:
  std::unique_ptr<DirectoryLock> lock_directory(const std::string& path) override {
    return lock_real_directory(path);
  }
  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    const int how = mode == WriteMode::kTruncate    ? O_TRUNC
                    : mode == WriteMode::kExclusive ? O_EXCL
                                                    : O_APPEND;
    keep_standard_streams();
    const int file =
        uninterrupted([&] { return ::open(literal(path), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666); });
    if (file < 0) fail(errno, "open for writing", path);
    return std::make_unique<PosixWritableFile>(path, file);
  }
  std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) override {
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    const int file = uninterrupted([&] { return ::open(literal(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
    if (file < 0) fail(errno, "open", path);
    return std::make_unique<PosixReadableFile>(path, file);
  }

  void rename(const std::string& from, const std::string& to) override {
    if (::rename(literal(from), literal(to)) != 0) fail(errno, cat("rename '", from, "' to"), to);
  }
  void remove(const std::string& path) override {
    if (::unlink(literal(path)) != 0) fail(errno, "remove", path);
  }
  void remove_directory(const std::string& path) override {
    if (::rmdir(literal(path)) != 0) fail(errno, "remove directory", path);
  }
  bool make_directory(const std::string& path) override {
    if (::mkdir(literal(path), 0777) == 0) return true;
    const int number = errno;
    if (number == EEXIST && is_directory(path)) return false;
    if (number == EEXIST)
      throw AlreadyExists(cat("cannot make directory '", path,
                              "': a file of that name is in the way; move it away or give another path"));
    if (number == ENOENT && is_directory(parent_of(path)))
      throw NotFound(cat("cannot make directory '", path, "': '", parent_of(path),
                         "' takes no new directories; give another path"));
    fail(number, "make directory", path);
  }
  void sync_directory(const std::string& path) override {
    const Descriptor directory(
        uninterrupted([&] { return ::open(literal(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (directory.get() < 0) fail(errno, "sync directory", path);
    // EINVAL: a file system that cannot sync directories keeps their names in order by itself.
    if (uninterrupted([&] { return ::fsync(directory.get()); }) != 0 && errno != EINVAL)
      fail(errno, "sync directory", path);
  }

  std::vector<std::string> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(literal(path)), &::closedir);
    if (!directory) fail(errno, "list", path);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
      errno = 0;
    }
    if (errno != 0) fail(errno, "list", path);
    std::ranges::sort(names);
    return names;
  }
  // A path that may not be looked at counts as existing, so that opening it tells the reason.
  bool exists(const std::string& path) override {
    struct stat info;
    return ::stat(literal(path), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
  }
  bool is_directory(const std::string& path) override {
    struct stat info;
    return ::stat(literal(path), &info) == 0 && S_ISDIR(info.st_mode);
  }
  std::uint64_t file_size(const std::string& path) override {
    return static_cast<std::uint64_t>(status_of(path).st_size);
  }
  double modified(const std::string& path) override {
    const auto time = status_of(path).st_mtim;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  std::uint64_t free_bytes(const std::string& path) override {
    struct statvfs info;
    if (::statvfs(literal(path), &info) != 0) fail(errno, "look at", path);
    return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  }
  std::string identity(const std::string& path) override {
    struct stat info;
    return ::stat(literal(path), &info) == 0 ? cat(info.st_dev, ":", info.st_ino) : "";
  }
  std::string absolute(const std::string& path) override {
    std::error_code error;
    const std::filesystem::path found = std::filesystem::absolute(path, error);
    if (error) throw Unknown(cat("cannot tell where '", path, "' is: ", error.message()));
    return found.string();
  }
};

}  // namespace

FileSystem& real_file_system() {
  static PosixFileSystem files;
  return files;
}

}  // namespace runnel
