// Values as a person reads them.
#include "train/monitored/value_text.h"

#include <doctest/doctest.h>

#include <complex>
#include <limits>
#include <numeric>
#include <vector>

using namespace runnel;

TEST_CASE("scalars are written as NumPy writes them") {
  CHECK(value_text(Tensor::scalar(0.1f)) == "0.1");
  CHECK(value_text(Tensor::scalar(1.0f)) == "1.0");
  CHECK(value_text(Tensor::scalar(-0.0f)) == "-0.0");
  CHECK(value_text(Tensor::scalar(0.0001f)) == "0.0001");
  CHECK(value_text(Tensor::scalar(1e-5f)) == "1e-05");
  CHECK(value_text(Tensor::scalar(123456789.0)) == "123456789.0");
  CHECK(value_text(Tensor::scalar(1e16)) == "1e+16");
  CHECK(value_text(Tensor::scalar(1.0 / 3)) == "0.3333333333333333");
  CHECK(value_text(Tensor::scalar(std::numeric_limits<float>::quiet_NaN())) == "nan");
  CHECK(value_text(Tensor::scalar(-std::numeric_limits<double>::infinity())) == "-inf");
  CHECK(value_text(Tensor::scalar(std::int64_t{-7})) == "-7");
  CHECK(value_text(Tensor::scalar(std::int8_t{65})) == "65");
  CHECK(value_text(Tensor::scalar(true)) == "True");
  CHECK(value_text(Tensor::scalar(std::complex<float>(1, -2))) == "(1.0-2.0j)");
}

TEST_CASE("arrays are written in brackets, on one line") {
  CHECK(value_text(Tensor::vector<std::int32_t>({1, 2, 3})) == "[1 2 3]");
  CHECK(value_text(Tensor::matrix<float>({{0.5f, 1}, {2, 3}})) == "[[0.5 1.0] [2.0 3.0]]");
  CHECK(value_text(Tensor(DType::kFloat, {0})) == "[]");
  CHECK(value_text(Tensor(DType::kFloat, {2, 0})) == "[[] []]");
  CHECK(value_text(Tensor::vector<std::string>({"a b", "line\nend\x01"})) == "[a b line\\nend\\x01]");
}

TEST_CASE("of large arrays the ends of each dimension are shown") {
  std::vector<std::int32_t> values(2000);
  std::iota(values.begin(), values.end(), 0);
  CHECK(value_text(Tensor::vector(values)) == "[0 1 2 ... 1997 1998 1999]");
  CHECK(
      value_text(Tensor::from<std::int32_t>({8, 250}, values)).starts_with("[[0 1 2 ... 247 248 249] [250 "));
  CHECK(value_text(Tensor::from<std::int32_t>({8, 250}, values))
            .ends_with(" [1750 1751 1752 ... 1997 1998 1999]]"));
  CHECK(value_text(Tensor::from<std::int32_t>({1000, 2}, values)) ==
        "[[0 1] [2 3] [4 5] ... [1994 1995] [1996 1997] [1998 1999]]");
}
