// Files whose syncs can be left out, to measure what else a save costs: TensorFlow never syncs.
#pragma once

#include "graph/io/file_system.h"

namespace runnel::benches {

// Hands everything on to another FileSystem, which must live as long; syncs only while `synced`.
class UnsyncedFileSystem final : public FileSystem {
 public:
  explicit UnsyncedFileSystem(FileSystem& files) : files_(files) {}
  bool synced = true;  // not changed while a save runs

  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    return std::make_unique<Writer>(files_.open_for_writing(path, mode), synced);
  }
  std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) override {
    return files_.open_for_reading(path);
  }
  void rename(const std::string& from, const std::string& to) override { files_.rename(from, to); }
  void remove(const std::string& path) override { files_.remove(path); }
  void remove_directory(const std::string& path) override { files_.remove_directory(path); }
  bool make_directory(const std::string& path) override { return files_.make_directory(path); }
  void sync_directory(const std::string& path) override {
    if (synced) files_.sync_directory(path);
  }
  std::vector<std::string> list(const std::string& directory) override { return files_.list(directory); }
  bool exists(const std::string& path) override { return files_.exists(path); }
  bool is_directory(const std::string& path) override { return files_.is_directory(path); }
  std::uint64_t file_size(const std::string& path) override { return files_.file_size(path); }
  double modified(const std::string& path) override { return files_.modified(path); }
  std::uint64_t free_bytes(const std::string& path) override { return files_.free_bytes(path); }

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

  FileSystem& files_;
};

}  // namespace runnel::benches
