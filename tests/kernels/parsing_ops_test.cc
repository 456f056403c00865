// Numbers out of text and bytes: CSV lines, raw bytes, decimal numbers.
#include "ops/parsing_ops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

using Texts = std::vector<std::string>;

std::vector<Tensor> csv(const Texts& lines, const std::vector<Tensor>& defaults,
                        DecodeCsvOptions options = {}) {
  Graph g;
  const Output records = constant(g, Tensor::vector(lines));
  const Outputs columns = decode_csv(records, defaults, options);
  Session session(g);
  return session.run(std::vector<Fetch>(columns.begin(), columns.end()));
}

std::string csv_refusal(const Texts& lines, const std::vector<Tensor>& defaults,
                        DecodeCsvOptions options = {}) {
  return message_of<InvalidArgument>([&] { csv(lines, defaults, options); });
}

template <class T>
T number(const std::string& text) {
  Graph g;
  const Output in = constant(g, Tensor::scalar(text));
  const Tensor out = evaluate(string_to_number(in, {.out_type = dtype_of<T>()}));
  return out.template scalar<T>();
}

template <class T>
bool is_number(const std::string& text) {
  try {
    number<T>(text);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

Tensor raw(const Tensor& bytes, DType type, bool little = true) {
  Graph g;
  return evaluate(decode_raw(constant(g, bytes), type, {.little_endian = little}));
}

const Tensor kText = Tensor::vector<std::string>({"-"});

}  // namespace

TEST_CASE("a CSV line gives a value to each column, by the defaults' dtypes") {
  const std::vector<Tensor> columns =
      csv({"1,2.5,x", " -7 , 1e3 ,"}, {Tensor::vector<std::int32_t>({0}), Tensor::scalar(0.5f), kText});
  CHECK(columns[0] == Tensor::vector<std::int32_t>({1, -7}));
  CHECK(columns[1] == Tensor::vector<float>({2.5f, 1000.f}));
  CHECK(columns[2] == Tensor::vector<std::string>({"x", "-"}));
  CHECK(csv({}, {kText})[0].shape() == Shape{0});
}

TEST_CASE("quotes hold delimiters, line ends and, doubled, quotes") {
  CHECK(csv({"\"a,\"\"b\"\"\r\nc\""}, {kText})[0] == Tensor::vector<std::string>({"a,\"b\"\r\nc"}));
  CHECK(csv({"\"\",\"\"\"\""}, {kText, kText})[1] == Tensor::vector<std::string>({"\""}));
  CHECK(csv({"a\"b"}, {kText}, {.use_quote_delim = false})[0] == Tensor::vector<std::string>({"a\"b"}));
  CHECK(csv({"\na,\r\nb"}, {kText, kText})[1] == Tensor::vector<std::string>({"b"}));
}

TEST_CASE("only the selected columns are read, and only up to the last of them") {
  const std::vector<Tensor> columns =
      csv({"a|b|c|\"x"}, {kText, kText}, {.field_delim = "|", .select_cols = {0, 2}});
  CHECK(columns[0] == Tensor::vector<std::string>({"a"}));
  CHECK(columns[1] == Tensor::vector<std::string>({"c"}));
}

TEST_CASE("fields that are empty or na_value take the default") {
  const Tensor five = Tensor::vector<std::int64_t>({5});
  CHECK(csv({"NA,", ",1"}, {five, five}, {.na_value = "NA"})[0] == Tensor::vector<std::int64_t>({5, 5}));
  CHECK(csv_refusal({"1", ""}, {five}).ends_with("record 1: 0 fields, not 1"));
  CHECK(csv_refusal({"1,2", "3,"}, {five, Tensor(DType::kFloat, {0})})
            .ends_with("record 1, field 1: is empty and has no default"));
}

TEST_CASE("a bad CSV line is refused with its record and field") {
  const Tensor zero = Tensor::vector<std::int32_t>({0});
  CHECK(csv_refusal({"1,2", "3,x"}, {zero, zero}) ==
        "DecodeCSV 'DecodeCSV': record 1, field 1: 'x' is no int32");
  CHECK(csv_refusal({"1,2,3"}, {zero, zero}).ends_with("record 0: 3 fields, not 2"));
  CHECK(csv_refusal({"3000000000"}, {zero}).ends_with("is no int32"));
  CHECK(csv_refusal({"a,b,c"}, {zero}, {.select_cols = {2}}).ends_with("record 0, field 2: 'c' is no int32"));
  CHECK(csv_refusal({"a,\"b"}, {kText, kText}).ends_with("record 0: field 1: its quotes do not close"));
  CHECK(csv_refusal({"a,\"b\"c\""}, {kText, kText}).find("field 1: a quote within quotes") !=
        std::string::npos);
  CHECK(csv_refusal({"a\"b"}, {kText}).find("a quote stands in a field") != std::string::npos);
  CHECK(csv_refusal({"a\nb"}, {kText}).find("a line ends within a field") != std::string::npos);
}

TEST_CASE("DecodeCSV refuses attributes that fit no line") {
  CHECK(
      csv_refusal({"a"}, {kText}, {.field_delim = "||"}).ends_with("field_delim is '||', not one character"));
  CHECK(csv_refusal({"a,b"}, {kText, kText}, {.select_cols = {1, 0}}).find("must ascend") !=
        std::string::npos);
  CHECK(csv_refusal({"a,b"}, {kText, kText}, {.select_cols = {-1, 0}}).find("must ascend") !=
        std::string::npos);
  CHECK(csv_refusal({"a,b"}, {kText, kText}, {.select_cols = {1}}).ends_with("1 select_cols for 2 defaults"));
  CHECK(csv_refusal({"a"}, {Tensor::vector<float>({1, 2})}).find("default 0 is neither") !=
        std::string::npos);
}

TEST_CASE("texts are numbers with blanks, signs, exponents and hexadecimal floats") {
  CHECK(number<float>(" +1.5e3\n") == 1500.f);
  CHECK(number<double>("-0x1.8p1") == -3.0);
  CHECK(number<double>(".5") == 0.5);
  CHECK(number<float>("1e-45") == std::numeric_limits<float>::denorm_min());
  CHECK(std::isnan(number<float>("NaN")));
  CHECK(number<double>("-Infinity") == -std::numeric_limits<double>::infinity());
  CHECK(number<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(number<std::int32_t>("+007") == 7);
  CHECK(number<std::uint64_t>("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("floats beyond the range are infinite or 0") {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const char* text : {"1e400", "3.5e38", "0.001e999999999999999999999", "0x1p200"}) {
    CAPTURE(text);
    CHECK(number<float>(text) == infinite);
    CHECK(number<float>(std::string("-") + text) == -infinite);
  }
  for (const char* text : {"1e-400", "1000e-999999999999999999999", "0e999999", "0x1p-400"}) {
    CAPTURE(text);
    CHECK(number<float>(text) == 0.f);
  }
  CHECK(number<double>(std::string(400, '9')) == std::numeric_limits<double>::infinity());
  CHECK(number<double>("0." + std::string(400, '0') + "1") == 0.0);
}

TEST_CASE("what spells no number is refused with the text") {
  for (const char* text :
       {"", " ", "1 2", "1f", ".", "1e", "--1", "+-1", "-+1", "+ 1", "1_0", "0x", "0xinf", "in"}) {
    CAPTURE(text);
    CHECK(!is_number<float>(text));
    CHECK(!is_number<std::int32_t>(text));
  }
  CHECK(!is_number<std::uint32_t>("-1"));
  CHECK(!is_number<std::int32_t>("2147483648"));
  CHECK(!is_number<std::int64_t>("0x1A"));
  CHECK_THROWS_WITH_AS(number<float>("a\n"), "StringToNumber 'StringToNumber': 'a\\x0a' is no float",
                       InvalidArgument);
}

TEST_CASE("bytes are numbers of any dtype, in either order") {
  const Tensor bytes = Tensor::vector<std::string>({std::string("\1\2\3\4"), std::string("\5\6\7\x08")});
  CHECK(raw(bytes, DType::kInt32) == Tensor::matrix<std::int32_t>({{0x04030201}, {0x08070605}}));
  CHECK(raw(bytes, DType::kUint16, false) ==
        Tensor::matrix<std::uint16_t>({{0x0102, 0x0304}, {0x0506, 0x0708}}));
  CHECK(raw(Tensor::scalar(std::string("\0\1\2", 3)), DType::kBool) ==
        Tensor::vector<bool>({false, true, true}));
  const Tensor complex =
      raw(Tensor::scalar(std::string("\x3f\x80\0\0\x40\0\0\0", 8)), DType::kComplex64, false);
  CHECK(complex == Tensor::vector<std::complex<float>>({{1.f, 2.f}}));
  CHECK(raw(Tensor::vector<std::string>({""}), DType::kFloat).shape() == Shape{1, 0});
  CHECK(raw(Tensor(DType::kString, {0, 2}), DType::kFloat).shape() == Shape{0, 2, 0});
}

TEST_CASE("bytes of another length than whole numbers are refused") {
  CHECK_THROWS_WITH_AS(raw(Tensor::scalar("abc"), DType::kInt16),
                       "DecodeRaw 'DecodeRaw': 3 bytes are no multiple of 2, the size of int16",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(
      raw(Tensor::vector<std::string>({"abcd", "ab"}), DType::kInt16),
      "DecodeRaw 'DecodeRaw': strings of one length are wanted: string 0 has 4 bytes, string 1 has 2",
      InvalidArgument);
}
