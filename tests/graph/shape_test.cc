// Shapes: partial knowledge, broadcasting, large ranks.
#include "graph/shape.h"

#include <doctest/doctest.h>

#include "graph/error.h"

using namespace runnel;

TEST_CASE("broadcasting follows NumPy's rule, with unknown dimensions") {
  CHECK(broadcast({3, 1}, {4}) == Shape{3, 4});
  CHECK(broadcast({}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast({0, 3}, {1, 3}) == Shape{0, 3});
  CHECK(broadcast({kUnknown, 3}, {2, 1}) == Shape{2, 3});
  CHECK(broadcast({kUnknown}, {1}) == Shape{kUnknown});
  CHECK(broadcast(Shape::unknown(), {1}) == Shape::unknown());
  CHECK_THROWS_WITH_AS(broadcast({2, 3}, {4}), "shapes [2,3] and [4] do not broadcast: 3 against 4",
                       InvalidArgument);
}

TEST_CASE("shapes of more than eight dimensions work like small ones") {
  Shape big;
  for (int i = 0; i < 12; ++i) big.push_back(i + 1);
  CHECK(big.rank() == 12);
  CHECK(big[11] == 12);
  CHECK(big.text() == "[1,2,3,4,5,6,7,8,9,10,11,12]");
  const Shape copy = big;
  CHECK(copy == big);
}

TEST_CASE("merging keeps what either side knows") {
  CHECK(Shape{kUnknown, 3}.merged_with({2, kUnknown}) == Shape{2, 3});
  CHECK(Shape::unknown().merged_with({2}) == Shape{2});
  CHECK_THROWS_AS((Shape{2}.merged_with({3})), InvalidArgument);
}

TEST_CASE("a negative dimension other than unknown is refused") {
  CHECK_THROWS_AS((Shape{-2}), InvalidArgument);
}
