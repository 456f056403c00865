// The machine's files, where every write waits before a door.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "graph/io/forwarding_file_system.h"
#include "tests/graph/door.h"

namespace runnel {

struct HangingFiles final : ForwardingFileSystem {
  struct File final : WritableFile {
    File(std::unique_ptr<WritableFile> real, Door& before) : file(std::move(real)), door(before) {}
    void append(std::string_view bytes) override {
      door.pass();
      file->append(bytes);
    }
    void sync() override { file->sync(); }
    void close() override { file->close(); }
    const std::string& path() const override { return file->path(); }
    const std::unique_ptr<WritableFile> file;
    Door& door;
  };
  HangingFiles() : ForwardingFileSystem(real_file_system()) {}
  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    return std::make_unique<File>(files_.open_for_writing(path, mode), door);
  }
  Door door;
};

}  // namespace runnel
