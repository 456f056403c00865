// Files whose syncs can be left out, to measure what else a save costs: TensorFlow never syncs.
#pragma once

#include "graph/io/forwarding_file_system.h"

namespace runnel::benches {

// Syncs only while `synced`.
class UnsyncedFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  bool synced = true;  // not changed while a save runs

  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    return std::make_unique<Writer>(files_.open_for_writing(path, mode), synced);
  }
  void sync_directory(const std::string& path) override {
    if (synced) files_.sync_directory(path);
  }

 private:
  class Writer final : public WritableFile {
   public:
    Writer(std::unique_ptr<WritableFile> file, bool synced) : file_(std::move(file)), synced_(synced) {}
    void append(std::string_view bytes) override { file_->append(bytes); }
    void sync() override {
      if (synced_) file_->sync();
    }
    void close() override { file_->close(); }
    const std::string& path() const override { return file_->path(); }

   private:
    const std::unique_ptr<WritableFile> file_;
    const bool synced_;
  };
};

}  // namespace runnel::benches
