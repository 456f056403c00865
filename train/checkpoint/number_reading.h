// A tensor of numbers on its way from a data file into memory: in parts that threads may read side by side,
// each straight into its place and summed while it is in the cache. The sums of the parts join to the
// tensor's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "train/checkpoint/bundle_entry.h"

namespace runnel {

// Borrows name and file. Threads may call `read` for different parts at once.
class NumberReading {
 public:
  // Takes the memory. Throws DataLoss if the file does not hold the bytes or they do not make the entry's
  // shape. Requires: an entry of a fixed-size dtype without slices.
  NumberReading(const BundleEntry& entry, const std::string& name, const ReadableFile& file,
                std::uint64_t file_size);

  std::int64_t parts() const { return static_cast<std::int64_t>(crcs_.size()); }
  void read(std::int64_t part);
  // Instead, bytes that were read with others. Requires: one part, of as many bytes.
  void take(std::string_view bytes);
  // Once every part was read. Throws DataLoss for a wrong checksum and for bools that are none.
  Tensor finish();

 private:
  std::uint64_t size_of_part(std::int64_t part) const;
  [[noreturn]] void damaged(const std::string& what) const;

  const std::string& name_;
  const ReadableFile& file_;
  const std::uint64_t offset_, size_;
  const std::uint32_t crc_;
  Tensor tensor_;
  char* into_ = nullptr;
  std::vector<std::uint32_t> crcs_;  // of the parts
};

// Throws DataLoss unless the entry's bytes lie within the file.
void require_inside(const BundleEntry& entry, const std::string& name, const ReadableFile& file,
                    std::uint64_t file_size);

}  // namespace runnel
