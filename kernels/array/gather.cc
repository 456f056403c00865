// GatherV2 and DynamicStitch, which copy blocks of rows. GatherV2: for each index the block of elements it
// names. The indices are read when the kernel runs and checked first, so that nothing outside params is ever
// touched.
#include <algorithm>
#include <cstring>
#include <string>

#include "graph/error.h"
#include "kernels/array/strided_copy.h"

namespace runnel {
namespace {

// params is [batch, outer, dim, block], indices [batch, count], the result [batch, outer, count, block].
struct Layout {
  std::int64_t batch = 1, outer = 1, dim = 0, block = 1, count = 1;
};

Layout layout(const Bind& b) {
  const Shape& params = b.input("params").shape;
  const Shape& indices = b.input("indices").shape;
  const std::int64_t axis = integers(b.value("axis"))[0], at = axis < 0 ? axis + params.rank() : axis;
  std::int64_t batch = b.integer("batch_dims");
  if (batch < 0) batch += indices.rank();
  Layout out;
  for (int i = 0; i < batch; ++i) out.batch *= params[i];
  for (int i = static_cast<int>(batch); i < at; ++i) out.outer *= params[i];
  out.dim = params[static_cast<int>(at)];
  for (int i = static_cast<int>(at) + 1; i < params.rank(); ++i) out.block *= params[i];
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) out.count *= indices[i];
  return out;
}

void copy_block(DType type, const std::byte* from, std::byte* to, std::int64_t elements, std::int64_t bytes) {
  if (elements == 0) return;  // the pointers may be null
  if (type == DType::kString)
    std::copy_n(reinterpret_cast<const std::string*>(from), elements, reinterpret_cast<std::string*>(to));
  else
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

constexpr std::int64_t kGrain = 1 << 15;  // elements

template <class I>
void bind_gather(Bind& b) {
  const Layout l = layout(b);
  const DType type = b.input("params").dtype;
  const auto element =
      static_cast<std::int64_t>(type == DType::kString ? sizeof(std::string) : size_of(type));
  if (element == 0) throw Unimplemented(cat("elements of type ", type, " cannot be moved yet"));
  const std::int64_t bytes = l.block * element,
                     grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, l.block));
  b.run([=, params = b.in<std::byte>("params"), indices = b.in<I>("indices"),
         y = b.out<std::byte>("output")](Context& c) {
    const I* index = c[indices];
    for (std::int64_t i = 0; i < l.batch * l.count; ++i)
      if (index[i] < 0 || index[i] >= l.dim)
        throw InvalidArgument(cat("indices[", i, "] = ", index[i], " is not in [0, ", l.dim, ")"));
    const std::byte* from = c[params];
    std::byte* to = c[y];
    c.parallel(l.batch * l.outer * l.count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) {
        const std::int64_t row = at / l.count;  // batch and outer together
        const std::int64_t i = index[row / l.outer * l.count + at % l.count];
        copy_block(type, from + (row * l.dim + i) * bytes, to + at * bytes, l.block, bytes);
      }
    });
  });
}

const KernelRegistration kGatherV2{"GatherV2", on<std::int16_t, std::int32_t, std::int64_t>("Tindices"),
                                   []<class I>(Bind& b) { bind_gather<I>(b); }};

// DynamicStitch: the indices are known when it is bound, so that it is a list of blocks to copy. Rows that no
// index names are zeros.
const KernelRegistration kDynamicStitch{
    "DynamicStitch", any, [](Bind& b) {
      const DType type = b.output("merged").dtype;
      const std::int64_t elements = b.output("merged").shape.elements();
      const std::int64_t block = elements == 0 ? 0 : elements / b.output("merged").shape[0];
      const auto element =
          static_cast<std::int64_t>(type == DType::kString ? sizeof(std::string) : size_of(type));
      if (element == 0) throw Unimplemented(cat("elements of type ", type, " cannot be moved yet"));
      struct Source {
        In<std::byte> data;
        std::vector<std::int64_t> rows;
      };
      std::vector<Source> sources;
      for (int k = 0; k < b.count("indices"); ++k) {
        sources.push_back({b.in<std::byte>("data", k), integers(b.value("indices", k))});
        for (const std::int64_t row : sources.back().rows)
          if (row < 0)
            throw InvalidArgument(cat("indices[", k, "] holds ", row, ", but rows are counted from 0"));
      }
      b.run([=, y = b.out<std::byte>("merged")](Context& c) {
        clear_elements(type, c[y], elements);
        for (const Source& source : sources)
          for (std::size_t i = 0; i < source.rows.size(); ++i)
            copy_block(type, c[source.data] + static_cast<std::int64_t>(i) * block * element,
                       c[y] + source.rows[i] * block * element, block, block * element);
      });
    }};

}  // namespace
}  // namespace runnel
