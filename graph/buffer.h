// The memory behind a tensor: counted by reference, 64-byte aligned, holding bytes or std::strings. A Tensor,
// a variable, a fetch slot and a snapshot each hold one count; whoever wants to write looks whether it is the
// only one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph/dtype.h"

namespace runnel {

// One allocation. The count is thread-safe; the contents are not guarded.
class Buffer {
 public:
  // `count` elements of `type`. Numbers are not set, strings are empty. Throws ResourceExhausted naming the
  // bytes when memory cannot be had.
  static Buffer* make(DType type, std::int64_t count);

  void* data() { return data_; }
  const void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  std::int64_t count() const { return count_; }

  void hold() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }
  bool shared() const { return references_.load(std::memory_order_acquire) != 1; }

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 private:
  Buffer() = default;
  ~Buffer() = default;
  static void destroy(Buffer* buffer);

  std::atomic<std::int32_t> references_{1};
  bool strings_ = false;
  std::size_t bytes_ = 0;
  std::int64_t count_ = 0;
  void* data_ = nullptr;
};

// Holds one count of a Buffer, or none.
class BufferRef {
 public:
  BufferRef() = default;
  static BufferRef adopt(Buffer* buffer) { return BufferRef(buffer); }  // takes over a count already held
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_) buffer_->hold();
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_) buffer_->drop();
  }

  Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) {}
  Buffer* buffer_ = nullptr;
};

}  // namespace runnel
