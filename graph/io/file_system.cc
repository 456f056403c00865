// What every FileSystem shares: paths, whole files, and replacing a file in one piece.
#include "graph/io/file_system.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace runnel {
namespace {

constexpr std::string_view kTemporary = ".tempstate";  // TensorFlow's temporaries carry the same mark

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Drawn once a process, 15 digits long, never starting with 0.
const std::string& drawn_number() {
  static const std::string drawn = [] {
    const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    constexpr std::uint64_t kSmallest = 100'000'000'000'000;
    const std::uint64_t mixed = now * 0x9e3779b97f4a7c15u ^ static_cast<std::uint64_t>(::getpid()) << 20;
    return std::to_string(kSmallest + mixed % (9 * kSmallest));
  }();
  return drawn;
}

// The digits after the mark; empty if the name is no temporary.
std::string_view number_of_temporary(std::string_view path) {
  const auto at = path.rfind(kTemporary);
  if (at == std::string_view::npos || at == 0) return {};
  const std::string_view digits = path.substr(at + kTemporary.size());
  const bool all = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return all ? digits : std::string_view{};
}

}  // namespace

std::string ReadableFile::read_at(std::uint64_t offset, std::uint64_t count) const {
  const std::uint64_t all = size();
  std::string bytes(offset < all ? std::min(count, all - offset) : 0, '\0');
  bytes.resize(read_at(offset, std::span<char>(bytes)));
  return bytes;
}

std::string parent_of(const std::string& path) {
  const std::string whole = without_trailing_slashes(path);
  const auto slash = whole.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : without_trailing_slashes(whole.substr(0, slash));
}

std::string base_name_of(const std::string& path) {
  const std::string whole = without_trailing_slashes(path);
  const auto slash = whole.rfind('/');
  return slash == std::string::npos ? whole : whole.substr(slash + 1);
}

std::string join_path(const std::string& directory, const std::string& name) {
  if (directory.empty() || name.starts_with('/')) return name;
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

void make_directories(FileSystem& files, const std::string& path) {
  if (path.empty() || files.is_directory(path)) return;
  const std::string parent = parent_of(path);
  if (parent != path) make_directories(files, parent);
  if (files.make_directory(path)) files.sync_directory(parent);
}

std::string read_file(FileSystem& files, const std::string& path, std::uint64_t most) {
  const auto file = files.open_for_reading(path);
  const std::uint64_t size = file->size();
  if (size > most)
    throw InvalidArgument(cat("'", path, "' has ", size, " bytes; the most that is read is ", most));
  return file->read_at(0, size);
}

void rename_temporary(FileSystem& files, const std::string& temporary, const std::string& path) {
  try {
    files.rename(temporary, path);
  } catch (const NotFound&) {
    if (files.exists(temporary)) throw;
    throw Aborted(cat("cannot write '", path, "': its temporary file '", base_name_of(temporary),
                      "' was removed by someone else. Another process seems to be saving into the same ",
                      "directory '", parent_of(path), "': give each process one of its own"));
  }
}

void write_file_atomically(FileSystem& files, const std::string& path, std::string_view bytes) {
  const std::string temporary = temporary_name(path);
  try {
    const auto file = files.open_for_writing(temporary, WriteMode::kExclusive);
    file->append(bytes);
    file->sync();
    file->close();
    rename_temporary(files, temporary, path);
  } catch (...) {
    remove_quietly(files, temporary);
    throw;
  }
  files.sync_directory(parent_of(path));
}

std::string temporary_name(const std::string& path) {
  static std::atomic<std::uint64_t> made{0};
  return cat(path, kTemporary, drawn_number(), made.fetch_add(1, std::memory_order_relaxed));
}

std::string target_of_temporary(const std::string& path) {
  const std::string_view digits = number_of_temporary(path);
  return digits.empty() ? "" : path.substr(0, path.size() - digits.size() - kTemporary.size());
}

bool is_own_temporary(const std::string& path) {
  return number_of_temporary(path).starts_with(drawn_number());
}

void remove_quietly(FileSystem& files, const std::string& path) noexcept {
  try {
    files.remove(path);
  } catch (...) {
    // The error that is passing already says what went wrong.
  }
}

}  // namespace runnel
