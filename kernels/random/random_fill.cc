// RandomUniform, RandomStandardNormal, TruncatedNormal and RandomUniformInt: a tensor filled group by group,
// each group from its own place in the node's stream.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "graph/error.h"
#include "graph/kernel.h"
#include "kernels/random/distributions.h"

namespace runnel {
namespace {

constexpr std::int64_t kGrain = 1 << 11;  // groups; some 100 microseconds of normal numbers

// Calls fill(stream, group, out) for groups of `size` numbers; the last group may be cut short.
template <class T, class Fill>
void fill_groups(Context& c, const Philox& stream, T* out, std::int64_t n, std::int64_t size, Fill fill) {
  const std::int64_t whole = n / size;
  c.parallel(whole, kGrain, [=, &stream](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) fill(stream, static_cast<std::uint64_t>(g), out + g * size);
  });
  if (whole * size == n) return;
  T last[4] = {};
  fill(stream, static_cast<std::uint64_t>(whole), last);
  std::copy_n(last, n - whole * size, out + whole * size);
}

// The number of elements asked for. Throws InvalidArgument for a shape that no tensor has.
std::int64_t drawn_elements(const Bind& b) {
  const Shape& shape = b.output("output").shape;
  if (!shape.is_known()) throw InvalidArgument(cat("there is no shape ", b.value("shape")));
  return shape.elements();
}

template <class T, template <class> class Distribution>
void bind_fill(Bind& b) {
  const std::int64_t n = drawn_elements(b);
  b.run([n, state = philox_state(b), out = b.out<T>("output")](Context& c) {
    const Philox stream = state->take(kBlocksPerNumber * static_cast<std::uint64_t>(n));
    fill_groups(c, stream, c[out], n, Distribution<T>::kGroup, Distribution<T>::fill);
  });
}

const KernelRegistration kRandomUniform{"RandomUniform", on<float, double>("dtype"),
                                        []<class T>(Bind& b) { bind_fill<T, Uniform>(b); }};
const KernelRegistration kRandomStandardNormal{"RandomStandardNormal", on<float, double>("dtype"),
                                               []<class T>(Bind& b) { bind_fill<T, Normal>(b); }};
const KernelRegistration kTruncatedNormal{"TruncatedNormal", on<float, double>("dtype"),
                                          []<class T>(Bind& b) { bind_fill<T, TruncatedNormal>(b); }};

// A word reduced modulo the width; small numbers are very slightly likelier, as in TensorFlow.
template <class T>
void bind_integers(Bind& b) {
  using U = std::make_unsigned_t<T>;
  constexpr std::int64_t kGroup = sizeof(T) == 8 ? 2 : 4;
  const std::int64_t n = drawn_elements(b);
  b.run([n, state = philox_state(b), low = b.in<T>("minval"), high = b.in<T>("maxval"),
         out = b.out<T>("output")](Context& c) {
    if (n == 0) return;
    const T from = *c[low], to = *c[high];
    if (from >= to)
      throw InvalidArgument(cat("minval is ", from, " and maxval ", to, ": minval must be less"));
    const U width = static_cast<U>(static_cast<U>(to) - static_cast<U>(from));
    const Philox stream = state->take(kBlocksPerNumber * static_cast<std::uint64_t>(n));
    fill_groups(c, stream, c[out], n, kGroup, [=](const Philox& words, std::uint64_t group, T* to_group) {
      const PhiloxBlock x = words.at(group);
      for (std::size_t i = 0; i < kGroup; ++i) {
        const U word = sizeof(T) == 8 ? static_cast<U>(x[2 * i % 4] | std::uint64_t{x[(2 * i + 1) % 4]} << 32)
                                      : static_cast<U>(x[i]);
        to_group[i] = static_cast<T>(static_cast<U>(from) + word % width);
      }
    });
  });
}

const KernelRegistration kRandomUniformInt{"RandomUniformInt", on<std::int32_t, std::int64_t>("Tout"),
                                           []<class T>(Bind& b) { bind_integers<T>(b); }};

}  // namespace
}  // namespace runnel
