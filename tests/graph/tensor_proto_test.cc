// The forms in which a TensorProto may hold its values (formats 1.3), and what is refused before memory is
// taken.
#include "graph/tensor_proto.h"

#include <doctest/doctest.h>
#include <google/protobuf/text_format.h>

#include "graph/error.h"
#include "runnel/types.pb.h"
#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

pb::TensorProto proto(const std::string& text) {
  pb::TensorProto out;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &out));
  return out;
}

Tensor read(const std::string& text) {
  TensorBudget budget;
  return tensor_of(proto(text), budget);
}

std::string refusal(const std::string& text) {
  return what_of([&] { read(text); });
}

const std::string kThree = " tensor_shape { dim { size: 3 } } ";

}  // namespace

TEST_CASE("a list that is too short repeats its last value, an empty one means zeros") {
  CHECK(read("dtype: DT_FLOAT float_val: 1 float_val: 2" + kThree) == Tensor::vector<float>({1, 2, 2}));
  CHECK(read("dtype: DT_INT64" + kThree) == Tensor::vector<std::int64_t>({0, 0, 0}));
  CHECK(read("dtype: DT_BOOL bool_val: true" + kThree) == Tensor::vector<bool>({true, true, true}));
  CHECK(read("dtype: DT_STRING string_val: 'a' string_val: 'b'" + kThree) ==
        Tensor::vector<std::string>({"a", "b", "b"}));
  CHECK(read("dtype: DT_STRING" + kThree) == Tensor::vector<std::string>({"", "", ""}));
}

TEST_CASE("surplus values, other types' lists and lists beside content are not looked at") {
  CHECK(read("dtype: DT_INT32 int_val: [1, 2, 3, 4]" + kThree) == Tensor::vector<std::int32_t>({1, 2, 3}));
  CHECK(read("dtype: DT_UINT32 int_val: 7") == Tensor::scalar<std::uint32_t>(0));
  CHECK(read("dtype: DT_INT8 tensor_content: '\\005' int_val: 7") == Tensor::scalar<std::int8_t>(5));
  CHECK(read("dtype: DT_INT32 int_val: 7 tensor_shape { dim { size: 0 } }").elements() == 0);
  CHECK(read("dtype: DT_INT32 int_val: 7 tensor_shape { unknown_rank: true }") ==
        Tensor::scalar<std::int32_t>(7));
}

TEST_CASE("numbers that do not fit are cut to their low bits") {
  CHECK(read("dtype: DT_UINT8 int_val: 256") == Tensor::scalar<std::uint8_t>(0));
  CHECK(read("dtype: DT_INT8 int_val: 200") == Tensor::scalar<std::int8_t>(-56));
  CHECK(read("dtype: DT_HALF half_val: -1") == Tensor::scalar(Half{0xffff}));
  CHECK(read("dtype: DT_BFLOAT16 half_val: 16256") == Tensor::scalar(Bfloat16{16256}));
}

TEST_CASE("of complex lists the last pair repeats and a lone number counts as no value") {
  using C = std::complex<float>;
  CHECK(read("dtype: DT_COMPLEX64 scomplex_val: [1, 2, 3, 4]" + kThree) ==
        Tensor::vector<C>({{1, 2}, {3, 4}, {3, 4}}));
  CHECK(read("dtype: DT_COMPLEX64 scomplex_val: [1, 2, 3]" + kThree) ==
        Tensor::vector<C>({{1, 2}, {1, 2}, {1, 2}}));
  CHECK(read("dtype: DT_COMPLEX64 scomplex_val: 1") == Tensor::scalar(C(0, 0)));
}

TEST_CASE("strings may lie in the content, lengths first") {
  CHECK(read("dtype: DT_STRING tensor_content: '\\001\\000\\002abc'" + kThree) ==
        Tensor::vector<std::string>({"a", "", "bc"}));
}

TEST_CASE("content and shapes that do not fit are refused") {
  const std::pair<std::string, std::string> cases[] = {
      {"dtype: DT_INT32 tensor_content: 'abc'", "tensor_content has 3 bytes, but int32[] takes 4"},
      {"dtype: DT_BOOL tensor_content: '\\002'", "tensor_content of bool holds a byte of 2, not 0 or 1"},
      {"dtype: DT_STRING tensor_content: '\\001'", "tensor_content of strings is cut short"},
      {"dtype: DT_STRING tensor_content: '\\001ab'", "tensor_content of strings has 1 bytes too many"},
      {"dtype: DT_STRING tensor_content: '\\377\\377\\377\\377\\377\\377\\377\\377\\377\\001a'",
       "tensor_content of strings is cut short"},
      {"dtype: DT_INT32 tensor_shape { dim { size: -1 } }",
       "a tensor value has the shape [?], which is not known in full"},
      {"dtype: DT_INT32 tensor_shape { dim { size: -2 } }", "a dimension of -2 is no size; -1 means unknown"},
      {"dtype: DT_RESOURCE", "a tensor of dtype resource holds no values here"},
  };
  for (const auto& [text, why] : cases) CHECK(refusal(text) == why);
}

TEST_CASE("a short list that claims more memory than a file may take is refused") {
  CHECK(refusal("dtype: DT_INT8 int_val: 1 tensor_shape { dim { size: 1099511627776 } }") ==
        "a tensor int8[1099511627776]: 1099511627776 times 1 bytes do not fit; the tensors of one file may "
        "take 4 GiB together");
  CHECK(refusal("dtype: DT_INT8 tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }") ==
        "shape [4611686018427387904,4] has more than 2^62 elements");
  const std::string long_text(1 << 20, 'x');
  CHECK(refusal("dtype: DT_STRING tensor_shape { dim { size: 100000 } } string_val: '" + long_text + "'") ==
        "a string repeated: 99999 times 1048576 bytes do not fit; the tensors of one file may take 4 GiB "
        "together");
}

TEST_CASE("tensors of one file share a budget") {
  TensorBudget budget;
  const pb::TensorProto big =
      proto("dtype: DT_DOUBLE tensor_shape { dim { size: 4194304 } }");  // 32 MiB, at once freed
  for (int i = 0; i < 128; ++i) tensor_of(big, budget);
  CHECK_THROWS_AS(tensor_of(big, budget), ResourceExhausted);
}

TEST_CASE("many equal values are written once and come back whole") {
  const Tensor tensors[] = {Tensor::from<float>(Shape{20, 20}, std::vector<float>(400, -0.0f)),
                            Tensor::zeros(DType::kString, Shape{100}),
                            Tensor::zeros(DType::kBool, Shape{2000})};
  for (const Tensor& tensor : tensors) {
    pb::TensorProto proto;
    write_tensor(tensor, proto);
    CHECK(proto.tensor_content().empty());
    CHECK(proto.ByteSizeLong() < 30);
    TensorBudget budget;
    CHECK(tensor_of(proto, budget) == tensor);
  }
  Tensor mixed = tensors[0];
  mixed.mutable_values<float>()[399] = 0.0f;  // equals -0, but not in its bits
  pb::TensorProto proto;
  write_tensor(mixed, proto);
  CHECK(proto.tensor_content().size() == 1600);
}
