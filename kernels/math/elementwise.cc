// The closures that run elementwise loops over whole tensors, by rows where shapes are stretched.
#include "kernels/math/elementwise.h"

#include <algorithm>

#include "kernels/math/broadcast.h"

namespace runnel {
namespace {

using Bytes = std::byte;

void bind_rows(Bind& b, const BinaryLoops& loops, const Stretch& s, std::int64_t divisors) {
  const auto row = s.kind() == Stretch::Kind::kBoth        ? loops.both
                   : s.kind() == Stretch::Kind::kLeftStays ? loops.left_stays
                                                           : loops.right_stays;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kElementwiseGrain / std::max<std::int64_t>(1, s.row()));
  b.run([=, x = b.in<Bytes>("x"), y = b.in<Bytes>("y"), z = b.out<Bytes>("z"), in = loops.input_size,
         out = loops.output_size, check = loops.check_y](Context& c) {
    if (check) check(c[y], divisors);
    c.parallel(s.rows(), grain, [&](std::int64_t begin, std::int64_t end) {
      s.for_rows(begin, end, [&](std::int64_t at_x, std::int64_t at_y, std::int64_t at_z) {
        row(c[x] + at_x * in, c[y] + at_y * in, c[z] + at_z * out, s.row());
      });
    });
  });
}

}  // namespace

void bind_loops(Bind& b, const BinaryLoops& loops) {
  const Stretch s(b.input("x").shape, b.input("y").shape);
  const std::int64_t n = s.elements();
  const std::int64_t divisors = n == 0 ? 0 : b.input("y").shape.elements();
  if (n == 0) return b.run([](Context&) {});
  if (s.rows() != 1) return bind_rows(b, loops, s, divisors);
  const bool left = s.kind() != Stretch::Kind::kLeftStays, right = s.kind() != Stretch::Kind::kRightStays;
  const auto row = !left ? loops.left_stays : !right ? loops.right_stays : loops.both;
  const In<Bytes> x = b.in<Bytes>("x"), y = b.in<Bytes>("y");
  const Out<Bytes> z = b.out<Bytes>("z");
  if (n <= kElementwiseGrain && !loops.check_y) {
    b.run([=](Context& c) { row(c[x], c[y], c[z], n); });
    return;
  }
  const std::int64_t x_step = left ? loops.input_size : 0, y_step = right ? loops.input_size : 0;
  b.run([=, out = loops.output_size, check = loops.check_y](Context& c) {
    if (check) check(c[y], divisors);
    c.parallel(n, kElementwiseGrain, [&](std::int64_t begin, std::int64_t end) {
      row(c[x] + begin * x_step, c[y] + begin * y_step, c[z] + begin * out, end - begin);
    });
  });
}

void bind_loops(Bind& b, const UnaryLoop& loop) {
  const std::int64_t n = b.input("x").shape.elements();
  b.run([n, loop, x = b.in<Bytes>("x"), y = b.out<Bytes>("y")](Context& c) {
    c.parallel(n, loop.grain, [&](std::int64_t begin, std::int64_t end) {
      loop.row(c[x] + begin * loop.input_size, c[y] + begin * loop.output_size, end - begin);
    });
  });
}

}  // namespace runnel
