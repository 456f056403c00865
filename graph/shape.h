// The shape of a tensor: known, known in part (a dimension of kUnknown) or of unknown rank. Up to eight
// dimensions lie in the object itself, so that making and comparing shapes takes no memory from the heap.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace runnel {

inline constexpr std::int64_t kUnknown = -1;

// A value type. Dimensions are >= 0 or kUnknown; anything else is refused when the shape is made.
class Shape {
 public:
  Shape() = default;  // a scalar: rank 0
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);
  static Shape unknown();                  // not even the rank is known
  static Shape unknown_of_rank(int rank);  // [?,?,...]

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }  // -1 if unknown
  std::int64_t operator[](int i) const { return data()[i]; }
  std::span<const std::int64_t> dims() const;
  bool is_known() const;  // rank and every dimension

  // Number of elements. Requires: is_known(). Throws InvalidArgument over 2^62.
  std::int64_t elements() const;

  void set(int i, std::int64_t dim) { data()[i] = dim; }
  void push_back(std::int64_t dim);

  // Equal as descriptions: [?] equals [?], not [3].
  bool operator==(const Shape& other) const;
  // True if one tensor could have both shapes.
  bool compatible_with(const Shape& other) const;
  // What is known from both. Requires: compatible_with(other).
  Shape merged_with(const Shape& other) const;

  std::string text() const;  // "[32,784]", "[?,10]", "[]", "<unknown>"

 private:
  static constexpr int kInline = 8;
  std::int64_t* data() { return rank_ > kInline ? more_.data() : few_.data(); }
  const std::int64_t* data() const { return rank_ > kInline ? more_.data() : few_.data(); }

  int rank_ = 0;
  std::array<std::int64_t, kInline> few_{};
  std::vector<std::int64_t> more_;  // used alone when the rank is over kInline
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The shape that NumPy's rule gives for an elementwise operation on a and b; dimensions of 1 stretch. Throws
// InvalidArgument if they do not fit.
Shape broadcast(const Shape& a, const Shape& b);

// Over which axes of broadcast(a, b) a gradient must be summed to fit a, and to fit b. Where both have 1 the
// axis is in both lists, but equal shapes have none (as TensorFlow's BroadcastGradientArgs). Requires: both
// known. Throws InvalidArgument if they do not fit.
struct BroadcastAxes {
  std::vector<std::int64_t> a, b;
};
BroadcastAxes broadcast_axes(const Shape& a, const Shape& b);

}  // namespace runnel
