// Products of matrices: OpenBLAS in fixed parts for floats, plain loops for integers.
#include "kernels/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "graph/error.h"
#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

// Rows a call of OpenBLAS, for every thread count: its results may depend on how many there are.
constexpr std::int64_t kBlockRows = 128;

// Rows [begin, end) by OpenBLAS.
template <class T>
void by_blas(const Gemm& g, const T* a, const T* b, T* out, std::int64_t begin, std::int64_t end) {
  const auto ta = g.transpose_a ? CblasTrans : CblasNoTrans, tb = g.transpose_b ? CblasTrans : CblasNoTrans;
  const auto m = static_cast<blasint>(end - begin), n = static_cast<blasint>(g.n),
             k = static_cast<blasint>(g.k);
  const auto a_width = static_cast<blasint>(g.transpose_a ? g.m : g.k);
  const blasint b_width = g.transpose_b ? k : n;
  const T* from = a + (g.transpose_a ? begin : begin * g.k);
  T* to = out + begin * g.n;
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, from, a_width, b, b_width, 0, to, n);
  else
    cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, from, a_width, b, b_width, 0, to, n);
}

// Integers: row i of out gathers a[i, p] times row (or column) p of b.
template <class T>
void by_loops(const Gemm& g, const T* a, const T* b, T* out) {
  const std::int64_t a_row = g.transpose_a ? 1 : g.k, a_column = g.transpose_a ? g.m : 1;
  const std::int64_t b_row = g.transpose_b ? 1 : g.n, b_column = g.transpose_b ? g.k : 1;
  std::fill_n(out, g.m * g.n, T{0});
  for (std::int64_t i = 0; i < g.m; ++i)
    for (std::int64_t p = 0; p < g.k; ++p) {
      const auto factor = static_cast<Wrapping<T>>(a[i * a_row + p * a_column]);
      T* row = out + i * g.n;
      for (std::int64_t j = 0; j < g.n; ++j)
        row[j] = static_cast<T>(static_cast<Wrapping<T>>(row[j]) +
                                factor * static_cast<Wrapping<T>>(b[p * b_row + j * b_column]));
    }
}

}  // namespace

Gemm gemm(const Shape& a, bool transpose_a, const Shape& b, bool transpose_b) {
  for (const std::int64_t dim : {a[0], a[1], b[0], b[1]})
    if (dim > std::numeric_limits<blasint>::max())
      throw Unimplemented(cat("a matrix product over dimension ", dim));
  return {.m = a[transpose_a ? 1 : 0],
          .n = b[transpose_b ? 0 : 1],
          .k = a[transpose_a ? 0 : 1],
          .transpose_a = transpose_a,
          .transpose_b = transpose_b};
}

template <class T>
void multiply(const Gemm& g, const T* a, const T* b, T* out, Context& c) {
  if (g.k == 0) std::fill_n(out, g.m * g.n, T{0});
  if (g.k == 0 || g.m == 0 || g.n == 0) return;
  if constexpr (std::is_integral_v<T>) {
    by_loops(g, a, b, out);
  } else if (g.m <= kBlockRows) {
    by_blas(g, a, b, out, 0, g.m);
  } else {
    c.parallel((g.m + kBlockRows - 1) / kBlockRows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        by_blas(g, a, b, out, i * kBlockRows, std::min((i + 1) * kBlockRows, g.m));
    });
  }
}

template void multiply(const Gemm&, const float*, const float*, float*, Context&);
template void multiply(const Gemm&, const double*, const double*, double*, Context&);
template void multiply(const Gemm&, const std::int16_t*, const std::int16_t*, std::int16_t*, Context&);
template void multiply(const Gemm&, const std::int32_t*, const std::int32_t*, std::int32_t*, Context&);
template void multiply(const Gemm&, const std::int64_t*, const std::int64_t*, std::int64_t*, Context&);

}  // namespace runnel
