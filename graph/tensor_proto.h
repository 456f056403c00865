// Tensors and shapes as messages, both ways. A TensorProto may hold its values in several forms
// (formats 1.3); all are read, and the one that is written is the one tf.constant writes. Sizes are checked
// before memory is taken, since a message of twenty bytes may claim any shape.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/tensor.h"

namespace runnel {
namespace pb {
class TensorProto;
class TensorShapeProto;
}  // namespace pb

// Memory that the tensors read from one file may take together. Not thread-safe.
class TensorBudget {
 public:
  // Throws ResourceExhausted, beginning with `what`, if so much is not left.
  void take(std::uint64_t size, std::uint64_t count, std::string_view what);

 private:
  static constexpr std::uint64_t kLimit = std::uint64_t{4}
                                          << 30;  // twice what one protobuf message can be long
  std::uint64_t left_ = kLimit;
};

// True if a Tensor can hold values of this dtype number; false for resources, variants and numbers not known.
bool can_hold(int dtype);

// Throws InvalidArgument for a shape or content that does not fit, Unimplemented where !can_hold, and what
// TensorBudget::take throws.
Tensor tensor_of(const pb::TensorProto& proto, TensorBudget& budget);
// Many equal values are written once: readers repeat the last value.
void write_tensor(const Tensor& tensor, pb::TensorProto& proto);
// What the values take at least, as write_tensor writes them.
std::uint64_t least_written_bytes(const Tensor& tensor);

// Throws InvalidArgument for dimensions below -1 and ranks over 254.
Shape shape_of(const pb::TensorShapeProto& proto);
void write_shape(const Shape& shape, pb::TensorShapeProto& proto);

}  // namespace runnel
