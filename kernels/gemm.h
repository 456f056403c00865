// Products of matrices. Floats go to OpenBLAS, which runs on one thread (the session sees to that); large
// products in parts of fixed rows that the session's threads share. Its kernels for small matrices, which
// processors with AVX-512 have, pack nothing and are faster than the large ones as long as the data lie in
// the cache, so middle-sized products are cut into tiles that they take. Own loops for small products were
// tried and dropped: OpenBLAS 0.3.21 takes 110 ns for 16x16x16 and 45 ns for 16x4x16 with AVX-512. Integers
// have plain loops. Results never depend on threads.
#pragma once

#include <cstdint>

#include "graph/kernel.h"

namespace runnel {

// out[m, n] = a[m, k] b[k, n], where a set flag says that the matrix lies transposed in memory: a as [k, m],
// b as [n, k].
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t tile_rows = 0, tile_columns = 0;  // of the result, a call of BLAS; 0: all
  bool turn_b = false;                           // floats: copy b out of its transposed place first
};

// Of two matrices of these shapes, as MatMul's attributes say. Requires: known shapes that fit. Throws
// Unimplemented for a dimension over 2^31 - 1, which BLAS cannot take.
Gemm gemm(const Shape& a, bool transpose_a, const Shape& b, bool transpose_b);

// About how long it takes on one thread, at 100 GFLOP/s (benches/README.md).
inline double nanoseconds(const Gemm& g) {
  return 0.02 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}

// Writes the product; zeros if k is 0. `out` must not overlap a or b. T: float, double, std::int16_t,
// std::int32_t, std::int64_t; integers wrap around.
template <class T>
void multiply(const Gemm& g, const T* a, const T* b, T* out, Context& c);

}  // namespace runnel
