// A step in the steady state takes no memory: counted by replacing the global operator new and malloc's users
// here.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_where_ops.h"
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

namespace {

// Allocations of `rounds` rounds of calls over these feeds, after two rounds that are not counted.
int allocations_over(Prepared& call, const std::vector<std::vector<Tensor>>& feeds, int rounds = 20) {
  for (int i = 0; i < 2; ++i)
    for (const auto& fed : feeds) call(fed);
  allocations = 0;
  counting = true;
  for (int i = 0; i < rounds; ++i)
    for (const auto& fed : feeds) call(fed);
  counting = false;
  return allocations;
}

}  // namespace

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
  CHECK(allocations_over(call, {{fed}}) == 0);
}

TEST_CASE("steps whose shapes depend on values allocate nothing for shapes they have met") {
  Graph g;
  const Output x = placeholder<float>(g, {6}, "x"), mask = placeholder<bool>(g, {6}, "mask");
  const Output picked = boolean_mask(x, mask);
  const Output rows = reshape(picked, {-1, 1});
  const Output squares = matmul(rows, rows, {.transpose_b = true});
  Session session(g, {.intra_op_parallelism_threads = 1});
  Prepared call = session.prepare({.feeds = {x, mask}, .fetches = {picked * 2.0f, reduce_sum(squares)}});
  const Tensor values = Tensor::vector<float>({1, 2, 3, 4, 5, 6});
  const auto pick = [](const std::vector<bool>& which) {
    Tensor out(DType::kBool, {6});
    std::ranges::copy(which, out.mutable_values<bool>().begin());
    return out;
  };
  const std::vector<std::vector<Tensor>> feeds = {{values, pick({true, false, true, false, false, false})},
                                                  {values, pick({true, true, true, true, true, false})},
                                                  {values, pick({false, false, false, false, false, true})}};
  CHECK(allocations_over(call, feeds) == 0);
  const std::span<const Tensor> last = call(feeds[0]);
  CHECK(last[0] == Tensor::vector<float>({2, 6}));
  CHECK(last[1].scalar<float>() == 16);
}

TEST_CASE("a prepared call that goes round shapes of feeds allocates nothing") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  Session session(g, {.intra_op_parallelism_threads = 1});
  Prepared call = session.prepare({.feeds = {x}, .fetches = {reduce_sum(x * 2.0f), x + 1.0f}});
  std::vector<std::vector<Tensor>> feeds;
  for (const int n : {3, 5, 4}) feeds.push_back({Tensor::vector(std::vector<float>(n, 1.0f))});
  CHECK(allocations_over(call, feeds) == 0);
}

TEST_CASE("the plan that takes any shape allocates nothing for shapes it has met") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  Session session(g, {.intra_op_parallelism_threads = 1});
  Prepared call = session.prepare({.feeds = {x}, .fetches = {reduce_sum(x * 2.0f), x + 1.0f}});
  for (int n = 1; n <= 9; ++n) call({Tensor::vector(std::vector<float>(n, 1.0f))});
  std::vector<std::vector<Tensor>> feeds;
  for (const int n : {20, 30, 25}) feeds.push_back({Tensor::vector(std::vector<float>(n, 1.0f))});
  CHECK(allocations_over(call, feeds) == 0);
  CHECK(call(feeds[2])[0].scalar<float>() == 50);
  CHECK(session.stats().plans_made == 9);
}
