// A box cut out of a tensor: what a partitioned variable saves as one part. Also its three spellings: the
// text that SaveV2 and RestoreV2 take ("10 2 4,3:0,2" is rows 4 to 6 of a [10,2] tensor), the key under which
// the part lies in an index, and the copy between boxes. Source: the checkpoint format page in README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/tensor.h"

namespace runnel {

struct TensorSlice {
  // A stretch of one dimension. A length of kWhole stands for all of it, and then start is 0.
  struct Extent {
    static constexpr std::int64_t kWhole = -1;
    std::int64_t start = 0;
    std::int64_t length = kWhole;
    bool operator==(const Extent&) const = default;
  };
  std::vector<Extent> extents;
  bool operator==(const TensorSlice&) const = default;

  // With every length a number. Throws InvalidArgument if the slice does not lie within `full`.
  TensorSlice within(const Shape& full) const;
  // Requires: every length is a number.
  Shape shape() const;
  std::string text() const;  // "4,3:0,-"
};

// A box of a tensor of shape `full`.
struct SliceSpec {
  Shape full;
  TensorSlice slice;
};

// Reads "10 2 4,3:0,2" ("-" is a whole dimension). Empty text, and a slice that covers the whole tensor, give
// nothing. Throws InvalidArgument.
std::optional<SliceSpec> parse_slice_spec(std::string_view text);

// The key of a part in an index; it starts with a zero byte and so sorts before every plain name.
std::string slice_key(const std::string& name, const TensorSlice& slice);

// Where both boxes are; nothing if nowhere. Requires: slices of one rank with lengths.
std::optional<TensorSlice> intersection(const TensorSlice& a, const TensorSlice& b);

// True if they share an element. Requires: as above.
bool overlap(const TensorSlice& a, const TensorSlice& b);

// Copies what the boxes `from_slice` and `to_slice` of one tensor share from `from` into `to`; returns the
// number of elements. Requires: the tensors have the shapes of their boxes and one dtype.
std::int64_t copy_shared(const Tensor& from, const TensorSlice& from_slice, Tensor& to,
                         const TensorSlice& to_slice);

}  // namespace runnel
