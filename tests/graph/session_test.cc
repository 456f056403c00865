// Sessions: feeds, fetches, variables, plans and their counts.
#include "graph/runtime/session.h"

#include <doctest/doctest.h>

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

TEST_CASE("a fetch gives the value, an operation nothing, and both may be asked for at once") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = x * 2.0f;
  Session session(g);
  const auto [value, none, again] =
      session.run({y, Operation(y.node()), y}, {{x, Tensor::vector<float>({1, 2})}});
  CHECK(value == Tensor::vector<float>({2, 4}));
  CHECK(again == value);
  CHECK_FALSE(none);
}

TEST_CASE("a fetched tensor keeps its values when the next step runs") {
  Graph g;
  const Output x = placeholder<float>(g, {1}, "x");
  Session session(g);
  const Output y = x + 1.0f;
  const Tensor first = session.run(y, {{x, Tensor::vector<float>({1})}});
  const Tensor second = session.run(y, {{x, Tensor::vector<float>({5})}});
  CHECK(first.values<float>()[0] == 2);
  CHECK(second.values<float>()[0] == 6);
}

TEST_CASE("a tensor that was fed can be written afterwards without a copy") {
  Graph g;
  const Output x = placeholder<float>(g, {1}, "x");
  const Output y = x + 1.0f;
  Session session(g);
  Prepared call = session.prepare({.feeds = {x}, .fetches = {y}});
  Tensor fed = Tensor::vector<float>({1});
  const void* memory = fed.data();
  session.run(y, {{x, fed}});
  call(std::span(&fed, 1));
  fed.mutable_values<float>()[0] = 2;
  CHECK(fed.data() == memory);
}

TEST_CASE("any tensor may be fed, a constant too, and what is fed is not computed") {
  Graph g;
  const Output c = constant(g, Tensor::scalar(3.0f), {.name = "c"});
  const Output broken = placeholder<float>(g, {}, "never_fed");
  const Output middle = c * broken;
  Session session(g);
  CHECK(
      session.run(middle + c, {{middle, Tensor::scalar(10.0f)}, {c, Tensor::scalar(1.0f)}}).scalar<float>() ==
      11);
}

TEST_CASE("a wrong feed is refused with name and both shapes or dtypes") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown, 784}, "x");
  Session session(g);
  CHECK_THROWS_WITH_AS(session.run(x, {{x, Tensor::zeros(DType::kFloat, {50, 2352})}}),
                       "Cannot feed a value of shape [50,2352] for tensor 'x:0', which has shape [?,784]",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(session.run(x, {{x, Tensor::zeros(DType::kDouble, {50, 784})}}),
                       "Cannot feed a value of dtype double for tensor 'x:0', which is float[?,784]",
                       InvalidArgument);
  Graph other;
  const Output z = placeholder<float>(other, {}, "z");
  CHECK_THROWS_WITH_AS(session.run(x, {{z, Tensor::scalar(1.0f)}}),
                       "'z:0' is not an element of this session's graph", InvalidArgument);
}

TEST_CASE("a missing feed names the placeholder, the fetch and the way between them") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Output y = square(x, {.name = "y"}), other = constant(g, Tensor::scalar(1.0f));
  Session session(g);
  try {
    session.run({y, other});
    FAIL("nothing was thrown");
  } catch (const InvalidArgument& error) {
    CHECK(error.message() ==
          "You must feed a value for placeholder tensor 'x' with dtype float and shape [2]: y:0 needs it (y "
          "<- x)");
    CHECK(error.where().line > 0);
  }
}

TEST_CASE("reading a variable before it has a value names the variable and the reader") {
  Graph g;
  const Variable a = variable(g, 1.0f, "a");
  const Output y = square(a, {.name = "y"});
  Session session(g);
  CHECK_THROWS_WITH_AS(session.run(y),
                       "Attempting to use uninitialized value a, read by Square 'y': run the initializer "
                       "(initialize_global_variables) or restore a checkpoint first",
                       FailedPrecondition);
  session.run(initialize_global_variables(g));
  CHECK(session.run(y).scalar<float>() == 1);
}

TEST_CASE("a new session starts without the values of another one") {
  Graph g;
  const Variable a = variable(g, 1.0f, "a");
  const Operation init = initialize_global_variables(g);
  Session first(g);
  first.run(init);
  Session second(g);
  CHECK_THROWS_AS(second.run(a), FailedPrecondition);
}

TEST_CASE("one request makes one plan, and a new shape one more") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = reduce_sum(x);
  Session session(g);
  for (int i = 0; i < 5; ++i) session.run(y, {{x, Tensor::vector<float>({1, 2})}});
  CHECK(session.stats().plans_made == 1);
  session.run(y, {{x, Tensor::vector<float>({1, 2, 3})}});
  CHECK(session.stats().plans_made == 2);
}

TEST_CASE("after many shapes one plan serves all of them, with the same values") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = reduce_sum(x * 2.0f + 1.0f);
  Session session(g);
  for (int n = 0; n < 40; ++n) {
    const Tensor fed = Tensor::vector(std::vector<float>(static_cast<std::size_t>(n), 1.0f));
    CHECK(session.run(y, {{x, fed}}).scalar<float>() == 3.0f * static_cast<float>(n));
  }
  CHECK(session.stats().plans_made == 9);
}

TEST_CASE("a prepared call takes other shapes, and its copied results keep their values") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = x + 1.0f;
  Session session(g);
  Prepared call = session.prepare({.feeds = {x}, .fetches = {y}});
  const Tensor first = call({Tensor::vector<float>({1})})[0];
  CHECK(call({Tensor::vector<float>({1, 2})})[0] == Tensor::vector<float>({2, 3}));
  CHECK(first == Tensor::vector<float>({2}));
  CHECK_THROWS_WITH_AS(call({}), "this call takes 1 feeds, not 0", InvalidArgument);
}

TEST_CASE("a fetched variable keeps its value when the variable is written, at the cost of one copy") {
  Graph g;
  const Variable a = variable(g, Tensor::vector<float>({1, 2}), "a");
  const Output add = assign_add(a, Tensor::vector<float>({1, 1}));
  Session session(g);
  session.run(initialize_global_variables(g));
  const Tensor before = session.run(a);
  session.run(Operation(add.node()));
  CHECK(before == Tensor::vector<float>({1, 2}));
  CHECK(session.run(a) == Tensor::vector<float>({2, 3}));
  CHECK(session.stats().copies_by_writers == 1);
}

TEST_CASE("a plain training loop copies no variable") {
  Graph g;
  const Variable a = variable(g, Tensor::vector<float>({1, 2}), "a");
  const Operation add(assign_add(a, Tensor::vector<float>({1, 1})).node());
  Session session(g);
  session.run(initialize_global_variables(g));
  for (int i = 0; i < 10; ++i) session.run(add);
  CHECK(session.stats().copies_by_writers == 0);
}

TEST_CASE("shapes that depend on fed values are told while the step runs") {
  Graph g;
  const Output dims = placeholder<std::int32_t>(g, {kUnknown}, "dims");
  const Output filled = fill(dims, 2.0f);
  const Output y = filled * 3.0f;
  Session session(g);
  CHECK(session.run(y, {{dims, Tensor::vector<std::int32_t>({2, 2})}}).shape() == Shape{2, 2});
  CHECK(session.run(y, {{dims, Tensor::vector<std::int32_t>({3})}}) == Tensor::vector<float>({6, 6, 6}));
}

TEST_CASE("an alias of a tensor that is pointed at another while the step runs has that one's elements") {
  Graph g;
  const Output x = placeholder<bool>(g, {kUnknown}, "x");
  const Output three = reshape(where(x), {3});
  Session session(g);
  const Feed fed{x, Tensor::vector<bool>({true, false, true, true})};
  CHECK(session.run(identity(three), {fed}) == Tensor::vector<std::int64_t>({0, 2, 3}));
}

TEST_CASE("a variable without a value takes one whose shape is told while the step runs") {
  Graph g;
  const Output x = placeholder<bool>(g, {kUnknown}, "x");
  const Variable v = variable(g, Tensor::zeros(DType::kInt64, Shape{2, 1}), "v");
  Session session(g);
  const Output set = assign(v, where(x));
  CHECK(session.run(set, {{x, Tensor::vector<bool>({true, true})}}) ==
        Tensor::matrix<std::int64_t>({{0}, {1}}));
  CHECK_THROWS_AS(session.run(set, {{x, Tensor::vector<bool>({true})}}), InvalidArgument);
}

TEST_CASE("a late binding is kept while shapes and values stay the same") {
  Graph g;
  const Output dims = placeholder<std::int32_t>(g, {1}, "dims");
  const Output y = fill(dims, 2.0f) * 3.0f;
  Session session(g);
  for (int i = 0; i < 5; ++i) session.run(y, {{dims, Tensor::vector<std::int32_t>({2})}});
  CHECK(session.stats().late_bindings == 2);
}

TEST_CASE("an error in a kernel names the node and leaves the session usable") {
  Graph g;
  const Output x = placeholder<std::int32_t>(g, {}, "x");
  const Output y = floordiv(x, 0, {.name = "y"});
  Session session(g);
  CHECK_THROWS_AS(session.run(y, {{x, Tensor::scalar<std::int32_t>(1)}}), InvalidArgument);
  CHECK(session.run(x + 1, {{x, Tensor::scalar<std::int32_t>(1)}}).scalar<std::int32_t>() == 2);
}

TEST_CASE("a closed session refuses to run, and so does a call prepared before") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(1.0f)) + 1.0f;
  Session session(g);
  Prepared call = session.prepare({.fetches = {x}});
  CHECK(call()[0].scalar<float>() == 2);
  session.close();
  session.close();
  CHECK_THROWS_WITH_AS(session.run(x), "Attempted to use a closed Session.", FailedPrecondition);
  CHECK_THROWS_AS(call(), FailedPrecondition);
}

TEST_CASE("options that make no sense are refused by name") {
  Graph g;
  const Output one = constant(g, Tensor::scalar(1.0f));
  CHECK_THROWS_WITH_AS(
      Session(g, {.intra_op_parallelism_threads = -3}),
      "intra_op_parallelism_threads is -3; it must be at least 0, and 0 means one a processor",
      InvalidArgument);
  CHECK_THROWS_AS(Session(g, {.operation_timeout_in_ms = -1}), InvalidArgument);
  Session session(g, {.inter_op_parallelism_threads = -1});  // the caller's thread
  CHECK_THROWS_WITH_AS(
      session.run(one, {}, {.timeout_in_ms = -5}),
      "timeout_in_ms is -5; it must be at least 0, and 0 means that the step may take any time",
      InvalidArgument);
  CHECK(session.run(one).scalar<float>() == 1);
}

TEST_CASE("the plan cache is bounded") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(1.0f));
  Session session(g, {.plan_cache_size = 4});
  std::vector<Output> many;
  for (int i = 0; i < 10; ++i) many.push_back(x + static_cast<float>(i));
  for (int round = 0; round < 2; ++round)
    for (const Output& y : many) session.run(y);
  CHECK(session.stats().plans_made > 10);  // some were forgotten and made again
}

TEST_CASE("variables are kept by a snapshot between steps") {
  Graph g;
  const Variable a = variable(g, 1.0f, "a"), b = variable(g, 2.0f, "b");
  Session session(g);
  session.run(initialize_global_variables(g));
  const std::vector<Variable> both{b, a};
  const std::vector<Tensor> cut = session.snapshot(both);
  session.run(Operation(assign(a, 9.0f).node()));
  CHECK(cut[0].scalar<float>() == 2);
  CHECK(cut[1].scalar<float>() == 1);
}

TEST_CASE("a plan prints its kernels in order, with places and bytes") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Output y = square(x + 1.0f, {.name = "y"});
  Session session(g);
  const std::vector<Fetch> fetches{y};
  const std::vector<Feed> feeds{{x, Tensor::vector<float>({1, 2})}};
  const std::string text = session.describe(fetches, feeds);
  CHECK(text.find("2 kernels") != std::string::npos);
  CHECK(text.find("0 AddV2 'add': float[2] feed 0, float[] constant -> float[2] @0") != std::string::npos);
  CHECK(text.find("1 Square 'y': float[2] @0 -> float[2] buffer") != std::string::npos);
}

TEST_CASE("feeding the variable itself to an op that writes it is refused, naming the op") {
  Graph g;
  const Variable v = variable(g, 1.0f, "v");
  const Output sum = assign_add(v, 1.0f);
  Session session(g);
  CHECK_THROWS_WITH_AS(
      session.run(sum, {{g.output("v:0"), Tensor::scalar(5.0f)}}),
      "AssignAdd 'AssignAdd': input ref is no variable in this step: feed the value that is read, "
      "not the variable itself",
      InvalidArgument);
}

TEST_CASE("a session of the default graph goes on with it after the default graph was reset") {
  reset_default_graph();
  Session session;
  const Output x = constant(session.graph(), Tensor::scalar(4.0f));
  reset_default_graph();
  CHECK((default_graph() != session.graph()));
  CHECK(session.run(x * 3.0f).scalar<float>() == 12);
}

TEST_CASE("a prepared call goes on after a feed that the graph cannot take") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  Session session(g);
  Prepared call = session.prepare({.feeds = {x}, .fetches = {x + Tensor::vector<float>({1, 2})}});
  CHECK(call({Tensor::vector<float>({1, 1})})[0] == Tensor::vector<float>({2, 3}));
  CHECK_THROWS_AS(call({Tensor::vector<float>({1, 1, 1})}), InvalidArgument);
  CHECK(call({Tensor::vector<float>({1, 1})})[0] == Tensor::vector<float>({2, 3}));
}

TEST_CASE("a small result keeps no memory of a large one before it") {
  Graph g;
  const Output mask = placeholder<bool>(g, {100'000}, "mask");
  const Output places = where(mask);
  Session session(g);
  Tensor all(DType::kBool, {100'000});
  std::ranges::fill(all.mutable_values<bool>(), true);
  CHECK(session.run(places, {{mask, all}}).shape() == Shape{100'000, 1});
  std::ranges::fill(all.mutable_values<bool>().subspan(2), false);
  const Tensor few = session.run(places, {{mask, all}});
  CHECK(few == Tensor::matrix<std::int64_t>({{0}, {1}}));
  CHECK(few.buffer()->bytes() == 16);
}

TEST_CASE("get says which variable or tensor has another dtype or more elements, and runs nothing") {
  Graph g;
  const Variable w = variable(g, Tensor::vector<float>({1, 2}), "w");
  const Output bump = assign_add(w, Tensor::vector<float>({1, 1}), {.name = "bump"});
  Session session(g);
  session.run(initialize_global_variables(g));
  CHECK_THROWS_WITH_AS(session.get<double>(w),
                       "variable 'w' was asked for as double, but it is float: ask for float",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(session.get<float>(w),
                       "variable 'w' was asked for its only element, but it is float[2]: run it and read the "
                       "values of the tensor",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(session.get<std::int32_t>(bump),
                       "tensor 'bump:0' was asked for as int32, but it is float: ask for float",
                       InvalidArgument);
  CHECK(session.run(w) == Tensor::vector<float>({1, 2}));
  const Output x = placeholder<float>(g, {}, "x");
  CHECK(session.get<float>(x * 2.0f, {{x, Tensor::scalar(4.0f)}}) == 8);
}
