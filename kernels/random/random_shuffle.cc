// RandomShuffle: the rows of a tensor in random order, by Fisher and Yates' exchange of each row with a later
// one.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "graph/kernel.h"
#include "kernels/random/philox.h"

namespace runnel {
namespace {

// T is std::byte for elements of a fixed size, `size` of them an element.
template <class T>
void bind_shuffle(Bind& b, std::int64_t size) {
  const Shape& shape = b.input("value").shape;
  const std::int64_t all = shape.elements() * size;
  const std::int64_t rows = shape.rank() == 0 ? 1 : shape[0], width = rows == 0 ? 0 : all / rows;
  // Each exchange takes one word, four of which make a block.
  const auto blocks = static_cast<std::uint64_t>(rows < 2 ? 0 : (rows + 2) / 4);
  b.run([=, state = philox_state(b), in = b.in<T>("value"), out = b.out<T>("output")](Context& c) {
    T* to = c[out];
    std::copy_n(c[in], all, to);
    if (rows < 2) return;
    const Philox stream = state->take(blocks);
    PhiloxWords next(stream, 0);
    for (std::int64_t i = 0; i < rows - 1; ++i) {
      const std::int64_t j = i + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(rows - i));
      if (i != j) std::swap_ranges(to + i * width, to + (i + 1) * width, to + j * width);
    }
  });
}

const KernelRegistration kRandomShuffle{"RandomShuffle", any, [](Bind& b) {
                                          const std::size_t size = size_of(b.input("value").dtype);
                                          if (size == 0)
                                            bind_shuffle<std::string>(b, 1);
                                          else
                                            bind_shuffle<std::byte>(b, static_cast<std::int64_t>(size));
                                        }};

}  // namespace
}  // namespace runnel
