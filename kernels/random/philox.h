// The generator of every random op: Philox4x32-10, which turns a counter and a key into four random words.
// Numbers depend on the counter alone, so blocks are made in any order and on any number of threads with the
// same result. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); how seeds become
// counter and key is TensorFlow's (formats 9).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <random>

#include "graph/kernel.h"

namespace runnel {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// A position in one stream of blocks. A value; `at` may be asked from many threads.
class Philox {
 public:
  // The stream of a pair of seeds, `begin` blocks after its start.
  Philox(std::uint64_t seed, std::uint64_t seed2, std::uint64_t begin)
      : key_(seed), high_(seed2), low_(begin) {}

  // The block `i` after the position.
  PhiloxBlock at(std::uint64_t i) const {
    const std::uint64_t low = low_ + i, high = high_ + (low < i ? 1 : 0);
    std::uint32_t c0 = word(low), c1 = word(low >> 32), c2 = word(high), c3 = word(high >> 32);
    std::uint32_t k0 = word(key_), k1 = word(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = kMultiplier0 * c0, p1 = kMultiplier1 * c2;
      c0 = word(p1 >> 32) ^ c1 ^ k0;
      c1 = word(p1);
      c2 = word(p0 >> 32) ^ c3 ^ k1;
      c3 = word(p0);
      k0 += 0x9E3779B9u;  // the golden ratio and sqrt(3) - 1, as the paper has them
      k1 += 0xBB67AE85u;
    }
    return {c0, c1, c2, c3};
  }

 private:
  static constexpr std::uint64_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;  // from the paper
  static std::uint32_t word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }

  std::uint64_t key_, high_, low_;
};

// The words of consecutive blocks, one at a time.
class PhiloxWords {
 public:
  PhiloxWords(const Philox& stream, std::uint64_t begin) : stream_(stream), next_(begin) {}
  std::uint32_t operator()() {
    if (left_ == 0) {
      block_ = stream_.at(next_++);
      left_ = 4;
    }
    return block_[static_cast<std::size_t>(4 - left_--)];
  }

 private:
  const Philox& stream_;
  std::uint64_t next_;
  PhiloxBlock block_{};
  int left_ = 0;
};

// How far one random node of a session has come. Executions on many threads each take their own part.
class PhiloxState : public NodeState {
 public:
  // Seeds (0, 0) mean a start that differs each time.
  PhiloxState(std::int64_t seed, std::int64_t seed2)
      : seed_(static_cast<std::uint64_t>(seed)), seed2_(static_cast<std::uint64_t>(seed2)) {
    if (seed_ != 0 || seed2_ != 0) return;
    std::random_device entropy;
    seed_ = entropy() | std::uint64_t{entropy()} << 32;
    seed2_ = entropy() | std::uint64_t{entropy()} << 32;
  }
  Philox take(std::uint64_t blocks) {
    return {seed_, seed2_, used_.fetch_add(blocks, std::memory_order_relaxed)};
  }

 private:
  std::uint64_t seed_, seed2_;
  std::atomic<std::uint64_t> used_{0};
};

// The state of the node being bound.
inline std::shared_ptr<PhiloxState> philox_state(const Bind& b) {
  return b.state<PhiloxState>(b.integer("seed"), b.integer("seed2"));
}

// Blocks that TensorFlow sets aside for each number drawn, whatever it needs (formats 9.2).
inline constexpr std::uint64_t kBlocksPerNumber = 256;

}  // namespace runnel
