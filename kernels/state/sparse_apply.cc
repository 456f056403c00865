// SparseApplyMomentum and its resource form: the dense rule on some rows, one after another, since one may be
// named twice. Every operation is rounded on its own, in TensorFlow's order, which is not that of the dense
// op.
#include <cstdint>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

// The shape function has not seen shapes that are known only once a variable is initialised.
void check_shapes(const Shape& var, const Shape& accum, Shape grad, std::int64_t rows) {
  if (!(var == accum))
    throw InvalidArgument(cat("var has shape ", var, ", accum has shape ", accum, ": they must be the same"));
  if (var.rank() == 0 || grad.rank() != var.rank() || grad[0] != rows)
    throw InvalidArgument(
        cat("grad of shape ", grad, " does not hold ", rows, " rows of var, which is ", var));
  grad.set(0, var[0]);
  if (!(grad == var)) throw InvalidArgument(cat("the rows of grad are those of a ", grad, ", var is ", var));
}

template <class I>
void check_rows(const I* indices, std::int64_t count, std::int64_t rows) {
  for (std::int64_t i = 0; i < count; ++i)
    if (indices[i] < 0 || indices[i] >= rows)
      throw InvalidArgument(cat("indices[", i, "] = ", indices[i], " is not in [0, ", rows, ")"));
}

template <class T, class I>
void bind_momentum(Bind& b) {
  const Shape& shape = b.input("var").shape;
  const std::int64_t count = b.input("indices").shape.elements();
  check_shapes(shape, b.input("accum").shape, b.input("grad").shape, count);
  const std::int64_t rows = shape[0], width = rows == 0 ? 0 : shape.elements() / rows;
  const auto with = [&](auto step) {
    b.run([=, var = b.var<T>("var"), accum = b.var<T>("accum"), rate = b.in<T>("lr"), grad = b.in<T>("grad"),
           indices = b.in<I>("indices"), momentum = b.in<T>("momentum")](Context& c) {
      check_rows(c[indices], count, rows);
      const T lr = *c[rate], mu = *c[momentum];
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t at = static_cast<std::int64_t>(c[indices][i]) * width;
        T *x = c[var] + at, *a = c[accum] + at;
        const T* g = c[grad] + i * width;
        for (std::int64_t k = 0; k < width; ++k) {
          a[k] = a[k] * mu + g[k];
          x[k] -= step(g[k], a[k], lr, mu);
        }
      }
    });
  };
  if (b.flag("use_nesterov"))
    with([](T g, T a, T lr, T mu) { return g * lr + lr * mu * a; });
  else
    with([](T, T a, T lr, T) { return a * lr; });
}

constexpr auto kMomentum = []<class T>(Bind& b) {
  if (b.input("indices").dtype == DType::kInt32) return bind_momentum<T, std::int32_t>(b);
  bind_momentum<T, std::int64_t>(b);
};
const KernelRegistration kSparseApplyMomentum{"SparseApplyMomentum", on<float, double>, kMomentum};
const KernelRegistration kResourceSparseApplyMomentum{"ResourceSparseApplyMomentum", on<float, double>,
                                                      kMomentum};

}  // namespace
}  // namespace runnel
