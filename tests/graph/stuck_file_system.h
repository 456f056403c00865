// Files whose writes hang, as those of a dead network disk do, until they are told to go on.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "graph/io/forwarding_file_system.h"
#include "tests/graph/door.h"

namespace runnel {

class StuckFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  void hang() { door_.shut(); }
  void go_on() { door_.open(); }
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
      owner_.door_.pass();
      file_->append(bytes);
    }
    void sync() override { file_->sync(); }
    void close() override { file_->close(); }
    const std::string& path() const override { return file_->path(); }

   private:
    StuckFileSystem& owner_;
    std::unique_ptr<WritableFile> file_;
  };

  Door door_;
  std::atomic<int> open_ = 0;
};

}  // namespace runnel
