// DecodeRaw: bytes copied, in the other order where they are not the machine's.
#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

// Bytes that turn around together: a complex number is two.
template <class T>
inline constexpr std::size_t kWord = sizeof(T);
template <class T>
inline constexpr std::size_t kWord<std::complex<T>> = sizeof(T);

template <class T>
void decode(const std::string& bytes, T* to, bool turn) {
  if constexpr (std::is_same_v<T, bool>) {
    std::transform(bytes.begin(), bytes.end(), to, [](char c) { return c != 0; });
  } else if (!bytes.empty()) {
    std::memcpy(static_cast<void*>(to), bytes.data(), bytes.size());
    char* const words = reinterpret_cast<char*>(to);
    if (turn && kWord < T >> 1)
      for (std::size_t at = 0; at < bytes.size(); at += kWord<T>)
        std::reverse(words + at, words + at + kWord<T>);
  }
}

// How many elements every string has. Throws InvalidArgument if they differ, or it is no whole number.
std::int64_t width_of(const std::string* texts, std::int64_t n, std::size_t element, DType type) {
  if (n == 0) return 0;
  const std::size_t size = texts[0].size();
  for (std::int64_t i = 1; i < n; ++i)
    if (texts[i].size() != size)
      throw InvalidArgument(cat("strings of one length are wanted: string 0 has ", size, " bytes, string ", i,
                                " has ", texts[i].size()));
  if (size % element != 0)
    throw InvalidArgument(cat(size, " bytes are no multiple of ", element, ", the size of ", type));
  return static_cast<std::int64_t>(size / element);
}

const KernelRegistration kDecodeRaw{
    "DecodeRaw",
    on<Half, float, double, std::int32_t, std::uint16_t, std::uint8_t, std::int16_t, std::int8_t,
       std::int64_t, std::complex<float>, std::complex<double>, bool, Bfloat16>("out_type"),
    []<class T>(Bind& b) {
      const Shape shape = b.input("bytes").shape;
      const bool turn = b.flag("little_endian") != (std::endian::native == std::endian::little);
      b.run([shape, turn, n = shape.elements(), in = b.in<std::string>("bytes"),
             out = b.out<T>("output")](Context& c) {
        const std::int64_t width = width_of(c[in], n, sizeof(T), dtype_of<T>());
        Shape whole = shape;
        whole.push_back(width);
        T* const to = c.room(out, whole);
        for (std::int64_t i = 0; i < n; ++i) decode(c[in][i], to + i * width, turn);
      });
    }};

}  // namespace
}  // namespace runnel
