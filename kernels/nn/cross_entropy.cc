// SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: the loss of each row, and its
// gradient by the logits, softmax - labels, where it is wanted.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/error.h"
#include "graph/kernel.h"
#include "kernels/nn/softmax_row.h"

namespace runnel {
namespace {

constexpr std::int64_t kGrain = 1 << 13;  // elements that are worth a thread
constexpr std::int64_t kBlock = 1 << 12;  // elements that are worked on at once: half of L1

std::int64_t row_grain(std::int64_t columns) { return kGrain / std::max<std::int64_t>(columns, 1) + 1; }

// How to step through a matrix that may have one row or one column for all.
struct Steps {
  std::int64_t row, column;
};
Steps steps_of(const Shape& input, const Shape& whole) {
  Shape padded = input;
  while (padded.rank() < 2) {
    Shape wider{1};
    for (const std::int64_t dim : padded.dims()) wider.push_back(dim);
    padded = wider;
  }
  const bool one_row = padded[0] == 1 && whole[0] != 1, one_column = padded[1] == 1 && whole[1] != 1;
  return {one_row ? 0 : padded[1], one_column ? 0 : 1};
}

// loss = sum_j labels_j (log(sum_k e^(x_k - m)) - (x_j - m)), m the largest x.
template <class T>
T dense_row(const T* x, std::int64_t x_step, const T* labels, std::int64_t label_step, T* backprop,
            std::int64_t n) {
  T largest = x[0];
  for (std::int64_t j = 1; j < n; ++j) largest = x[j * x_step] > largest ? x[j * x_step] : largest;
  for (std::int64_t j = 0; j < n; ++j) backprop[j] = exp_of_negative(x[j * x_step] - largest);
  const T sum = row_sum(backprop, n), log_sum = std::log(sum);
  T loss = T(0);
  for (std::int64_t j = 0; j < n; ++j) {
    const T label = labels[j * label_step];
    // A label of 0 counts nothing, even where the logit is -infinity.
    loss += label == T(0) ? T(0) : label * (log_sum - (x[j * x_step] - largest));
    backprop[j] = backprop[j] / sum - label;
  }
  return loss;
}

template <class T>
void bind_dense(Bind& b) {
  const Shape& whole = b.output("backprop").shape;
  const std::int64_t rows = whole[0], columns = whole[1];
  const Steps of_x = steps_of(b.input("features").shape, whole),
              of_labels = steps_of(b.input("labels").shape, whole);
  b.run([=, grain = row_grain(columns), features = b.in<T>("features"), labels = b.in<T>("labels"),
         loss = b.out<T>("loss"), backprop = b.out<T>("backprop")](Context& c) {
    const T *x = c[features], *l = c[labels];
    T *to = c[loss], *d = c[backprop];
    if (columns == 0) {
      std::fill_n(to, rows, T(0));
      return;
    }
    c.parallel(rows, grain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        to[i] = dense_row(x + i * of_x.row, of_x.column, l + i * of_labels.row, of_labels.column,
                          d + i * columns, columns);
    });
  });
}

template <class L>
void check_labels(const L* labels, std::int64_t rows, std::int64_t classes) {
  for (std::int64_t i = 0; i < rows; ++i)
    if (labels[i] < 0 || labels[i] >= classes)
      throw InvalidArgument(cat("label ", i, " is ", labels[i], ", but must be at least 0 and less than ",
                                classes, ", the number of classes"));
}

// Rows [begin, end) of a matrix without their gradient.
template <class T, class L>
void sparse_losses(const T* x, const L* labels, T* losses, std::int64_t columns, std::int64_t begin,
                   std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const T* row = x + i * columns;
    const T largest = row_max(row, columns);
    losses[i] = std::log(exp_sum(row, largest, columns)) - (row[labels[i]] - largest);
  }
}

// The same with it, in blocks whose exponentials are taken in one go: rows may be short.
template <class T, class L>
void sparse_gradients(const T* x, const L* labels, T* losses, T* backprop, std::int64_t columns,
                      std::int64_t begin, std::int64_t end) {
  const std::int64_t block = std::max<std::int64_t>(1, kBlock / std::max<std::int64_t>(columns, 1));
  for (std::int64_t first = begin; first < end; first += block) {
    const std::int64_t last = std::min(end, first + block);
    for (std::int64_t i = first; i < last; ++i) {
      const T *row = x + i * columns, largest = row_max(row, columns);
      T* p = backprop + i * columns;
      for (std::int64_t j = 0; j < columns; ++j) p[j] = row[j] - largest;
      losses[i] = p[labels[i]];
    }
    T* p = backprop + first * columns;
    for (std::int64_t j = 0; j < (last - first) * columns; ++j) p[j] = exp_of_negative(p[j]);
    for (std::int64_t i = first; i < last; ++i, p += columns) {
      const T sum = row_sum(p, columns), scale = T(1) / sum;
      losses[i] = std::log(sum) - losses[i];
      for (std::int64_t j = 0; j < columns; ++j) p[j] *= scale;
      p[labels[i]] -= T(1);
    }
  }
}

template <class T, class L>
void bind_sparse(Bind& b) {
  const std::int64_t rows = b.input("features").shape[0], columns = b.input("features").shape[1];
  b.run([=, grain = row_grain(columns), gradient = b.wants("backprop"), features = b.in<T>("features"),
         labels = b.in<L>("labels"), loss = b.out<T>("loss"), backprop = b.out<T>("backprop")](Context& c) {
    const T* x = c[features];
    const L* l = c[labels];
    T *to = c[loss], *d = gradient ? c[backprop] : nullptr;
    check_labels(l, rows, columns);
    c.parallel(rows, grain, [=](std::int64_t begin, std::int64_t end) {
      if (gradient)
        sparse_gradients(x, l, to, d, columns, begin, end);
      else
        sparse_losses(x, l, to, columns, begin, end);
    });
  });
}

const KernelRegistration kDense{"SoftmaxCrossEntropyWithLogits", on<float, double>,
                                []<class T>(Bind& b) { bind_dense<T>(b); }};
const KernelRegistration kSparse{"SparseSoftmaxCrossEntropyWithLogits", on<float, double>,
                                 []<class T>(Bind& b) {
                                   if (b.type("Tlabels") == DType::kInt32)
                                     bind_sparse<T, std::int32_t>(b);
                                   else
                                     bind_sparse<T, std::int64_t>(b);
                                 }};

}  // namespace
}  // namespace runnel
