// ApplyGradientDescent, ApplyMomentum, ApplyAdam and their resource forms. Every operation is rounded on its
// own and in the order of formats 6.4, so that a training run gives TensorFlow's bits.
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {

namespace {

// Elements that are worth a thread: some ten microseconds of work.
constexpr std::int64_t kApplyGrain = 1 << 15;

// The number of elements of the variable `first`, whose shape every input in `others` must have. The shape
// function has not seen shapes that are known only once a variable is initialised.
std::int64_t common_elements(const Bind& b, const char* first, std::initializer_list<const char*> others) {
  const Shape& shape = b.input(first).shape;
  for (const char* other : others)
    if (!(b.input(other).shape == shape))
      throw InvalidArgument(cat(first, " has shape ", shape, ", ", other, " has shape ", b.input(other).shape,
                                ": they must be the same"));
  return shape.elements();
}

template <class T>
void bind_gradient_descent(Bind& b) {
  const std::int64_t n = common_elements(b, "var", {"delta"});
  b.run([n, var = b.var<T>("var"), alpha = b.in<T>("alpha"), delta = b.in<T>("delta")](Context& c) {
    T* x = c[var];
    const T* g = c[delta];
    const T lr = *c[alpha];
    c.parallel(n, kApplyGrain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) x[i] -= g[i] * lr;
    });
  });
}

template <class T>
void bind_momentum(Bind& b) {
  const std::int64_t n = common_elements(b, "var", {"accum", "grad"});
  const auto with = [&](auto step) {
    b.run([n, step, var = b.var<T>("var"), accum = b.var<T>("accum"), rate = b.in<T>("lr"),
           grad = b.in<T>("grad"), momentum = b.in<T>("momentum")](Context& c) {
      T *x = c[var], *a = c[accum];
      const T* g = c[grad];
      const T lr = *c[rate], mu = *c[momentum];
      c.parallel(n, kApplyGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const T gi = g[i], ai = a[i] * mu + gi;
          a[i] = ai;
          x[i] -= step(gi, ai, lr, mu);
        }
      });
    });
  };
  if (b.flag("use_nesterov"))
    with([](T g, T a, T lr, T mu) { return g * lr + a * mu * lr; });
  else
    with([](T, T a, T lr, T) { return a * lr; });
}

template <class T>
struct AdamInputs {
  In<T> beta1_power, beta2_power, lr, beta1, beta2, epsilon;
};

template <class T>
void bind_adam(Bind& b) {
  const std::int64_t n = common_elements(b, "var", {"m", "v", "grad"});
  const AdamInputs<T> in{b.in<T>("beta1_power"), b.in<T>("beta2_power"), b.in<T>("lr"),
                         b.in<T>("beta1"),       b.in<T>("beta2"),       b.in<T>("epsilon")};
  const auto with = [&](auto direction) {
    b.run([n, direction, in, var = b.var<T>("var"), mean = b.var<T>("m"), square = b.var<T>("v"),
           grad = b.in<T>("grad")](Context& c) {
      T *x = c[var], *m = c[mean], *v = c[square];
      const T* g = c[grad];
      const T beta1 = *c[in.beta1], beta2 = *c[in.beta2], epsilon = *c[in.epsilon];
      const T alpha = *c[in.lr] * std::sqrt(T(1) - *c[in.beta2_power]) / (T(1) - *c[in.beta1_power]);
      c.parallel(n, kApplyGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const T gi = g[i];
          const T mi = m[i] + (gi - m[i]) * (T(1) - beta1);
          const T vi = v[i] + (gi * gi - v[i]) * (T(1) - beta2);
          m[i] = mi;
          v[i] = vi;
          x[i] -= direction(gi, mi, beta1) * alpha / (std::sqrt(vi) + epsilon);
        }
      });
    });
  };
  if (b.flag("use_nesterov"))
    with([](T g, T m, T beta1) { return g * (T(1) - beta1) + m * beta1; });
  else
    with([](T, T m, T) { return m; });
}

constexpr auto kFloats = on<float, double>;
constexpr auto kDescent = []<class T>(Bind& b) { bind_gradient_descent<T>(b); };
constexpr auto kMomentum = []<class T>(Bind& b) { bind_momentum<T>(b); };
constexpr auto kAdam = []<class T>(Bind& b) { bind_adam<T>(b); };

const KernelRegistration kApplyGradientDescent{"ApplyGradientDescent", kFloats, kDescent};
const KernelRegistration kResourceApplyGradientDescent{"ResourceApplyGradientDescent", kFloats, kDescent};
const KernelRegistration kApplyMomentum{"ApplyMomentum", kFloats, kMomentum};
const KernelRegistration kResourceApplyMomentum{"ResourceApplyMomentum", kFloats, kMomentum};
const KernelRegistration kApplyAdam{"ApplyAdam", kFloats, kAdam};
const KernelRegistration kResourceApplyAdam{"ResourceApplyAdam", kFloats, kAdam};

}  // namespace
}  // namespace runnel
