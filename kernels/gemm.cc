// Products of matrices: OpenBLAS in fixed parts and tiles for floats, plain loops for integers.
#include "kernels/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "graph/error.h"
#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

// Rows a part, for every thread count: OpenBLAS's results may depend on how many there are. A quarter of all
// within these bounds: each part packs b again, which costs a tenth at 128 rows and a fiftieth at 512.
constexpr std::int64_t kFewestRows = 128, kMostRows = 512;

std::int64_t part_rows(std::int64_t m) {
  const std::int64_t quarter = (m + 4 * kFewestRows - 1) / (4 * kFewestRows) * kFewestRows;
  return std::min(quarter, kMostRows);
}

// OpenBLAS takes its kernels for small matrices up to this many multiplications.
constexpr std::int64_t kMostSmall = 1'000'000;
// Beyond this width a tile's rows lie too far apart for the cache (1 MiB of L2 measured).
constexpr std::int64_t kWidestTiled = 2048;

bool has_small_kernels() {
  static const bool has = [] {
    int major = 0, minor = 0, patch = 0;
    std::sscanf(openblas_get_config(), "OpenBLAS %d.%d.%d", &major, &minor, &patch);
    const std::string_view core = openblas_get_corename();
    return std::tie(major, minor, patch) >= std::make_tuple(0, 3, 17) &&
           (core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids");
  }();
  return has;
}

// Tiles for floats, as measured on a Zen 4 with products of 32 to 4096 rows and columns, each 5 to 25 %
// faster than one call. A transposed b gains only where rows are long.
void choose_tile(Gemm& g) {
  const auto use = [&g](std::int64_t rows, std::int64_t columns) {
    if (rows * columns * g.k > kMostSmall) return;
    g.tile_rows = rows;
    g.tile_columns = columns;
  };
  const double products = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (products <= kMostSmall || g.n > kWidestTiled || !has_small_kernels()) return;
  if (!g.transpose_a && !g.transpose_b) return use(16, 64);
  if (g.transpose_a && !g.transpose_b) return use(48, 64);
  if (!g.transpose_a && g.k >= 512) return use(64, 16);
}

// The results [row, row + rows) x [column, column + columns) by OpenBLAS.
template <class T>
void by_blas(const Gemm& g, const T* a, const T* b, T* out, std::int64_t row, std::int64_t rows,
             std::int64_t column, std::int64_t columns) {
  const auto ta = g.transpose_a ? CblasTrans : CblasNoTrans, tb = g.transpose_b ? CblasTrans : CblasNoTrans;
  const auto m = static_cast<blasint>(rows), n = static_cast<blasint>(columns), k = static_cast<blasint>(g.k);
  const auto a_width = static_cast<blasint>(g.transpose_a ? g.m : g.k),
             b_width = static_cast<blasint>(g.transpose_b ? g.k : g.n), width = static_cast<blasint>(g.n);
  const T* x = a + (g.transpose_a ? row : row * g.k);
  const T* y = b + (g.transpose_b ? column * g.k : column);
  T* to = out + row * g.n + column;
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, x, a_width, y, b_width, 0, to, width);
  else
    cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, x, a_width, y, b_width, 0, to, width);
}

// Rows [begin, end), tile by tile; those of one column of tiles share what is in the cache of b.
template <class T>
void by_tiles(const Gemm& g, const T* a, const T* b, T* out, std::int64_t begin, std::int64_t end) {
  if (g.tile_rows == 0 || !std::is_same_v<T, float>) return by_blas(g, a, b, out, begin, end - begin, 0, g.n);
  for (std::int64_t column = 0; column < g.n; column += g.tile_columns)
    for (std::int64_t row = begin; row < end; row += g.tile_rows)
      by_blas(g, a, b, out, row, std::min(g.tile_rows, end - row), column,
              std::min(g.tile_columns, g.n - column));
}

// OpenBLAS's kernels are slow where b lies transposed: for small products turning it first takes less than it
// saves, 72 ns instead of 117 for 16x3 by 3x16, 720 instead of 1,170 for 32x32x32.
constexpr std::int64_t kMostTurned = 4096;  // elements of b: 16 KiB on the stack

bool is_worth_turning(const Gemm& g) {
  return g.transpose_b && !g.transpose_a && g.m >= 8 && g.n * g.k <= kMostTurned && has_small_kernels();
}

// Four rows of x[rows, columns], as columns of y[columns, rows].
void turn_four(const float* x, std::int64_t rows, std::int64_t columns, float* y) {
  typedef float Four __attribute__((vector_size(16), aligned(alignof(float)), may_alias));
  std::int64_t j = 0;
  for (; j + 4 <= columns; j += 4, x += 4, y += 4 * rows) {
    const Four a = *reinterpret_cast<const Four*>(x), b = *reinterpret_cast<const Four*>(x + columns),
               c = *reinterpret_cast<const Four*>(x + 2 * columns),
               d = *reinterpret_cast<const Four*>(x + 3 * columns);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    *reinterpret_cast<Four*>(y) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *reinterpret_cast<Four*>(y + rows) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    const Four ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *reinterpret_cast<Four*>(y + 2 * rows) = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
    *reinterpret_cast<Four*>(y + 3 * rows) = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
  }
  for (; j < columns; ++j, ++x, y += rows)
    for (std::int64_t i = 0; i < 4; ++i) y[i] = x[i * columns];
}

// With b[n, k] turned to [k, n] first.
void by_turning(const Gemm& g, const float* a, const float* b, float* out) {
  alignas(64) float turned[kMostTurned];  // [k, n]
  std::int64_t i = 0;
  for (; i + 4 <= g.n; i += 4) turn_four(b + i * g.k, g.n, g.k, turned + i);
  for (; i < g.n; ++i)
    for (std::int64_t j = 0; j < g.k; ++j) turned[j * g.n + i] = b[i * g.k + j];
  const Gemm plain{.m = g.m, .n = g.n, .k = g.k};
  by_blas(plain, a, turned, out, 0, g.m, 0, g.n);
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
  Gemm g{.m = a[transpose_a ? 1 : 0],
         .n = b[transpose_b ? 0 : 1],
         .k = a[transpose_a ? 0 : 1],
         .transpose_a = transpose_a,
         .transpose_b = transpose_b};
  choose_tile(g);
  g.turn_b = is_worth_turning(g);
  return g;
}

template <class T>
void multiply(const Gemm& g, const T* a, const T* b, T* out, Context& c) {
  if (g.k == 0) std::fill_n(out, g.m * g.n, T{0});
  if (g.k == 0 || g.m == 0 || g.n == 0) return;
  if constexpr (std::is_integral_v<T>) {
    by_loops(g, a, b, out);
  } else if (g.m <= kFewestRows) {
    if constexpr (std::is_same_v<T, float>)
      if (g.turn_b) return by_turning(g, a, b, out);
    by_tiles(g, a, b, out, 0, g.m);
  } else {
    const std::int64_t rows = part_rows(g.m);
    c.parallel((g.m + rows - 1) / rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        by_tiles(g, a, b, out, i * rows, std::min((i + 1) * rows, g.m));
    });
  }
}

template void multiply(const Gemm&, const float*, const float*, float*, Context&);
template void multiply(const Gemm&, const double*, const double*, double*, Context&);
template void multiply(const Gemm&, const std::int16_t*, const std::int16_t*, std::int16_t*, Context&);
template void multiply(const Gemm&, const std::int32_t*, const std::int32_t*, std::int32_t*, Context&);
template void multiply(const Gemm&, const std::int64_t*, const std::int64_t*, std::int64_t*, Context&);

}  // namespace runnel
