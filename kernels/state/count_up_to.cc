// CountUpTo and ResourceCountUpTo: hands out a counter's value and adds one, up to a limit.
#include <cstdint>
#include <limits>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

template <class T>
void bind_count(Bind& b, const char* variable) {
  b.run([limit = b.integer("limit"), counter = b.var<T>(variable), out = b.out<T>("output")](Context& c) {
    T& value = *c[counter];
    if (value >= limit) throw OutOfRange(cat("Reached limit of ", limit));
    if (value == std::numeric_limits<T>::max())
      throw OutOfRange(
          cat("the counter is at ", value, ", the largest ", dtype_of<T>(), "; the limit is ", limit));
    *c[out] = value++;
  });
}

const KernelRegistration kCountUpTo{"CountUpTo", on<std::int32_t, std::int64_t>,
                                    []<class T>(Bind& b) { bind_count<T>(b, "ref"); }};
const KernelRegistration kResourceCountUpTo{"ResourceCountUpTo", on<std::int32_t, std::int64_t>,
                                            []<class T>(Bind& b) { bind_count<T>(b, "resource"); }};

}  // namespace
}  // namespace runnel
