// Sixteen-bit floats: numbers worked by hand, and all bits there and back.
#include "graph/float16.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace runnel;

TEST_CASE("halves stand for the numbers of IEEE 754") {
  CHECK(value_of(Half{0x3c00}) == 1);
  CHECK(value_of(Half{0xc100}) == -2.5);
  CHECK(value_of(Half{0x7bff}) == 65504);
  CHECK(value_of(Half{0x0001}) == 0x1p-24);
  CHECK(value_of(Half{0xfc00}) == -INFINITY);
  CHECK(std::isnan(value_of(Half{0x7e00})));
}

TEST_CASE("a bfloat16 is the upper half of a float") {
  CHECK(value_of(Bfloat16{0x3f80}) == 1);
  CHECK(value_of(Bfloat16{0x7f7f}) == 0x1.fep127);
  CHECK(value_of(Bfloat16{0x0001}) == 0x1p-133);
  CHECK(value_of(Bfloat16{0x7f80}) == INFINITY);
}

TEST_CASE("numbers between two halves go to the nearer one, ties to the even") {
  CHECK(nearest_half(1 + 0x1p-11) == Half{0x3c00});
  CHECK(nearest_half(1 + 3 * 0x1p-11) == Half{0x3c02});
  CHECK(nearest_half(1 + 0x1.1p-11) == Half{0x3c01});
  CHECK(nearest_half(65519) == Half{0x7bff});
  CHECK(nearest_half(65520) == Half{0x7c00});
  CHECK(nearest_half(-0.0) == Half{0x8000});
  CHECK(nearest_bfloat16(-1e39) == Bfloat16{0xff80});
}

TEST_CASE("every number of sixteen bits comes back as itself") {
  for (int bits = 0; bits < 65536; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const Bfloat16 bfloat16{static_cast<std::uint16_t>(bits)};
    CAPTURE(bits);
    if (!std::isnan(value_of(half))) REQUIRE(nearest_half(value_of(half)) == half);
    if (!std::isnan(value_of(bfloat16))) REQUIRE(nearest_bfloat16(value_of(bfloat16)) == bfloat16);
  }
}
