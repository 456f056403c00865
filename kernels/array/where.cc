// Places of the elements that are not zero: counted first, then written.
#include <cstdint>

#include "graph/kernel.h"

namespace runnel {
namespace {

const KernelRegistration kWhere{
    "Where",
    on<bool, float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
       std::uint16_t, std::uint32_t, std::uint64_t>,
    []<class T>(Bind& b) {
      const Shape shape = b.input("input").shape;
      const std::int64_t n = shape.elements();
      b.run([=, in = b.in<T>("input"), out = b.out<std::int64_t>("index")](Context& c) {
        const T* const values = c[in];
        std::int64_t found = 0;
        for (std::int64_t i = 0; i < n; ++i) found += values[i] != T(0) ? 1 : 0;
        std::int64_t* to = c.room(out, {found, shape.rank()});
        for (std::int64_t i = 0; i < n; ++i) {
          if (values[i] == T(0)) continue;
          std::int64_t rest = i;
          for (int d = shape.rank() - 1; d >= 0; --d) {
            to[d] = rest % shape[d];
            rest /= shape[d];
          }
          to += shape.rank();
        }
      });
    }};

}  // namespace
}  // namespace runnel
