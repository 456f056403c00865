// Files whose writes hang, as those of a dead network disk do, until they are told to go on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "graph/io/forwarding_file_system.h"

namespace runnel {

class StuckFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  void hang() { set(true); }
  void go_on() { set(false); }
  int open_files() const { return open_; }

  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    return std::make_unique<Writer>(*this, files_.open_for_writing(path, mode));
  }

 private:
  class Writer final : public WritableFile {
   public:
    Writer(StuckFileSystem& owner, std::unique_ptr<WritableFile> file)
        : owner_(owner), file_(std::move(file)) {
      ++owner_.open_;
    }
    ~Writer() override {
      file_.reset();
      --owner_.open_;
    }
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

  std::mutex mutex_;
  std::condition_variable free_;
  bool stuck_ = false;
  std::atomic<int> open_ = 0;
};

}  // namespace runnel
