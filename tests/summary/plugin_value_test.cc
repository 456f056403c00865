// The parts that all plugins' values share.
#include "summary/values/plugin_value.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "runnel/summary.pb.h"

using namespace runnel;

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
