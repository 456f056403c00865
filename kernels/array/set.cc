// Unique and ListDiff: values found by hashing, in the order of the vectors. NaN equals nothing, also not
// itself.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/kernel.h"

namespace runnel {
namespace {

// The elements of x at these places.
template <class T>
void take(Context& c, const T* x, const std::vector<std::int64_t>& places, Out<T> out) {
  T* to = c.room(out, {static_cast<std::int64_t>(places.size())});
  for (const std::int64_t i : places) *to++ = x[i];
}

template <class T, class I>
void bind_unique(Bind& b) {
  const std::int64_t n = b.input("x").shape[0];
  b.run([n, in = b.in<T>("x"), y = b.out<T>("y"), idx = b.out<I>("idx"), wants = b.wants("idx")](Context& c) {
    const T* x = c[in];
    std::unordered_map<T, I> places;
    std::vector<std::int64_t> firsts;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto [at, is_new] = places.try_emplace(x[i], static_cast<I>(firsts.size()));
      if (is_new) firsts.push_back(i);
      if (wants) c[idx][i] = at->second;
    }
    take(c, x, firsts, y);
  });
}

template <class T, class I>
void bind_list_diff(Bind& b) {
  const std::int64_t n = b.input("x").shape[0], m = b.input("y").shape[0];
  b.run([n, m, left = b.in<T>("x"), right = b.in<T>("y"), out = b.out<T>("out"),
         idx = b.out<I>("idx")](Context& c) {
    const T *x = c[left], *y = c[right];
    const std::unordered_set<T> in_y(y, y + m);
    std::vector<std::int64_t> kept;
    for (std::int64_t i = 0; i < n; ++i)
      if (!in_y.contains(x[i])) kept.push_back(i);
    take(c, x, kept, out);
    std::ranges::copy(kept, c.room(idx, {static_cast<std::int64_t>(kept.size())}));
  });
}

constexpr auto kTypes = on<bool, float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                           std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::string>;
const KernelRegistration kUnique{"Unique", kTypes, []<class T>(Bind& b) {
                                   if (b.type("out_idx") == DType::kInt32)
                                     return bind_unique<T, std::int32_t>(b);
                                   bind_unique<T, std::int64_t>(b);
                                 }};
const KernelRegistration kListDiff{"ListDiff", kTypes, []<class T>(Bind& b) {
                                     if (b.type("out_idx") == DType::kInt32)
                                       return bind_list_diff<T, std::int32_t>(b);
                                     bind_list_diff<T, std::int64_t>(b);
                                   }};

}  // namespace
}  // namespace runnel
