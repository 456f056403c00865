// A tensor's values as the bytes of a checkpoint's data file and back. Numbers lie there as they lie in
// memory; strings as lengths, a checksum of the lengths, and the characters (README.md, "Values"). Leaves out
// variants, which hold other tensors, and resources, which cannot be saved.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "train/checkpoint/bundle_entry.h"

namespace runnel {

// True if values of this type can be written and read.
bool is_storable(DType type);

// What an entry says of bytes that were written.
struct EncodedValue {
  std::uint64_t size = 0;
  std::uint32_t crc = 0;  // masked
};
// Hands the bytes on piece by piece; numbers from where they lie, without a copy. Requires:
// is_storable(tensor.dtype()).
EncodedValue encode_value(const Tensor& tensor, const std::function<void(std::string_view)>& append);

// Reads and checks what `entry` tells. Throws DataLoss naming the tensor and the file; nothing is allocated
// for bytes that the file does not have. Requires: an entry without slices.
Tensor decode_value(const BundleEntry& entry, const std::string& name, const ReadableFile& file);

// "the value of 'w' in 'model.ckpt.data-...' is damaged: ..." as DataLoss.
[[noreturn]] void throw_damaged(const std::string& name, const ReadableFile& file, const std::string& what);

}  // namespace runnel
