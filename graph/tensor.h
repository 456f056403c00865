// A dense array of one dtype and a known shape, row-major. Copies share their memory; writing through
// `mutable_data` copies first when the memory is shared, so a copy never changes under its holder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "graph/buffer.h"
#include "graph/dtype.h"
#include "graph/error.h"
#include "graph/shape.h"

namespace runnel {

// Reading one Tensor from many threads is safe; so is copying it. An empty Tensor (default-made) has dtype
// kInvalid and stands for "no value", as the result of fetching an operation.
class Tensor {
 public:
  Tensor() = default;
  // Elements are not set (strings are empty). Requires: a known shape. Throws InvalidArgument,
  // ResourceExhausted.
  Tensor(DType type, const Shape& shape);
  // Shares `buffer`. Requires: room for the shape's elements.
  Tensor(DType type, const Shape& shape, BufferRef buffer);

  static Tensor zeros(DType type, const Shape& shape);
  template <class T>
  static Tensor scalar(T value) {
    return from<T>({}, std::span<const T>(&value, 1));
  }
  static Tensor scalar(const char* text) { return scalar(std::string(text)); }
  template <class T>
  static Tensor vector(const std::vector<T>& values);
  template <class T>
  static Tensor vector(std::initializer_list<T> values) {
    return vector(std::vector<T>(values));
  }
  template <class T>
  static Tensor matrix(std::initializer_list<std::initializer_list<T>> rows);
  // Requires: as many values as the shape has elements.
  template <class T>
  static Tensor from(const Shape& shape, std::span<const T> values);
  template <class T>
  static Tensor from(const Shape& shape, const std::vector<T>& values) {
    return from<T>(shape, std::span<const T>(values));
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const { return buffer_ ? elements_ : 0; }
  std::size_t bytes() const;  // of the elements; for strings of the std::string objects
  explicit operator bool() const { return dtype_ != DType::kInvalid; }

  // The elements in row-major order. Throws InvalidArgument if T is not the dtype.
  template <class T>
  std::span<const T> values() const {
    require(dtype_of<T>());
    return {static_cast<const T*>(buffer_->data()), static_cast<std::size_t>(elements_)};
  }
  template <class T>
  std::span<T> mutable_values() {
    require(dtype_of<T>());
    return {static_cast<T*>(mutable_data()), static_cast<std::size_t>(elements_)};
  }
  // The only element. Throws InvalidArgument if there is not exactly one or T is not the dtype.
  template <class T>
  T scalar() const {
    require(dtype_of<T>());
    require_one();
    return values<T>()[0];
  }

  const void* data() const { return buffer_ ? buffer_->data() : nullptr; }
  void* mutable_data();
  const BufferRef& buffer() const { return buffer_; }

  // The same elements under another shape. Requires: as many elements.
  Tensor reshaped(const Shape& shape) const;

  // Same dtype, shape and bytes (so a NaN equals itself, and 0 differs from -0).
  bool operator==(const Tensor& other) const;

  // "float[2] [1, 2]"; long tensors are cut.
  std::string text() const;

 private:
  void require(DType wanted) const;
  void require_one() const;

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  std::int64_t elements_ = 0;
  BufferRef buffer_;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// An integer tensor (int32 or int64) as int64 numbers; throws InvalidArgument for other dtypes.
std::vector<std::int64_t> integers(const Tensor& tensor);

template <class T>
Tensor Tensor::vector(const std::vector<T>& values) {
  Tensor out(dtype_of<T>(), Shape{static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), static_cast<T*>(out.mutable_data()));
  return out;
}

template <class T>
Tensor Tensor::matrix(std::initializer_list<std::initializer_list<T>> rows) {
  const auto columns = static_cast<std::int64_t>(rows.size() == 0 ? 0 : rows.begin()->size());
  Tensor out(dtype_of<T>(), Shape{static_cast<std::int64_t>(rows.size()), columns});
  T* to = static_cast<T*>(out.mutable_data());
  for (const auto& row : rows) {
    if (static_cast<std::int64_t>(row.size()) != columns)
      throw InvalidArgument(cat("matrix: a row of ", row.size(), " after rows of ", columns));
    to = std::copy(row.begin(), row.end(), to);
  }
  return out;
}

template <class T>
Tensor Tensor::from(const Shape& shape, std::span<const T> values) {
  Tensor out(dtype_of<T>(), shape);
  if (static_cast<std::int64_t>(values.size()) != out.elements_)
    throw InvalidArgument(cat(values.size(), " values given for a tensor of shape ", shape));
  std::copy(values.begin(), values.end(), static_cast<T*>(out.mutable_data()));
  return out;
}

}  // namespace runnel
