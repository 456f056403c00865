// Add, AddV2 and AddN. Integers wrap around; strings are joined.
#include <algorithm>
#include <vector>

#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

struct Plus {
  template <class T>
  static T apply(const T& x, const T& y) {
    if constexpr (std::is_same_v<T, std::string>)
      return x + y;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
  }
};

const KernelRegistration kAdd{
    "Add",
    on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::string>,
    []<class T>(Bind& b) { bind_binary<Plus, T>(b); },
    {.in_place = true}};
const KernelRegistration kAddV2{"AddV2",
                                on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                                []<class T>(Bind& b) { bind_binary<Plus, T>(b); },
                                {.in_place = true}};

// Adds the inputs one after another, as ((a + b) + c) + d.
template <class T>
void bind_add_n(Bind& b) {
  std::vector<In<T>> in;
  for (int k = 0; k < b.count("inputs"); ++k) in.push_back(b.in<T>("inputs", k));
  const std::int64_t n = b.input("inputs", 0).shape.elements();
  b.run([n, in, sum = b.out<T>("sum")](Context& c) {
    c.parallel(n, kElementwiseGrain, [&](std::int64_t begin, std::int64_t end) {
      T* to = c[sum] + begin;
      std::copy_n(c[in[0]] + begin, end - begin, to);
      for (std::size_t k = 1; k < in.size(); ++k)
        Loops<Plus, T, T>::both(to, c[in[k]] + begin, to, {.n = end - begin});
    });
  });
}

// Not in place: the sum is written before later inputs are read.
const KernelRegistration kAddN{"AddN",
                               on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                  std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                               []<class T>(Bind& b) { bind_add_n<T>(b); }};

}  // namespace
}  // namespace runnel
