// Example messages written and read from C++.
#include "graph/example.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "graph/error.h"

using namespace runnel;

TEST_CASE("an Example is read as it was written") {
  const Example whole{{{"bytes", std::vector<std::string>{"", std::string("\0\xff", 2)}},
                       {"floats", std::vector<float>{-0.f, std::numeric_limits<float>::infinity()}},
                       {"integers", std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::max()}},
                       {"empty", std::vector<float>{}},
                       {"\xff no kind", {}}}};
  CHECK(Example::parse(whole.serialize()) == whole);
  CHECK(Example::parse("") == Example{});
}

TEST_CASE("an Example has TensorFlow's bytes") {
  const Example example{{{"x", std::vector<float>{1}}, {"n", std::vector<std::int64_t>{300}}}};
  CHECK(example.serialize() == std::string("\x0a\x1c"
                                           "\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x0a\x02\xac\x02"
                                           "\x0a\x0d\x0a\x01x\x12\x08\x12\x06\x0a\x04\0\0\x80\x3f",
                                           30));
}

TEST_CASE("bytes that are no Example are refused") {
  std::string bytes = Example{{{"x", std::vector<float>{1}}}}.serialize();
  bytes.pop_back();
  CHECK_THROWS_WITH_AS(Example::parse(bytes), "16 bytes are no Example", DataLoss);
}
