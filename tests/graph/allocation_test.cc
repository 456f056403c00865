// A step in the steady state takes no memory: counted by replacing the global operator new and malloc's users
// here.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"

using namespace runnel;

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);

namespace {
thread_local bool counting = false;
thread_local int allocations = 0;
}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(_GLIBCXX_TSAN)  // sanitizers have a malloc of their own
extern "C" void* malloc(std::size_t bytes) {
  if (counting) ++allocations;
  return __libc_malloc(bytes);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (counting) ++allocations;
  return __libc_memalign(alignment, bytes);
}
#endif

TEST_CASE("a prepared training step allocates nothing") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Variable w = variable(g, Tensor::vector<float>({0.5f}), "w");
  const Output y = w * x, loss = reduce_mean(square(y));
  const Output step = assign_sub(w, reduce_sum(y * x, Axes{0}, {.keep_dims = true}) * 0.001f);
  Session session(g, {.intra_op_parallelism_threads = 1});
  session.run(initialize_global_variables(g));
  Prepared call = session.prepare({.feeds = {x}, .fetches = {loss, Operation(step.node())}});
  const Tensor fed = Tensor::vector(std::vector<float>(100, 1.0f));
  for (int i = 0; i < 3; ++i) call(std::span(&fed, 1));
  counting = true;
  for (int i = 0; i < 100; ++i) call(std::span(&fed, 1));
  counting = false;
  CHECK(allocations == 0);
}
