// Allocation: header and elements in one block, the elements at the first multiple of 64 bytes. Plain malloc
// and some room to spare cost a small block a fraction of what glibc's aligned_alloc does. For large blocks
// the system is asked for large pages, whose first use costs a fifth.
#include "graph/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register
constexpr std::size_t kLargePage = 2 << 20;
constexpr std::size_t kWorthLargePages = 4 * kLargePage;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Memory for `bytes`, or null.
void* allocate(std::size_t bytes) {
  if (bytes < kWorthLargePages) return std::malloc(bytes);
  bytes = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  void* block = std::aligned_alloc(kLargePage, bytes);
#ifdef MADV_HUGEPAGE
  if (block) ::madvise(block, bytes, MADV_HUGEPAGE);  // a wish: without them all works as well
#endif
  return block;
}

}  // namespace

Buffer* Buffer::make(DType type, std::int64_t count) {
  const bool strings = type == DType::kString;
  const std::size_t element = strings ? sizeof(std::string) : size_of(type);
  if (element == 0) throw Unimplemented(cat("tensors of dtype ", type, " hold no values here"));
  if (count < 0 || static_cast<std::uint64_t>(count) > (std::uint64_t{1} << 62) / element)
    throw ResourceExhausted(cat(count, " elements of ", type, " are more than can be addressed"));
  const std::size_t bytes = static_cast<std::size_t>(count) * element;
  void* block = allocate(sizeof(Buffer) + kAlignment - 1 + aligned(std::max<std::size_t>(bytes, 1)));
  if (!block)
    throw ResourceExhausted(cat("no memory for ", bytes, " bytes (", count, " elements of ", type, ")"));
  Buffer* buffer = new (block) Buffer;
  buffer->strings_ = strings;
  buffer->bytes_ = bytes;
  buffer->count_ = count;
  buffer->data_ = reinterpret_cast<void*>(aligned(reinterpret_cast<std::uintptr_t>(buffer + 1)));
  if (strings) std::uninitialized_default_construct_n(static_cast<std::string*>(buffer->data_), count);
  return buffer;
}

void Buffer::destroy(Buffer* buffer) {
  if (buffer->strings_) std::destroy_n(static_cast<std::string*>(buffer->data_), buffer->count_);
  buffer->~Buffer();
  std::free(buffer);
}

}  // namespace runnel
