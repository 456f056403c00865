// Files whose writes hang, as those of a dead network disk do, until they are told to go on.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "graph/io/file_system.h"

namespace runnel {

class StuckFileSystem final : public FileSystem {
 public:
  explicit StuckFileSystem(FileSystem& files) : files_(files) {}

  void hang() { set(true); }
  void go_on() { set(false); }

  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    return std::make_unique<Writer>(*this, files_.open_for_writing(path, mode));
  }
  std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) override {
    return files_.open_for_reading(path);
  }
  void rename(const std::string& from, const std::string& to) override { files_.rename(from, to); }
  void remove(const std::string& path) override { files_.remove(path); }
  void remove_directory(const std::string& path) override { files_.remove_directory(path); }
  bool make_directory(const std::string& path) override { return files_.make_directory(path); }
  void sync_directory(const std::string& path) override { files_.sync_directory(path); }
  std::vector<std::string> list(const std::string& directory) override { return files_.list(directory); }
  bool exists(const std::string& path) override { return files_.exists(path); }
  bool is_directory(const std::string& path) override { return files_.is_directory(path); }
  std::uint64_t file_size(const std::string& path) override { return files_.file_size(path); }
  double modified(const std::string& path) override { return files_.modified(path); }
  std::uint64_t free_bytes(const std::string& path) override { return files_.free_bytes(path); }

 private:
  class Writer final : public WritableFile {
   public:
    Writer(StuckFileSystem& owner, std::unique_ptr<WritableFile> file)
        : owner_(owner), file_(std::move(file)) {}
    void append(std::string_view bytes) override {
      owner_.pass();
      file_->append(bytes);
    }
    void sync() override { file_->sync(); }
    void close() override { file_->close(); }
    const std::string& path() const override { return file_->path(); }

   private:
    StuckFileSystem& owner_;
    std::unique_ptr<WritableFile> file_;
  };

  void set(bool stuck) {
    const std::lock_guard hold(mutex_);
    stuck_ = stuck;
    free_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return !stuck_; });
  }

  FileSystem& files_;
  std::mutex mutex_;
  std::condition_variable free_;
  bool stuck_ = false;
};

}  // namespace runnel
