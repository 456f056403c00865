// Relu and ReluGrad.
#include <cstdint>

#include "graph/kernel.h"

namespace runnel {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements that are worth a thread

template <class T>
void rectify(const T* x, T* y, std::int64_t n) {
  // NaN is not less than 0, and stays.
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] < T(0) ? T(0) : x[i];
}
template <class T>
void pass(const T* g, const T* x, T* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T passed = g[i];
    y[i] = x[i] > T(0) ? passed : T(0);
  }
}

template <class T>
void bind_relu(Bind& b) {
  const std::int64_t n = b.input("features").shape.elements();
  if (n > kGrain)
    b.elementwise({.n = n,
                   .inputs = {{b.in<T>("features").slot, sizeof(T)}},
                   .output = {b.out<T>("activations").slot, sizeof(T)},
                   .run = [](const void* const* from, void* to, std::int64_t count) {
                     rectify(static_cast<const T*>(from[0]), static_cast<T*>(to), count);
                   }});
  b.run([n, in = b.in<T>("features"), out = b.out<T>("activations")](Context& c) {
    const T* x = c[in];
    T* y = c[out];
    c.parallel(n, kGrain,
               [=](std::int64_t begin, std::int64_t end) { rectify(x + begin, y + begin, end - begin); });
  });
}

template <class T>
void bind_relu_grad(Bind& b) {
  const std::int64_t n = b.input("features").shape.elements();
  if (n > kGrain)
    b.elementwise({.n = n,
                   .inputs = {{b.in<T>("gradients").slot, sizeof(T)}, {b.in<T>("features").slot, sizeof(T)}},
                   .output = {b.out<T>("backprops").slot, sizeof(T)},
                   .run = [](const void* const* from, void* to, std::int64_t count) {
                     pass(static_cast<const T*>(from[0]), static_cast<const T*>(from[1]), static_cast<T*>(to),
                          count);
                   }});
  b.run([n, gradients = b.in<T>("gradients"), features = b.in<T>("features"),
         out = b.out<T>("backprops")](Context& c) {
    const T *g = c[gradients], *x = c[features];
    T* y = c[out];
    c.parallel(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
      pass(g + begin, x + begin, y + begin, end - begin);
    });
  });
}

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint8_t;
constexpr auto kTypes = on<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>;
const KernelRegistration kRelu{"Relu", kTypes, []<class T>(Bind& b) { bind_relu<T>(b); }, {.in_place = true}};
const KernelRegistration kReluGrad{
    "ReluGrad", kTypes, []<class T>(Bind& b) { bind_relu_grad<T>(b); }, {.in_place = true}};

}  // namespace
}  // namespace runnel
