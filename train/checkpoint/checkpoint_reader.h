// Reads a V2 checkpoint, TensorFlow's or ours, without a graph or a session: which tensors it holds, and
// their values. The index is read whole when the reader is made and all its checksums are checked; a value is
// read and checked when it is asked for. Leaves out V1 checkpoints (they are named as such), big-endian files
// and variants.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "graph/variable_info.h"
#include "train/checkpoint/tensor_slice.h"

namespace runnel {

// A tensor wanted, or a region of it.
struct TensorRequest {
  std::string name;
  std::optional<TensorSlice> slice = {};
};

// Calls body(0) to body(n - 1) in any order, on any threads, and returns when all are done; rethrows an
// error.
using RunAll = std::function<void(std::int64_t n, const std::function<void(std::int64_t)>& body)>;

struct CheckpointReaderOptions {
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
};

// A tensor whose value cannot be had.
struct CheckpointDamage {
  std::string name;
  std::string why;
};

// Keeps its files open, so that a checkpoint replaced meanwhile is still read as it was. Many threads may use
// one.
class CheckpointReader {
 public:
  // `prefix` as given to Saver::save. Throws NotFound, InvalidArgument, DataLoss or Unimplemented, saying
  // what was given if it is no prefix and which prefixes there are. Where a save over this prefix was
  // interrupted between its two renames, the new index that was left behind is read, so that values are all
  // old or all new.
  explicit CheckpointReader(const std::string& prefix, CheckpointReaderOptions options = {});
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  const std::string& prefix() const;
  // Every tensor, sorted by name; one that was saved in parts is there once, with its whole shape.
  const std::vector<VariableInfo>& variables() const;
  bool has(const std::string& name) const;
  // Throws NotFound, naming some of what there is.
  const VariableInfo& info(const std::string& name) const;
  // The parts that it was saved in, in their order; none if it was saved whole. Throws NotFound.
  const std::vector<TensorSlice>& parts(const std::string& name) const;
  // Bytes that it takes in the data files, all parts together. Throws NotFound, DataLoss if a part is
  // missing.
  std::uint64_t stored_bytes(const std::string& name) const;
  int data_files() const;

  // The value; parts are joined. Throws NotFound, DataLoss, Unimplemented.
  Tensor read(const std::string& name) const;
  // A region of it, from whatever parts hold it.
  Tensor read(const std::string& name, const TensorSlice& slice) const;

  // Several, in parts that `run_all` may run side by side; none: one after the other.
  std::vector<Tensor> read(std::span<const TensorRequest> wanted, const RunAll& run_all = {}) const;

  // Reads everything and throws DataLoss at the first damage. Variants, which Runnel does not read, are
  // passed over.
  void verify() const;
  // Reads everything and tells all damage, in the order of names.
  std::vector<CheckpointDamage> find_damage() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace runnel
