// .npy files: what NumPy wrote comes back, what we write is byte for byte what NumPy writes, and hostile
// headers are refused before memory is taken.
#include "train/cli/npy.h"

#include <doctest/doctest.h>

#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

// A file with this header text, as NumPy pads it.
std::string file(std::string header, const std::string& values, char version = 1) {
  header += std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
  std::string out = std::string("\x93NUMPY") + version + '\0' + static_cast<char>(header.size()) + '\0';
  if (version > 1) out += std::string(2, '\0');
  return out + header + values;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string refusal(const std::string& bytes) {
  return what_of([&] { npy_tensor(bytes); });
}

}  // namespace

TEST_CASE("a written array is byte for byte NumPy's") {
  const float values[] = {1.0f, 2.0f};
  CHECK(npy_bytes(Tensor::vector<float>({1, 2})) ==
        file(header("<f4", "(2,)"), std::string(reinterpret_cast<const char*>(values), sizeof values)));
  CHECK(npy_bytes(Tensor::vector<std::string>({"a", "bcd"})) ==
        file(header("|S3", "(2,)"), std::string("a\0\0bcd", 6)));
  CHECK(npy_bytes(Tensor::scalar(true)) == file(header("|b1", "()"), "\1"));
  CHECK(npy_bytes(Tensor(DType::kInt64, Shape{0, 3})) == file(header("<i8", "(0, 3)"), ""));
}

TEST_CASE("every dtype comes back as it was") {
  for (int number = 1; number < 34; ++number) {
    const auto type = static_cast<DType>(number);
    if (type == DType::kResource || type == DType::kVariant) continue;
    CAPTURE(type);
    const Tensor tensor = Tensor::zeros(type, Shape{2, 3});
    const std::string bytes = npy_bytes(tensor);
    CHECK(npy_restored(npy_tensor(bytes), type) == tensor);
    for (std::size_t n = 0; n < bytes.size(); ++n) CHECK_THROWS_AS(npy_tensor(bytes.substr(0, n)), DataLoss);
  }
}

TEST_CASE("big endian, Fortran order and later versions are understood") {
  CHECK(npy_tensor(file(header(">i2", "(2,)"), std::string("\0\1\1\0", 4))) ==
        Tensor::vector<std::int16_t>({1, 256}));
  CHECK(npy_tensor(file(header("|u1", "(2, 3)", "True"), "\1\4\2\5\3\6")) ==
        Tensor::matrix<std::uint8_t>({{1, 2, 3}, {4, 5, 6}}));
  CHECK(npy_tensor(file(header("|i1", "(1,)"), "\7", 2)) == Tensor::vector<std::int8_t>({7}));
  CHECK(npy_tensor(file("{\"shape\": (1L,), \"descr\": \"|b1\", \"fortran_order\": False}", "\1")) ==
        Tensor::vector<bool>({true}));
}

TEST_CASE("what a file cannot say is told") {
  CHECK(npy_loss(Tensor::zeros(DType::kBfloat16, {})) == "the .npy file holds bfloat16 as uint16");
  CHECK(npy_loss(Tensor::scalar(std::string("a\0", 2))) ==
        "the .npy file drops zero bytes at the end of strings");
  CHECK(npy_loss(Tensor::scalar(1.0f)) == "");
}

TEST_CASE("files that are none, and arrays that no tensor holds, are refused") {
  const std::pair<std::string, std::string> cases[] = {
      {"", "not a .npy file: it does not begin with \\x93NUMPY"},
      {std::string("\x93NUMPY\1\0\xff\xff", 10), "not a .npy file: it is cut short in its header"},
      {std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12),
       "not a .npy file: its header of 4294967295 bytes is longer than 65536"},
      {std::string("\x93NUMPY\x9\0\xff\xff\xff\xff", 12), "not a .npy file: its version 9 is not 1, 2 or 3"},
      {file(header("|O", "(1,)"), ""),
       "this .npy file holds pickled Python objects; save strings with dtype 'S'"},
      {file(header("<U3", "(1,)"), ""),
       "this .npy file holds 'U' strings; save them as bytes, with dtype 'S'"},
      {file(header("<M8[ns]", "(1,)"), ""), "no tensor holds values of NumPy's dtype \"<M8[ns]\""},
      {file(header("<f16", "(1,)"), std::string(16, '\0')), "no tensor holds values of NumPy's dtype 'f16'"},
      {file("{'descr': [('a', '<i4')], 'shape': (1,)}", ""),
       "this .npy file holds records; save each field by itself"},
      {file("{'descr': '<i4', 'shape': (1,)}", "abcd"),
       "not a .npy file: its header lacks descr, fortran_order or shape"},
      {file(header("<i4", "(-1,)"), ""), "not a .npy file: its shape holds something else than sizes"},
      {file(header("|b1", "(1,)"), "\2"), "not a .npy file: its bool values are not all 0 or 1"},
      {file(header("<i4", "(1,)"), "abcde"),
       "not a sound .npy file: 5 bytes follow the header, but 1 values of 4 bytes are announced"},
  };
  for (const auto& [bytes, why] : cases) CHECK(refusal(bytes) == why);
}

TEST_CASE("a header that announces more than the file holds takes no memory") {
  CHECK(
      refusal(file(header("<f8", "(1099511627776,)"), "")) ==
      "not a sound .npy file: 0 bytes follow the header, but 1099511627776 values of 8 bytes are announced");
  CHECK(
      refusal(file(header("|S0", "(1099511627776,)"), "")) ==
      "not a sound .npy file: 0 bytes follow the header, but 1099511627776 values of 0 bytes are announced");
  CHECK(refusal(file(header("|i1", "(4611686018427387904, 4611686018427387904)"), "")) ==
        "shape [4611686018427387904,4611686018427387904] has more than 2^62 elements");
}
