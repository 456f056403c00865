// Softmax and LogSoftmax along the last dimension.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/kernel.h"
#include "kernels/nn/softmax_row.h"

namespace runnel {
namespace {

constexpr std::int64_t kGrain = 1 << 13;  // elements that are worth a thread

// Calls row(x, y, columns) for every row.
template <class T, class Row>
void bind_rows(Bind& b, const char* output, Row row) {
  const Shape& shape = b.input("logits").shape;
  const std::int64_t columns = shape[shape.rank() - 1], rows = columns == 0 ? 0 : shape.elements() / columns;
  const std::int64_t grain = kGrain / std::max<std::int64_t>(columns, 1) + 1;
  b.run([=, in = b.in<T>("logits"), out = b.out<T>(output)](Context& c) {
    const T* x = c[in];
    T* y = c[out];
    c.parallel(rows, grain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) row(x + i * columns, y + i * columns, columns);
    });
  });
}

const KernelRegistration kSoftmax{"Softmax",
                                  on<float, double>,
                                  []<class T>(Bind& b) {
                                    bind_rows<T>(b, "softmax", [](const T* x, T* y, std::int64_t n) {
                                      const T scale = T(1) / exp_row(x, row_max(x, n), y, n);
                                      for (std::int64_t i = 0; i < n; ++i) y[i] *= scale;
                                    });
                                  },
                                  {.in_place = true}};

const KernelRegistration kLogSoftmax{"LogSoftmax",
                                     on<float, double>,
                                     []<class T>(Bind& b) {
                                       bind_rows<T>(b, "logsoftmax", [](const T* x, T* y, std::int64_t n) {
                                         const T largest = row_max(x, n);
                                         const T log_sum = std::log(exp_sum(x, largest, n));
                                         for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] - largest - log_sum;
                                       });
                                     },
                                     {.in_place = true}};

}  // namespace
}  // namespace runnel
