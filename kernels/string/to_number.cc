// StringToNumber.
#include <cstdint>
#include <string>

#include "graph/error.h"
#include "graph/input_name.h"
#include "graph/kernel.h"
#include "kernels/string/number.h"

namespace runnel {
namespace {

const KernelRegistration kStringToNumber{
    "StringToNumber", on<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>("out_type"),
    []<class T>(Bind& b) {
      b.run([n = b.input("string_tensor").shape.elements(), in = b.in<std::string>("string_tensor"),
             out = b.out<T>("output")](Context& c) {
        for (std::int64_t i = 0; i < n; ++i) {
          const std::optional<T> number = number_of<T>(c[in][i]);
          if (!number) throw InvalidArgument(cat(shown(c[in][i]), " is no ", dtype_of<T>()));
          c[out][i] = *number;
        }
      });
    }};

}  // namespace
}  // namespace runnel
