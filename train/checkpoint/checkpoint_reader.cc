// The reader over a Bundle: names, refusals, and which index to trust.
#include "train/checkpoint/checkpoint_reader.h"

#include <algorithm>

#include "train/checkpoint/bundle.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_recovery.h"

namespace runnel {
namespace {

std::string index_to_read(FileSystem& files, const std::string& prefix) {
  if (!files.exists(index_path(prefix))) refuse_prefix(files, prefix);
  return valid_index(files, prefix);
}

}  // namespace

class CheckpointReader::State {
 public:
  State(FileSystem& files, const std::string& prefix_given)
      : prefix(prefix_given), bundle(files, prefix, index_to_read(files, prefix)) {}

  const BundleEntry& entry(const std::string& name) const {
    std::size_t nowhere = SIZE_MAX;
    return entry(name, nowhere);
  }
  const BundleEntry& entry(const std::string& name, std::size_t& place) const {
    if (const BundleEntry* found = bundle.find(name, place)) return *found;
    std::vector<std::string> names;
    for (const auto& variable : bundle.variables()) names.push_back(variable.name);
    throw NotFound(cat("no ", quoted(name), " in checkpoint '", prefix, "', which holds ",
                       names.empty() ? "nothing" : name_some(names)));
  }

  std::string prefix;
  Bundle bundle;
};

CheckpointReader::CheckpointReader(const std::string& prefix, CheckpointReaderOptions options)
    : state_(
          std::make_unique<State>(options.file_system ? *options.file_system : real_file_system(), prefix)) {}
CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

const std::string& CheckpointReader::prefix() const { return state_->prefix; }

const std::vector<VariableInfo>& CheckpointReader::variables() const { return state_->bundle.variables(); }

bool CheckpointReader::has(const std::string& name) const { return state_->bundle.find(name) != nullptr; }

const VariableInfo& CheckpointReader::info(const std::string& name) const {
  const auto at = std::ranges::lower_bound(variables(), name, {}, &VariableInfo::name);
  if (at == variables().end() || at->name != name) state_->entry(name);  // throws
  return *at;
}

const std::vector<TensorSlice>& CheckpointReader::parts(const std::string& name) const {
  return state_->entry(name).slices;
}

std::uint64_t CheckpointReader::stored_bytes(const std::string& name) const {
  return state_->bundle.stored_bytes(name, state_->entry(name));
}

int CheckpointReader::data_files() const { return state_->bundle.shards(); }

Tensor CheckpointReader::read(const std::string& name) const {
  return state_->bundle.read(name, state_->entry(name));
}

Tensor CheckpointReader::read(const std::string& name, const TensorSlice& slice) const {
  return state_->bundle.read(name, state_->entry(name), slice);
}

std::vector<Tensor> CheckpointReader::read(std::span<const TensorRequest> wanted,
                                           const RunAll& run_all) const {
  std::vector<NamedEntry> entries;
  entries.reserve(wanted.size());
  std::size_t place = 0;
  for (const TensorRequest& one : wanted) entries.push_back({&one, &state_->entry(one.name, place)});
  if (run_all) return state_->bundle.read(entries, run_all);
  return state_->bundle.read(entries, [](std::int64_t n, const std::function<void(std::int64_t)>& body) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
  });
}

void CheckpointReader::verify() const { state_->bundle.verify(); }

std::vector<CheckpointDamage> CheckpointReader::find_damage() const {
  std::vector<CheckpointDamage> found;
  for (const VariableInfo& variable : variables()) {
    try {
      state_->bundle.verify(variable.name);
    } catch (const DataLoss& e) {
      found.push_back({variable.name, e.message()});
    }
  }
  return found;
}

}  // namespace runnel
