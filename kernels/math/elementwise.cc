// The closures that run elementwise loops over whole tensors, by rows where shapes are stretched.
#include "kernels/math/elementwise.h"

#include <algorithm>

namespace runnel {
namespace {

using Bytes = std::byte;

constexpr double kGrainNanoseconds = 10000;  // what a grain of elements takes, about

BinaryLoops::Row row_of(const BinaryLoops& loops, Stretch::Kind kind) {
  switch (kind) {
    case Stretch::Kind::kBoth: return loops.both;
    case Stretch::Kind::kLeftStays: return loops.left_stays;
    case Stretch::Kind::kRightStays: return loops.right_stays;
  }
  return nullptr;
}

void bind_rows(Bind& b, const BinaryLoops& loops, const Stretch& s, std::int64_t divisors) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kElementwiseGrain / std::max<std::int64_t>(1, s.row()));
  b.run([=, row = row_of(loops, s.kind()), x = b.in<Bytes>("x"), y = b.in<Bytes>("y"), z = b.out<Bytes>("z"),
         in = loops.input_size, out = loops.output_size, check = loops.check_y](Context& c) {
    if (check) check(c[y], divisors);
    c.parallel(s.rows(), grain, [&](std::int64_t begin, std::int64_t end) {
      s.for_rows(begin, end,
                 [&](std::int64_t at_x, std::int64_t at_y, std::int64_t at_z, const Stretch::Rows& rows) {
                   row(c[x] + at_x * in, c[y] + at_y * in, c[z] + at_z * out, rows);
                 });
    });
  });
}

// One row, cut into ranges for threads.
void bind_row(Bind& b, const BinaryLoops& loops, const Stretch& s, std::int64_t divisors) {
  const std::int64_t x_step = s.kind() == Stretch::Kind::kLeftStays ? 0 : loops.input_size,
                     y_step = s.kind() == Stretch::Kind::kRightStays ? 0 : loops.input_size;
  if (!loops.check_y && s.row() > kElementwiseGrain)
    b.elementwise({.n = s.row(),
                   .inputs = {{b.in<Bytes>("x").slot, x_step}, {b.in<Bytes>("y").slot, y_step}},
                   .output = {b.out<Bytes>("z").slot, loops.output_size},
                   .run = [row = row_of(loops, s.kind())](const void* const* in, void* out, std::int64_t n) {
                     row(in[0], in[1], out, {.n = n});
                   }});
  b.run([=, row = row_of(loops, s.kind()), x = b.in<Bytes>("x"), y = b.in<Bytes>("y"), z = b.out<Bytes>("z"),
         n = s.row(), out = loops.output_size, check = loops.check_y](Context& c) {
    if (check) check(c[y], divisors);
    c.parallel(n, kElementwiseGrain, [&](std::int64_t begin, std::int64_t end) {
      row(c[x] + begin * x_step, c[y] + begin * y_step, c[z] + begin * out, {.n = end - begin});
    });
  });
}

}  // namespace

void bind_loops(Bind& b, const BinaryLoops& loops) {
  const Stretch s(b.input("x").shape, b.input("y").shape);
  const std::int64_t n = s.elements();
  const std::int64_t divisors = n == 0 ? 0 : b.input("y").shape.elements();
  if (n == 0) return b.run([](Context&) {});
  if (n == 1 && !loops.check_y) {
    b.run([one = loops.one, x = b.in<Bytes>("x"), y = b.in<Bytes>("y"), z = b.out<Bytes>("z")](Context& c) {
      one(c[x], c[y], c[z]);
    });
  } else if (n <= kElementwiseGrain && s.is_flat() && !loops.check_y) {
    b.run([row = row_of(loops, s.kind()), all = s.all_rows(), x = b.in<Bytes>("x"), y = b.in<Bytes>("y"),
           z = b.out<Bytes>("z")](Context& c) { row(c[x], c[y], c[z], all); });
  } else if (s.rows() == 1) {
    bind_row(b, loops, s, divisors);
  } else {
    bind_rows(b, loops, s, divisors);
  }
}

void bind_loops(Bind& b, const UnaryLoop& loop) {
  const std::int64_t n = b.input("x").shape.elements();
  b.costs(kGrainNanoseconds * static_cast<double>(n) / static_cast<double>(loop.grain));
  if (n > kElementwiseGrain)
    b.elementwise({.n = n,
                   .inputs = {{b.in<Bytes>("x").slot, loop.input_size}},
                   .output = {b.out<Bytes>("y").slot, loop.output_size},
                   .run = [row = loop.row](const void* const* in, void* out, std::int64_t count) {
                     row(in[0], out, count);
                   }});
  b.run([n, loop, x = b.in<Bytes>("x"), y = b.out<Bytes>("y")](Context& c) {
    c.parallel(n, loop.grain, [&](std::int64_t begin, std::int64_t end) {
      loop.row(c[x] + begin * loop.input_size, c[y] + begin * loop.output_size, end - begin);
    });
  });
}

}  // namespace runnel
