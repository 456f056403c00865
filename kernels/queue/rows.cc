// Copies between batches and their rows, whole rows at once where no padding is needed.
#include "kernels/queue/rows.h"

#include <algorithm>
#include <cstring>

#include "graph/error.h"

namespace runnel {
namespace {

void copy_elements(const Tensor& from, std::int64_t begin, Tensor& to, std::int64_t at, std::int64_t count) {
  if (count == 0) return;
  if (from.dtype() == DType::kString) {
    const std::string* source = from.values<std::string>().data() + begin;
    std::copy(source, source + count, to.mutable_values<std::string>().data() + at);
    return;
  }
  const std::size_t size = size_of(from.dtype());
  std::memcpy(static_cast<char*>(to.mutable_data()) + static_cast<std::size_t>(at) * size,
              static_cast<const char*>(from.data()) + static_cast<std::size_t>(begin) * size,
              static_cast<std::size_t>(count) * size);
}

Shape with_first(std::int64_t first, const Shape& rest) {
  Shape out{first};
  for (const std::int64_t dim : rest.dims()) out.push_back(dim);
  return out;
}

// In each dimension the largest of all rows.
Shape largest(const Shape& form, const std::vector<Tensor>& rows) {
  Shape out = rows.empty() ? form : rows.front().shape();
  for (int d = 0; d < out.rank(); ++d) out.set(d, std::max<std::int64_t>(out[d], 0));
  for (const Tensor& row : rows) {
    if (row.shape().rank() != out.rank())
      throw InvalidArgument(cat("elements of shapes ", rows.front().shape(), " and ", row.shape(),
                                " do not fit in one batch: they differ in rank"));
    for (int d = 0; d < out.rank(); ++d) out.set(d, std::max(out[d], row.shape()[d]));
  }
  return out;
}

// Copies `from` into the corner of the padded row that begins at element `at`, a run of the last dimension at
// a time.
void copy_into_corner(const Tensor& from, Tensor& to, std::int64_t at, const Shape& padded) {
  const int rank = padded.rank();
  const std::int64_t run = from.shape()[rank - 1];
  if (from.elements() == 0) return;
  std::vector<std::int64_t> index(static_cast<std::size_t>(rank - 1), 0);
  for (std::int64_t begin = 0; begin < from.elements(); begin += run) {
    std::int64_t place = 0;
    for (int d = 0; d < rank - 1; ++d) place = place * padded[d] + index[static_cast<std::size_t>(d)];
    copy_elements(from, begin, to, at + place * padded[rank - 1], run);
    for (int d = rank - 2; d >= 0; --d) {
      if (++index[static_cast<std::size_t>(d)] < from.shape()[d]) break;
      index[static_cast<std::size_t>(d)] = 0;
    }
  }
}

}  // namespace

Tensor row_of(const Tensor& batch, std::int64_t i) {
  Shape shape;
  for (int d = 1; d < batch.shape().rank(); ++d) shape.push_back(batch.shape()[d]);
  Tensor out(batch.dtype(), shape);
  copy_elements(batch, i * shape.elements(), out, 0, shape.elements());
  return out;
}

Tensor batch_of(DType type, const Shape& form, const std::vector<Tensor>& rows) {
  const Shape shape = largest(form, rows);
  const bool same = std::ranges::all_of(rows, [&](const Tensor& row) { return row.shape() == shape; });
  const Shape whole = with_first(static_cast<std::int64_t>(rows.size()), shape);
  Tensor out = same ? Tensor(type, whole) : Tensor::zeros(type, whole);
  std::int64_t at = 0;
  for (const Tensor& row : rows) {
    if (same) {
      copy_elements(row, 0, out, at, row.elements());
    } else {
      copy_into_corner(row, out, at, shape);
    }
    at += shape.elements();
  }
  return out;
}

}  // namespace runnel
