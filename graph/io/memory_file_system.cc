// The two states of each file and directory, and the ways in which a power cut mixes them.
#include "graph/io/memory_file_system.h"

#include <algorithm>
#include <set>

namespace runnel {
namespace {

constexpr std::size_t kMostChoices = 20;  // bits: a million states are too many to list

// What may be there of bytes that were written but not synced.
std::set<std::string> torn(const std::string& synced, const std::string& bytes) {
  const std::size_t kept = bytes.starts_with(synced) ? synced.size() : 0;
  std::string zeros = bytes.substr(0, kept);
  zeros.resize(bytes.size(), '\0');
  return {synced, bytes, bytes.substr(0, kept + (bytes.size() - kept) / 2), zeros};
}

// Adds `disk` with every choice for the files from `at` on.
void add_choices(const std::vector<std::pair<std::string, std::set<std::string>>>& files, std::size_t at,
                 DiskContents& disk, std::set<DiskContents>& found) {
  if (at == files.size()) {
    found.insert(disk);
    return;
  }
  for (const std::string& bytes : files[at].second) {
    disk[files[at].first] = bytes;
    add_choices(files, at + 1, disk, found);
  }
}

}  // namespace

class MemoryFileSystem::Writer final : public WritableFile {
 public:
  Writer(MemoryFileSystem& files, std::shared_ptr<Node> node, std::string path)
      : files_(files), node_(std::move(node)), path_(std::move(path)) {}
  void append(std::string_view bytes) override {
    const std::lock_guard lock(files_.mutex_);
    files_.write(*node_, bytes, path_);
  }
  void sync() override {
    const std::lock_guard lock(files_.mutex_);
    node_->synced = node_->bytes;
  }
  void close() override {}
  const std::string& path() const override { return path_; }

 private:
  MemoryFileSystem& files_;
  std::shared_ptr<Node> node_;
  std::string path_;
};

class MemoryFileSystem::Reader final : public ReadableFile {
 public:
  Reader(MemoryFileSystem& files, std::shared_ptr<Node> node, std::string path)
      : files_(files), node_(std::move(node)), path_(std::move(path)) {}
  std::size_t read_at(std::uint64_t offset, std::span<char> into) const override {
    const std::lock_guard lock(files_.mutex_);
    if (offset >= node_->bytes.size()) return 0;
    return node_->bytes.copy(into.data(), into.size(), offset);
  }
  std::uint64_t size() const override {
    const std::lock_guard lock(files_.mutex_);
    return node_->bytes.size();
  }
  const std::string& path() const override { return path_; }

 private:
  MemoryFileSystem& files_;
  std::shared_ptr<Node> node_;
  std::string path_;
};

void MemoryFileSystem::reboot(PowerCut cut) {
  const std::lock_guard lock(mutex_);
  if (cut != PowerCut::kKeepsNames) names_ = synced_names_;
  forget_unreachable(names_);
  for (const auto& [path, node] : names_) {
    if (cut == PowerCut::kKeepsBytes) node->synced = node->bytes;
    node->bytes = node->synced;
  }
  synced_names_ = names_;
  changes_of_names_.clear();
}

std::vector<DiskContents> MemoryFileSystem::crash_states() const {
  const std::lock_guard lock(mutex_);
  const std::size_t changes = changes_of_names_.size();
  if (changes > kMostChoices)
    throw FailedPrecondition(cat(changes, " names are not synced: too many crash states to list"));
  std::set<DiskContents> found;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << changes; ++chosen) {
    Names names = synced_names_;
    for (std::size_t i = 0; i < changes; ++i)
      if (chosen >> i & 1) apply(names, changes_of_names_[i]);
    forget_unreachable(names);
    DiskContents disk;
    std::vector<std::pair<std::string, std::set<std::string>>> unsynced;
    for (const auto& [path, node] : names) {
      if (node->directory)
        disk[path] = std::nullopt;
      else if (node->bytes == node->synced)
        disk[path] = node->bytes;
      else
        unsynced.emplace_back(path, torn(node->synced, node->bytes));
    }
    add_choices(unsynced, 0, disk, found);
  }
  return {found.begin(), found.end()};
}

void MemoryFileSystem::boot(const DiskContents& contents) {
  const std::lock_guard lock(mutex_);
  names_.clear();
  for (const auto& [path, bytes] : contents)
    names_[clean(path)] = std::make_shared<Node>(Node{.directory = !bytes,
                                                      .bytes = bytes.value_or(""),
                                                      .synced = bytes.value_or(""),
                                                      .modified = ++changes_});
  synced_names_ = names_;
  changes_of_names_.clear();
}

std::map<std::string, std::string> MemoryFileSystem::contents() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> out;
  for (const auto& [path, node] : names_)
    if (!node->directory) out[path] = node->bytes;
  return out;
}

std::unique_ptr<WritableFile> MemoryFileSystem::open_for_writing(const std::string& path, WriteMode mode) {
  const std::lock_guard lock(mutex_);
  require_parent(path);
  auto& slot = names_[clean(path)];
  if (slot && slot->directory)
    throw FailedPrecondition(cat("cannot open for writing '", path, "': a directory"));
  if (slot && mode == WriteMode::kExclusive)
    throw AlreadyExists(cat("cannot open for writing '", path, "': it exists"));
  if (!slot) {
    slot = std::make_shared<Node>();
    note("", clean(path), slot);
  }
  if (mode == WriteMode::kTruncate) slot->bytes.clear();
  slot->modified = ++changes_;
  return std::make_unique<Writer>(*this, slot, path);
}

std::unique_ptr<ReadableFile> MemoryFileSystem::open_for_reading(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (node(path)->directory) throw FailedPrecondition(cat("cannot read '", path, "': a directory"));
  return std::make_unique<Reader>(*this, node(path), path);
}

void MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const auto moved = node(from);
  if (moved->directory) throw Unimplemented(cat("renaming directory '", from, "' in memory"));
  require_parent(to);
  const auto old = names_.find(clean(to));
  if (old != names_.end() && old->second->directory)
    throw FailedPrecondition(cat("cannot rename '", from, "' to directory '", to, "'"));
  names_.erase(clean(from));
  names_[clean(to)] = moved;
  if (clean(parent_of(clean(from))) == clean(parent_of(clean(to))))
    return note(clean(from), clean(to), moved);
  note("", clean(to), moved);
  note(clean(from), "", nullptr);
}

void MemoryFileSystem::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (node(path)->directory) throw FailedPrecondition(cat("cannot remove '", path, "': a directory"));
  names_.erase(clean(path));
  note(clean(path), "", nullptr);
}

void MemoryFileSystem::remove_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!node(path)->directory || holds_names(clean(path)))
    throw FailedPrecondition(cat("cannot remove directory '", path, "': not an empty directory"));
  names_.erase(clean(path));
  note(clean(path), "", nullptr);
}

bool MemoryFileSystem::make_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::string cleaned = clean(path);
  if (cleaned.empty() || cleaned == "/") return false;
  require_parent(path);
  auto& slot = names_[cleaned];
  if (slot && !slot->directory)
    throw AlreadyExists(cat("cannot make directory '", path,
                            "': a file of that name is in the way; move it away or give another path"));
  if (slot) return false;
  slot = std::make_shared<Node>(Node{.directory = true, .bytes = {}, .synced = {}, .modified = ++changes_});
  note("", cleaned, slot);
  return true;
}

void MemoryFileSystem::sync_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::string directory = clean(path);
  const auto inside = [&](const auto& name) { return clean(parent_of(name.first)) == directory; };
  std::erase_if(synced_names_, inside);
  std::ranges::copy_if(names_, std::inserter(synced_names_, synced_names_.end()), inside);
  std::erase_if(changes_of_names_, [&](const Change& change) { return change.directory == directory; });
}

std::vector<std::string> MemoryFileSystem::list(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  const std::string cleaned = clean(directory);
  if (!cleaned.empty() && cleaned != "/") node(directory);
  std::vector<std::string> names;
  for (const auto& [path, node] : names_)
    if (clean(parent_of(path)) == cleaned) names.push_back(base_name_of(path));
  std::ranges::sort(names);
  return names;
}

bool MemoryFileSystem::exists(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::string cleaned = clean(path);
  return cleaned.empty() || cleaned == "/" || names_.contains(cleaned);
}

bool MemoryFileSystem::is_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::string cleaned = clean(path);
  if (cleaned.empty() || cleaned == "/") return true;
  const auto it = names_.find(cleaned);
  return it != names_.end() && it->second->directory;
}

std::uint64_t MemoryFileSystem::file_size(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return node(path)->bytes.size();
}

double MemoryFileSystem::modified(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return node(path)->modified;
}

std::uint64_t MemoryFileSystem::free_bytes(const std::string&) {
  const std::lock_guard lock(mutex_);
  return capacity_ - std::min(capacity_, used());
}

std::string MemoryFileSystem::identity(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::string cleaned = clean(path);
  if (cleaned.empty() || cleaned == "/") return cat("root ", cleaned);
  const auto it = names_.find(cleaned);
  return it == names_.end() ? "" : cat(static_cast<const void*>(it->second.get()));
}

std::string MemoryFileSystem::clean(const std::string& path) {
  std::string out = path.starts_with('/') ? "/" : "";
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = std::string_view(path).substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !out.empty()) {
      out = out.find('/') == std::string::npos ? "" : parent_of(out);
      continue;
    }
    if (!out.empty() && out != "/") out += '/';
    out += part;
  }
  return out;
}

const std::shared_ptr<MemoryFileSystem::Node>& MemoryFileSystem::node(const std::string& path) const {
  const auto it = names_.find(clean(path));
  if (it == names_.end()) throw NotFound(cat("cannot open '", path, "': no such file or directory"));
  return it->second;
}

void MemoryFileSystem::require_parent(const std::string& path) const {
  const std::string parent = clean(parent_of(clean(path)));
  if (parent.empty() || parent == "/") return;
  if (!node(parent)->directory)
    throw FailedPrecondition(cat("cannot make '", path, "': '", parent, "' is a file"));
}

bool MemoryFileSystem::holds_names(const std::string& directory) const {
  return std::ranges::any_of(names_, [&](const auto& name) { return parent_of(name.first) == directory; });
}

void MemoryFileSystem::note(const std::string& removed, const std::string& added,
                            std::shared_ptr<Node> node) {
  const std::string directory = clean(parent_of(added.empty() ? removed : added));
  changes_of_names_.push_back({directory, removed, added, std::move(node)});
}

void MemoryFileSystem::apply(Names& names, const Change& change) {
  if (!change.removed.empty()) names.erase(change.removed);
  if (!change.added.empty()) names[change.added] = change.node;
}

// A name under a directory that is gone cannot be reached. Parents come before their children.
void MemoryFileSystem::forget_unreachable(Names& names) {
  for (auto it = names.begin(); it != names.end();) {
    const std::string parent = parent_of(it->first);
    const bool reachable = parent == "." || parent == "/" || names.contains(parent);
    it = reachable ? std::next(it) : names.erase(it);
  }
}

std::uint64_t MemoryFileSystem::used() const {
  std::uint64_t sum = 0;
  for (const auto& [path, node] : names_) sum += node->bytes.size();
  return sum;
}

void MemoryFileSystem::write(Node& node, std::string_view bytes, const std::string& path) {
  const std::uint64_t room = capacity_ - std::min(capacity_, used());
  node.bytes.append(bytes.substr(0, room));
  node.modified = ++changes_;
  if (bytes.size() > room)
    throw ResourceExhausted(cat("cannot write '", path, "': No space left on device, ", bytes.size(),
                                " bytes wanted, ", room, " free; free some space or name another folder"));
}

}  // namespace runnel
