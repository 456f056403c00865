// Every call steps a counter first and is then passed on.
#include "graph/io/fault_file_system.h"

namespace runnel {

class FaultFileSystem::Writer final : public WritableFile {
 public:
  Writer(FaultFileSystem& files, std::unique_ptr<WritableFile> file)
      : files_(files), file_(std::move(file)) {}
  void append(std::string_view bytes) override {
    if (!files_.step("write", path(), true)) return file_->append(bytes);
    file_->append(bytes.substr(0, bytes.size() / 2));
    throw ResourceExhausted(
        cat("cannot write '", path(), "': injected: no space left after ", bytes.size() / 2));
  }
  void sync() override {
    files_.step("sync", path());
    file_->sync();
  }
  void close() override {
    files_.step("close", path());
    file_->close();
  }
  const std::string& path() const override { return file_->path(); }

 private:
  FaultFileSystem& files_;
  std::unique_ptr<WritableFile> file_;
};

class FaultFileSystem::Reader final : public ReadableFile {
 public:
  Reader(FaultFileSystem& files, std::unique_ptr<ReadableFile> file)
      : files_(files), file_(std::move(file)) {}
  std::size_t read_at(std::uint64_t offset, std::span<char> into) const override {
    files_.step("read", path());
    return file_->read_at(offset, into);
  }
  std::uint64_t size() const override { return file_->size(); }
  const std::string& path() const override { return file_->path(); }

 private:
  FaultFileSystem& files_;
  std::unique_ptr<ReadableFile> file_;
};

void FaultFileSystem::fail_at(int nth, Fault fault) {
  const std::lock_guard lock(mutex_);
  count_ = 0;
  chosen_ = nth;
  fault_ = fault;
}

int FaultFileSystem::operations() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

bool FaultFileSystem::step(const char* action, const std::string& path, bool writes) {
  const std::lock_guard lock(mutex_);
  ++count_;
  const bool stopped = fault_ == Fault::kStop && chosen_ > 0 && count_ > chosen_;
  if (count_ != chosen_ && !stopped) return false;
  const std::string message = cat("cannot ", action, " '", path, "': injected: ");
  switch (fault_) {
    case Fault::kStop: throw Aborted(message + "the process was killed");
    case Fault::kInputError: throw Unknown(message + "input/output error");
    case Fault::kShortWrite:
      if (writes) return true;
      [[fallthrough]];
    case Fault::kNoSpace: throw ResourceExhausted(message + "no space left on device");
  }
  return false;
}

std::unique_ptr<WritableFile> FaultFileSystem::open_for_writing(const std::string& path, WriteMode mode) {
  step("open for writing", path);
  return std::make_unique<Writer>(*this, files_.open_for_writing(path, mode));
}

std::unique_ptr<ReadableFile> FaultFileSystem::open_for_reading(const std::string& path) {
  step("open", path);
  return std::make_unique<Reader>(*this, files_.open_for_reading(path));
}

void FaultFileSystem::rename(const std::string& from, const std::string& to) {
  step("rename", from);
  files_.rename(from, to);
}

void FaultFileSystem::remove(const std::string& path) {
  step("remove", path);
  files_.remove(path);
}

void FaultFileSystem::remove_directory(const std::string& path) {
  step("remove directory", path);
  files_.remove_directory(path);
}

bool FaultFileSystem::make_directory(const std::string& path) {
  step("make directory", path);
  return files_.make_directory(path);
}

void FaultFileSystem::sync_directory(const std::string& path) {
  step("sync directory", path);
  files_.sync_directory(path);
}

std::vector<std::string> FaultFileSystem::list(const std::string& directory) {
  step("list", directory);
  return files_.list(directory);
}

}  // namespace runnel
