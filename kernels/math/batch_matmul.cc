// BatchMatMulV2: one product after another, each shared among threads as MatMul's is.
#include <vector>

#include "kernels/gemm.h"

namespace runnel {
namespace {

// How many matrices of a factor a step along each batch dimension of the result is; 0 where it stretches.
std::vector<std::int64_t> steps_of(const Shape& factor, int batch_rank) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(batch_rank), 0);
  std::int64_t step = 1;
  for (int i = factor.rank() - 3, at = batch_rank - 1; i >= 0; --i, --at) {
    if (factor[i] != 1) out[static_cast<std::size_t>(at)] = step;
    step *= factor[i];
  }
  return out;
}

// The matrix of a factor that goes into the ith product.
std::int64_t matrix_of(std::int64_t i, const Shape& result, const std::vector<std::int64_t>& steps) {
  std::int64_t out = 0;
  for (std::size_t d = steps.size(); d-- > 0;) {
    const std::int64_t dim = result[static_cast<int>(d)];
    out += i % dim * steps[d];
    i /= dim;
  }
  return out;
}

Shape last_two(const Shape& shape) { return {shape[shape.rank() - 2], shape[shape.rank() - 1]}; }

template <class T>
void bind_products(Bind& b) {
  const Shape &x = b.input("x").shape, &y = b.input("y").shape, out = b.output("output").shape;
  const Gemm g = gemm(last_two(x), b.flag("adj_x"), last_two(y), b.flag("adj_y"));
  const std::int64_t size = g.m * g.n, count = size == 0 ? 0 : out.elements() / size;
  b.costs(nanoseconds(g) * static_cast<double>(count));
  b.run([=, x_steps = steps_of(x, out.rank() - 2), y_steps = steps_of(y, out.rank() - 2), left = b.in<T>("x"),
         right = b.in<T>("y"), product = b.out<T>("output")](Context& c) {
    for (std::int64_t i = 0; i < count; ++i)
      multiply(g, c[left] + matrix_of(i, out, x_steps) * g.m * g.k,
               c[right] + matrix_of(i, out, y_steps) * g.k * g.n, c[product] + i * size, c);
  });
}

const KernelRegistration kBatchMatMulV2{"BatchMatMulV2",
                                        on<float, double, std::int16_t, std::int32_t, std::int64_t>,
                                        []<class T>(Bind& b) { bind_products<T>(b); }};

}  // namespace
}  // namespace runnel
