// The values in a checkpoint's index: its header, and for each tensor dtype, shape and where the bytes lie.
// These are the messages BundleHeaderProto and BundleEntryProto as plain structs, checked when they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "graph/shape.h"
#include "train/checkpoint/tensor_slice.h"

namespace runnel {

inline constexpr int kMostShards = 99999;  // file names hold five digits

// A tensor's name in quotes for messages; bytes that do not print are shown as \x00.
std::string quoted(const std::string& name);

struct BundleEntry {
  DType dtype = DType::kInvalid;
  Shape shape;  // known
  int shard = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;                 // masked
  std::vector<TensorSlice> slices = {};  // of a tensor saved in parts; then it has no bytes of its own

  // Throws DataLoss; `name` is for the message. Checks what needs no file: a known shape of less than 2^63
  // elements, a shard below `shards`, offset and size that do not wrap, slices within the shape.
  static BundleEntry parse(std::string_view bytes, const std::string& name, int shards);
  std::string bytes() const;
};

// Reads and writes many entries, as BundleEntry does one, without taking new memory for each message.
class BundleEntryCodec {
 public:
  BundleEntryCodec();
  ~BundleEntryCodec();
  BundleEntry parse(std::string_view bytes, const std::string& name, int shards);
  std::string bytes(const BundleEntry& entry);

 private:
  struct Message;
  const std::unique_ptr<Message> message_;
};

// The number of data files, from the entry with the empty key. Throws DataLoss, or Unimplemented for
// big-endian files and for versions that this reader is told not to read.
int parse_header(std::string_view bytes);
std::string header_bytes(int shards);

}  // namespace runnel
