// Several tensors of a bundle at once: large ones in parts, small ones together until they are worth a
// thread, and those that lie together in the file in one read.
#include <algorithm>
#include <optional>

#include "train/checkpoint/bundle.h"
#include "train/checkpoint/number_reading.h"

namespace runnel {
namespace {

constexpr std::uint64_t kTask = 1 << 20;  // bytes that are worth a thread

// What one thread does without a look aside: parts [begin, end) of the list.
struct Task {
  std::size_t begin = 0, end = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

class Bundle::SideBySide {
 public:
  SideBySide(const Bundle& bundle, std::span<const NamedEntry> wanted)
      : bundle_(bundle), wanted_(wanted), out_(wanted.size()), readings_(wanted.size()) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const BundleEntry& entry = *wanted[i].entry;
      if (wanted[i].wanted->slice || !entry.slices.empty() || size_of(entry.dtype) == 0 ||
          !is_storable(entry.dtype)) {
        add(i, 0, kTask);
        continue;
      }
      const auto shard = static_cast<std::size_t>(entry.shard);
      readings_[i].emplace(entry, wanted[i].wanted->name, *bundle.data_[shard], bundle.sizes_[shard]);
      for (std::int64_t part = 0; part < readings_[i]->parts(); ++part)
        add(i, part, std::min(kTask, entry.size));
    }
  }

  std::vector<Tensor> run(const RunAll& run_all) {
    run_all(static_cast<std::int64_t>(tasks_.size()),
            [this](std::int64_t task) { run(tasks_[static_cast<std::size_t>(task)]); });
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (readings_[i]) out_[i] = readings_[i]->finish();
    return std::move(out_);
  }

 private:
  struct Part {
    std::size_t tensor;
    std::int64_t part;
  };

  void add(std::size_t tensor, std::int64_t part, std::uint64_t bytes) {
    if (tasks_.empty() || tasks_.back().bytes + bytes > kTask)
      tasks_.push_back({parts_.size(), parts_.size(), 0});
    parts_.push_back({tensor, part});
    tasks_.back().end = parts_.size();
    tasks_.back().bytes += bytes;
  }

  void run(const Task& task) {
    if (run_together(task)) return;
    for (std::size_t k = task.begin; k < task.end; ++k) {
      const auto [i, part] = parts_[k];
      const auto& [name, slice] = *wanted_[i].wanted;
      const BundleEntry& entry = *wanted_[i].entry;
      if (readings_[i]) {
        readings_[i]->read(part);
      } else {
        out_[i] = slice ? bundle_.read(name, entry, *slice) : bundle_.read(name, entry);
      }
    }
  }

  // False if the tensors do not lie close enough together.
  bool run_together(const Task& task) {
    if (task.end - task.begin < 2) return false;
    const int shard = wanted_[parts_[task.begin].tensor].entry->shard;
    std::uint64_t begin = UINT64_MAX, end = 0;
    for (std::size_t k = task.begin; k < task.end; ++k) {
      const std::size_t i = parts_[k].tensor;
      const BundleEntry& entry = *wanted_[i].entry;
      if (!readings_[i] || readings_[i]->parts() != 1 || entry.shard != shard) return false;
      begin = std::min(begin, entry.offset);
      end = std::max(end, entry.offset + entry.size);
    }
    if (end - begin > 2 * kTask) return false;
    const std::string bytes = bundle_.data_[static_cast<std::size_t>(shard)]->read_at(begin, end - begin);
    if (bytes.size() != end - begin) return false;  // one of them will say so
    for (std::size_t k = task.begin; k < task.end; ++k) {
      const BundleEntry& entry = *wanted_[parts_[k].tensor].entry;
      readings_[parts_[k].tensor]->take(std::string_view(bytes).substr(entry.offset - begin, entry.size));
    }
    return true;
  }

  const Bundle& bundle_;
  const std::span<const NamedEntry> wanted_;
  std::vector<Tensor> out_;
  std::vector<std::optional<NumberReading>> readings_;  // none for strings, slices and what is in parts
  std::vector<Part> parts_;
  std::vector<Task> tasks_;
};

std::vector<Tensor> Bundle::read(std::span<const NamedEntry> wanted, const RunAll& run_all) const {
  return SideBySide(*this, wanted).run(run_all);
}

}  // namespace runnel
