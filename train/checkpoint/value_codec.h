// A tensor's values as the bytes of a checkpoint's data file and back. Numbers lie there as they lie in
// memory; strings as lengths, a checksum of the lengths, and the characters (README.md, "Values"). Leaves out
// variants, which hold other tensors, and resources, which cannot be saved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "train/checkpoint/bundle_entry.h"

namespace runnel {

// True if values of this type can be written and read.
bool is_storable(DType type);

// Bytes to write and their masked checksum. `bytes` may point into the tensor, which must live as long.
struct EncodedValue {
  std::string_view bytes;
  std::uint32_t crc = 0;
  std::string own;  // what `bytes` points at for strings
  EncodedValue() = default;
  EncodedValue(const EncodedValue&) = delete;
  EncodedValue& operator=(const EncodedValue&) = delete;
};
// Requires: is_storable(tensor.dtype()).
void encode_value(const Tensor& tensor, EncodedValue& out);

// Reads and checks what `entry` tells. Throws DataLoss naming the tensor and the file; nothing is allocated
// for bytes that the file does not have. Requires: an entry without slices.
Tensor decode_value(const BundleEntry& entry, const std::string& name, const ReadableFile& file);

}  // namespace runnel
