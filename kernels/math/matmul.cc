// MatMul.
#include "kernels/gemm.h"

namespace runnel {
namespace {

const KernelRegistration kMatMul{
    "MatMul", on<float, double, std::int32_t, std::int64_t>, []<class T>(Bind& b) {
      const Gemm g =
          gemm(b.input("a").shape, b.flag("transpose_a"), b.input("b").shape, b.flag("transpose_b"));
      b.costs(nanoseconds(g));
      b.run([g, a = b.in<T>("a"), w = b.in<T>("b"), out = b.out<T>("product")](Context& c) {
        multiply(g, c[a], c[w], c[out], c);
      });
    }};

}  // namespace
}  // namespace runnel
