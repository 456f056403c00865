// Unique and ListDiff: values found by hashing, in the order of the vectors. NaN equals nothing, also not
// itself.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "graph/kernel.h"

namespace runnel {
namespace {

using Places = std::vector<std::int64_t>;

// The elements of x at these places.
template <class T>
void take(Context& c, const T* x, const Places& places, Out<T> out) {
  T* to = c.room(out, {static_cast<std::int64_t>(places.size())});
  for (const std::int64_t i : places) *to++ = x[i];
}

// An output of indices, int32 or int64 as out_idx says: apart, so that values are hashed by one code for
// both.
class IndexOutput {
 public:
  IndexOutput(Bind& b, const char* name) {
    if (b.type("out_idx") == DType::kInt32)
      out_ = b.out<std::int32_t>(name);
    else
      out_ = b.out<std::int64_t>(name);
  }
  void write(Context& c, const Places& places) const {
    const Shape shape{static_cast<std::int64_t>(places.size())};
    std::visit([&](auto out) { std::ranges::copy(places, c.room(out, shape)); }, out_);
  }

 private:
  std::variant<Out<std::int32_t>, Out<std::int64_t>> out_;
};

template <class T>
void bind_unique(Bind& b) {
  b.run([n = b.input("x").shape[0], in = b.in<T>("x"), y = b.out<T>("y"), idx = IndexOutput(b, "idx"),
         wants = b.wants("idx")](Context& c) {
    const T* x = c[in];
    std::unordered_map<T, std::int64_t> numbers;
    Places firsts, of_each;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto [at, is_new] = numbers.try_emplace(x[i], static_cast<std::int64_t>(firsts.size()));
      if (is_new) firsts.push_back(i);
      if (wants) of_each.push_back(at->second);
    }
    take(c, x, firsts, y);
    if (wants) idx.write(c, of_each);
  });
}

template <class T>
void bind_list_diff(Bind& b) {
  const std::int64_t n = b.input("x").shape[0], m = b.input("y").shape[0];
  b.run([n, m, left = b.in<T>("x"), right = b.in<T>("y"), out = b.out<T>("out"),
         idx = IndexOutput(b, "idx")](Context& c) {
    const T *x = c[left], *y = c[right];
    const std::unordered_set<T> in_y(y, y + m);
    Places kept;
    for (std::int64_t i = 0; i < n; ++i)
      if (!in_y.contains(x[i])) kept.push_back(i);
    take(c, x, kept, out);
    idx.write(c, kept);
  });
}

constexpr auto kTypes = on<bool, float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                           std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::string>;
const KernelRegistration kUnique{"Unique", kTypes, []<class T>(Bind& b) { bind_unique<T>(b); }};
const KernelRegistration kListDiff{"ListDiff", kTypes, []<class T>(Bind& b) { bind_list_diff<T>(b); }};

}  // namespace
}  // namespace runnel
