// Transpose: the loops run in the result's order, so that writing is dense. InvertPermutation beside it.
#include <algorithm>

#include "graph/error.h"
#include "kernels/array/strided_copy.h"

namespace runnel {
namespace {

const KernelRegistration kTranspose{
    "Transpose", any, [](Bind& b) {
      const Shape& x = b.input("x").shape;
      const Shape& y = b.output("y").shape;
      const std::vector<std::int64_t> from = strides_of(x), to = strides_of(y);
      const std::vector<std::int64_t> perm = integers(b.value("perm"));
      std::vector<Walk> walks;
      for (int i = 0; i < y.rank(); ++i) {
        const std::int64_t entry = perm[static_cast<std::size_t>(i)];
        const auto source = static_cast<std::size_t>(entry < 0 ? entry + x.rank() : entry);
        walks.push_back({y[i], from[source], to[static_cast<std::size_t>(i)]});
      }
      bind_copy(b, "x", "y", {b.input("x").dtype, walks});
    }};

const KernelRegistration kInvertPermutation{
    "InvertPermutation", on<std::int32_t, std::int64_t>, []<class T>(Bind& b) {
      const std::int64_t n = b.input("x").shape.elements();
      b.run([n, x = b.in<T>("x"), y = b.out<T>("y")](Context& c) {
        const T* from = c[x];
        T* to = c[y];
        std::fill_n(to, n, T(-1));
        for (std::int64_t i = 0; i < n; ++i) {
          if (from[i] < 0 || from[i] >= n)
            throw InvalidArgument(cat("x[", i, "] = ", from[i], " is not in [0, ", n, ")"));
          if (to[from[i]] != -1)
            throw InvalidArgument(cat("x holds ", from[i], " twice, at ", to[from[i]], " and ", i));
          to[from[i]] = static_cast<T>(i);
        }
      });
    }};

}  // namespace
}  // namespace runnel
