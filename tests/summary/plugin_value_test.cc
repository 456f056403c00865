// The parts that all plugins' values share.
#include "summary/plugin_value.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "runnel/summary.pb.h"

using namespace runnel;

TEST_CASE("UTF-8 is what Unicode allows: no bare bytes, long forms, surrogates or numbers too large") {
  for (const char* text :
       {"", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(text);
    CHECK(is_utf8(text));
  }
  for (const char* text :
       {"\x80", "a\xff", "\xc0\xaf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xe2\x82", "\xe2\x28\xa1", "\xf0\x9f\x98\x28"}) {
    CAPTURE(text);
    CHECK_FALSE(is_utf8(text));
  }
  CHECK(is_utf8(std::string("\0zero", 5)));
}

TEST_CASE("a tag that is no UTF-8 is refused, since TensorBoard drops its event") {
  pb::Summary summary;
  CHECK_THROWS_WITH_AS(add_plugin_value(summary, "bad\xff", "mesh", ""),
                       "the tag is no UTF-8, so TensorBoard would drop the event: 'bad\xff'",
                       InvalidArgument);
}

TEST_CASE("a tensor is written with its bytes, and an empty one without") {
  pb::TensorProto proto;
  write_content(Tensor::vector<std::int32_t>({1, 256}), proto);
  CHECK(proto.dtype() == pb::DT_INT32);
  CHECK(proto.tensor_shape().dim(0).size() == 2);
  CHECK(proto.tensor_content() == std::string("\1\0\0\0\0\1\0\0", 8));
  pb::TensorProto empty;
  write_content(Tensor(DType::kFloat, Shape{0}), empty);
  CHECK(empty.tensor_shape().dim(0).size() == 0);
  CHECK(empty.tensor_content().empty());
}

TEST_CASE("a tensor of more than a gigabyte is refused before it is copied") {
  const Tensor large(DType::kUint8, Shape{(1 << 30) + 1});
  pb::TensorProto proto;
  CHECK_THROWS_WITH_AS(write_content(large, proto),
                       "uint8[1073741825] is more than an event can hold, 1073741824 bytes: log a part of it",
                       InvalidArgument);
}
