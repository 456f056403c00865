// Joining of the dimensions of a reduction, and the closures that run it.
#include "kernels/math/reduce.h"

#include <array>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr std::int64_t kReduceGrain = 32768;  // elements worth a thread
constexpr std::int64_t kMaxParts = std::int64_t{1} << kMaxCuts;

Reduced reduced_by(const Shape& shape, const Tensor& axes) {
  std::vector<bool> reduced(static_cast<std::size_t>(shape.rank()));
  for (const std::int64_t axis : integers(axes)) {
    const std::int64_t i = axis < 0 ? axis + shape.rank() : axis;
    if (i < 0 || i >= shape.rank())
      throw InvalidArgument(cat("no axis ", axis, " in a tensor of rank ", shape.rank()));
    reduced[static_cast<std::size_t>(i)] = true;
  }
  Reduced out;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool r = reduced[static_cast<std::size_t>(i)];
    out.inputs *= shape[i];
    (r ? out.count : out.outputs) *= shape[i];
    if (shape[i] == 1) continue;
    if (!out.dims.empty() && out.dims.back().reduced == r)
      out.dims.back().size *= shape[i];
    else
      out.dims.push_back({.size = shape[i], .reduced = r, .stride = 1});
  }
  std::int64_t stride = 1;
  for (auto d = out.dims.rbegin(); d != out.dims.rend(); stride *= d->size, ++d) d->stride = stride;
  for (const Reduced::Dim& d : out.dims) (d.reduced ? out.gone : out.kept).push_back(d);
  if (!out.gone.empty()) {
    out.inner = out.gone.back();
    out.gone.pop_back();
  }
  return out;
}

// Where a reduction of n elements is cut: at half, again and again, into at most kMaxParts.
struct Parts {
  std::array<std::int64_t, kMaxParts + 1> begin{};
  std::int64_t count = 0;

  void cut(std::int64_t from, std::int64_t n, std::int64_t packet, int cuts) {
    const std::int64_t left = sum_cut(n, packet);
    if (left < n && cuts > 0) {
      cut(from, left, packet, cuts - 1);
      cut(from + left, n - left, packet, cuts - 1);
    } else {
      begin[static_cast<std::size_t>(count)] = from;
      begin[static_cast<std::size_t>(++count)] = from + n;
    }
  }
};

using X = In<std::byte>;
using Y = Out<std::byte>;

void bind_all(Bind& b, const Reducer& f, std::int64_t n, X x, Y y) {
  if (n <= kReduceGrain) return b.run([=, rows = f.rows](Context& c) { rows(c[x], c[y], 0, 1, n); });
  Parts parts;
  parts.cut(0, n, f.packet, kMaxCuts);
  const std::int64_t grain = std::max<std::int64_t>(1, kReduceGrain * parts.count / n);
  b.run([=](Context& c) {
    std::int64_t sums[kMaxParts];
    c.parallel(parts.count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        f.part(c[x] + parts.begin[i] * f.element_size, parts.begin[i + 1] - parts.begin[i], sums,
               static_cast<std::int64_t>(i));
    });
    f.join(sums, n, c[y]);
  });
}

// Columns are done by steps, so that threads share wide matrices as well as many.
void bind_columns(Bind& b, const Reducer& f, std::int64_t slabs, std::int64_t n, std::int64_t width, X x,
                  Y y) {
  const std::int64_t steps = (width + kColumnStep - 1) / kColumnStep;
  const std::int64_t grain = std::max<std::int64_t>(1, kReduceGrain / (n * kColumnStep));
  b.run([=](Context& c) {
    c.parallel(slabs * steps, grain, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t slab = begin / steps, first = begin % steps;
        const std::int64_t last = std::min(steps, first + (end - begin));
        f.columns(c[x] + slab * n * width * f.element_size, n, width, first * kColumnStep,
                  std::min(last * kColumnStep, width), c[y] + slab * width * f.element_size);
        begin += last - first;
      }
    });
  });
}

void bind_rows(Bind& b, const Reducer& f, std::int64_t rows, std::int64_t n, X x, Y y) {
  b.run([=, grain = std::max<std::int64_t>(1, kReduceGrain / n), run = f.rows](Context& c) {
    c.parallel(rows, grain, [&](std::int64_t begin, std::int64_t end) { run(c[x], c[y], begin, end, n); });
  });
}

}  // namespace

bool Reduced::pattern(std::initializer_list<bool> reduced) const {
  return std::equal(dims.begin(), dims.end(), reduced.begin(), reduced.end(),
                    [](const Dim& d, bool r) { return d.reduced == r; });
}

std::int64_t Reduced::offset(const std::vector<Dim>& dims, std::int64_t i) {
  std::int64_t at = 0;
  for (auto d = dims.rbegin(); d != dims.rend(); i /= d->size, ++d) at += i % d->size * d->stride;
  return at;
}

void bind_reducer(Bind& b, const Reducer& f) {
  const Reduced r = reduced_by(b.input("input").shape, b.value("reduction_indices"));
  const X x = b.in<std::byte>("input");
  const Y y = b.out<std::byte>("output");
  const auto& d = r.dims;
  if (r.inputs == 0) return b.run([y, n = r.outputs, fill = f.fill](Context& c) { fill(c[y], n); });
  if (r.pattern({}) || r.pattern({false})) return bind_rows(b, f, r.outputs, 1, x, y);
  if (r.pattern({true})) return bind_all(b, f, r.count, x, y);
  if (r.pattern({false, true})) return bind_rows(b, f, d[0].size, d[1].size, x, y);
  if (r.pattern({true, false})) return bind_columns(b, f, 1, d[0].size, d[1].size, x, y);
  if (r.pattern({false, true, false})) return bind_columns(b, f, d[0].size, d[1].size, d[2].size, x, y);
  b.run([=, any = f.any, grain = std::max<std::int64_t>(1, kReduceGrain / r.count)](Context& c) {
    c.parallel(r.outputs, grain,
               [&](std::int64_t begin, std::int64_t end) { any(r, c[x], c[y], begin, end); });
  });
}

}  // namespace runnel
