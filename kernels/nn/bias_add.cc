// BiasAdd and BiasAddGrad. Both layouts are outer x channels x inner; NHWC is the one whose inner is 1.
#include <algorithm>
#include <cstdint>

#include "graph/kernel.h"

namespace runnel {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements that are worth a thread

struct Channels {
  std::int64_t outer = 1, count = 1, inner = 1;
};

Channels channels_of(const Bind& b, const char* arg) {
  const Shape& shape = b.input(arg).shape;
  const int dim = b.node().bytes("data_format") == "NCHW" ? 1 : shape.rank() - 1;
  Channels out;
  for (int i = 0; i < shape.rank(); ++i) (i < dim ? out.outer : i > dim ? out.inner : out.count) *= shape[i];
  return out;
}

// One row of channels after another.
template <class T>
void add_rows(const Channels& s, const T* x, const T* bias, T* y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const T* from = x + i * s.count;
    T* to = y + i * s.count;
    for (std::int64_t j = 0; j < s.count; ++j) to[j] = from[j] + bias[j];
  }
}

// One plane of a channel after another.
template <class T>
void add_planes(const Channels& s, const T* x, const T* bias, T* y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const T* from = x + i * s.inner;
    T* to = y + i * s.inner;
    const T added = bias[i % s.count];
    for (std::int64_t j = 0; j < s.inner; ++j) to[j] = from[j] + added;
  }
}

template <class T>
void bind_bias_add(Bind& b) {
  const Channels s = channels_of(b, "value");
  const auto value = b.in<T>("value"), bias = b.in<T>("bias");
  const auto out = b.out<T>("output");
  if (s.inner == 1) {
    b.run([=, grain = kGrain / std::max<std::int64_t>(s.count, 1) + 1](Context& c) {
      const T *x = c[value], *added = c[bias];
      T* y = c[out];
      c.parallel(s.outer, grain,
                 [=](std::int64_t begin, std::int64_t end) { add_rows(s, x, added, y, begin, end); });
    });
  } else {
    b.run([=, grain = kGrain / std::max<std::int64_t>(s.inner, 1) + 1](Context& c) {
      const T *x = c[value], *added = c[bias];
      T* y = c[out];
      c.parallel(s.outer * s.count, grain,
                 [=](std::int64_t begin, std::int64_t end) { add_planes(s, x, added, y, begin, end); });
    });
  }
}

// Eight sums side by side, so that they can be one vector; the order is the same whatever the machine.
template <class T>
T sum_plane(const T* x, std::int64_t n) {
  T lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) lanes[k] += x[i + k];
  T sum = T(0);
  for (; i < n; ++i) sum += x[i];
  for (const T lane : lanes) sum += lane;
  return sum;
}

// Rows are summed in order, on one thread: the result must not depend on the number of threads.
template <class T>
void bind_bias_add_grad(Bind& b) {
  const Channels s = channels_of(b, "out_backprop");
  b.run([s, in = b.in<T>("out_backprop"), out = b.out<T>("output")](Context& c) {
    const T* g = c[in];
    T* sum = c[out];
    std::fill_n(sum, s.count, T(0));
    for (std::int64_t i = 0; i < s.outer; ++i, g += s.count * s.inner) {
      if (s.inner == 1)
        for (std::int64_t j = 0; j < s.count; ++j) sum[j] += g[j];
      else
        for (std::int64_t j = 0; j < s.count; ++j) sum[j] += sum_plane(g + j * s.inner, s.inner);
    }
  });
}

constexpr auto kTypes = on<float, double, std::int32_t, std::int64_t>;
const KernelRegistration kBiasAdd{
    "BiasAdd", kTypes, []<class T>(Bind& b) { bind_bias_add<T>(b); }, {.in_place = true}};
const KernelRegistration kBiasAddGrad{"BiasAddGrad", kTypes,
                                      []<class T>(Bind& b) { bind_bias_add_grad<T>(b); }};

}  // namespace
}  // namespace runnel
