// Variables, their initial values and what shares them by name.
#include "ops/variables.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/ops.h"
#include "tests/ops/node_listing.h"

using namespace runnel;

namespace {

// A ref variable whose Assign is made by `add_assign`, for graphs that the builders cannot make.
Variable by_hand(Graph& g, const std::string& name, const Output& ref, Output initial) {
  auto parts = std::make_shared<VariableParts>();
  parts->variable = ref;
  parts->initial_value = initial;
  parts->initializer = g.add("Assign", {ref, initial}, {}, name + "/Assign");
  parts->snapshot = g.operation(name + "/read").node().output(0);
  const Variable out(parts);
  g.add_to_collection(keys::kGlobalVariables, out);
  return out;
}

Output bare_ref(Graph& g, const std::string& name) {
  const Output ref = g.add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}}, name);
  g.add("Identity", {ref}, {}, name + "/read");
  return ref;
}

}  // namespace

TEST_CASE("get_variable and its scopes make the nodes that TensorFlow makes, for both kinds of variables") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const auto get = [&](const char* name, const Shape& shape, Initializer start = {},
                         DType type = DType::kFloat) {
      return get_variable(g, name, shape, {.initializer = start, .dtype = type, .use_resource = resource});
    };
    get("z", {3}, zeros_initializer());
    get("zz", {3000}, zeros_initializer());
    get("o", {3}, ones_initializer());
    get("c", {3}, constant_initializer(0.5));
    get("g", {3, 4});
    get("gi", {3}, {}, DType::kInt32);
    get("tn", {3, 4}, truncated_normal_initializer(0, 0.1));
    get("rn", {3, 4}, random_normal_initializer(0, 0.1));
    get("ru", {3, 4}, random_uniform_initializer(-1, 1));
    {
      const VariableScope scope(g, "s");
      const Variable v = get("v", {2});
      const Output x = ones<float>(g, {1, 2});
      bias_add(matmul(x, get("k", {2, 2})), v);
      variable(g, 1.0f, "", {.use_resource = resource});
    }
    {
      const VariableScope scope(g, "s", {.reuse = Reuse::kYes});
      get("v", {2}) + 1.0f;
    }
    check_same(listing_of(g), golden_listing("builders/nodes.txt",
                                             resource ? "get_variable (resource)" : "get_variable (ref)"));
  }
}

TEST_CASE("makes the global step as TensorFlow does, once") {
  for (const bool resource : {false, true}) {
    Graph g;
    CHECK_FALSE(get_global_step(g));
    const Variable step = get_or_create_global_step(g, {.use_resource = resource});
    check_same(listing_of(g), golden_listing("builders/nodes.txt",
                                             resource ? "global_step (resource)" : "global_step (ref)"));
    CHECK(get_or_create_global_step(g) == step);
    CHECK_THROWS_AS(create_global_step(g), AlreadyExists);
    CHECK(g.variables(keys::kTrainableVariables).empty());
  }
}

TEST_CASE("one run initialises variables that start from each other, and again to the same: case E8") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const VariableOptions kind{.use_resource = resource};
    const Variable a = variable(g, 42.0f, "a", kind);
    const Variable b = variable(a * 2.0f, "b", kind);
    const Variable c = variable(b + 1.0f, "c", kind);
    const Operation init = initialize_global_variables(g);
    const Output changed = assign(a, 7.0f);
    Session session(g);
    session.run(init);
    CHECK(session.get<float>(b) == 84);
    CHECK(session.get<float>(c) == 85);
    session.run(changed);
    session.run(init);
    CHECK(session.get<float>(a) == 42);
    CHECK(session.get<float>(c) == 85);
  }
}

TEST_CASE("initialising one variable takes the values others have and changes none of them") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const VariableOptions kind{.use_resource = resource};
    const Variable a = variable(g, 42.0f, "a", kind);
    const Variable b = variable(a * 2.0f, "b", kind);
    const Variable c = variable(b + 1.0f, "c", kind);
    Session session(g);
    session.run(c.parts().initializer);  // nothing has a value yet
    CHECK(session.get<float>(c) == 85);
    session.run(assign(a, 7.0f));
    session.run(b.parts().initializer);
    CHECK(session.get<float>(b) == 14);
    CHECK(session.get<float>(a) == 7);
  }
}

TEST_CASE("names the variables whose initial values depend on each other") {
  Graph g;
  const Output a = bare_ref(g, "a"), b = bare_ref(g, "b");
  by_hand(g, "a", a, square(g.output("b/read:0")));
  by_hand(g, "b", b, square(g.output("a/read:0")));
  CHECK_THROWS_WITH_AS(
      initialize_global_variables(g),
      "initial values of variables depend on each other: a -> b -> a; give one of them a value of its own",
      InvalidArgument);
}

TEST_CASE("initialises variables of a foreign graph in order of dependency") {
  Graph g;
  const Output b = bare_ref(g, "b"), a = bare_ref(g, "a");
  by_hand(g, "b", b, square(g.output("a/read:0")));  // an unguarded read, and made first
  by_hand(g, "a", a, constant(g, Tensor::scalar(3.0f)));
  Session session(g);
  session.run(initialize_global_variables(g));
  CHECK(session.run(g.output("b/read:0")).scalar<float>() == 9);
}

TEST_CASE("a read before the first value names the variable and the reader") {
  Graph g;
  const Variable a = variable(g, 1.0f, "a");
  const Output reader = square(a, {.name = "reader"});
  Session session(g);
  try {
    session.run(reader);
    FAIL("no error");
  } catch (const FailedPrecondition& error) {
    CHECK(error.message().find("Attempting to use uninitialized value a") != std::string::npos);
    CHECK(error.message().find("reader") != std::string::npos);
  }
}

TEST_CASE("reports the variables that have no value yet, in order") {
  Graph g;
  const Variable a = variable(g, 1.0f, "a"), b = variable(g, 1.0f, "b", {.use_resource = true});
  const Variable c = variable(g, 1.0f, "c", {.collections = {keys::kLocalVariables}});
  const Output report = report_uninitialized_variables(g);
  Session session(g);
  CHECK(session.run(report) == Tensor::vector<std::string>({"a", "b", "c"}));
  session.run(initialize_global_variables(g));
  CHECK(session.run(report) == Tensor::vector<std::string>({"c"}));
  session.run(initialize_local_variables(g));
  CHECK(session.run(report).elements() == 0);
}

TEST_CASE("a variable is in the collections that were named, and trainable unless told otherwise") {
  Graph g;
  variable(g, 1.0f, "a");
  variable(g, 1.0f, "b", {.trainable = false});
  variable(g, 1.0f, "c", {.collections = {keys::kLocalVariables}});
  const auto names = [&](const char* key) {
    std::string out;
    for (const Variable& v : g.variables(key)) out += v.name();
    return out;
  };
  CHECK(names(keys::kGlobalVariables) == "ab");
  CHECK(names(keys::kTrainableVariables) == "ac");
  CHECK(names(keys::kLocalVariables) == "c");
}

TEST_CASE("refuses an initial value of unknown shape, unless the shape may stay unknown") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  CHECK_THROWS_WITH_AS(variable(x, "v"),
                       "variable 'v': its initial value x:0 has shape [?]; give one whose shape is known, or "
                       "validate_shape = false",
                       InvalidArgument);
  const Variable w = variable(x, "w", {.validate_shape = false});
  Session session(g);
  session.run(w.parts().initializer, {{x, Tensor::vector<float>({1, 2, 3})}});
  CHECK(session.run(w) == Tensor::vector<float>({1, 2, 3}));
}

TEST_CASE("get_variable refuses what its scope does not allow") {
  Graph g;
  get_variable(g, "w", {2});
  CHECK_THROWS_WITH_AS(get_variable(g, "w", {2}),
                       "variable 'w' exists already; to share it, open its scope with Reuse::kYes or kAuto",
                       AlreadyExists);
  const VariableScope scope(g, "s", {.reuse = Reuse::kAuto});
  const Variable made = get_variable(g, "v", {2});
  CHECK(get_variable(g, "v", {2}) == made);
  CHECK_THROWS_WITH_AS(get_variable(g, "v", {3}),
                       "variable 's/v' is asked for as float[3], but it is float[2]", InvalidArgument);
  const VariableScope inner(g, "t", {.reuse = Reuse::kYes});
  CHECK_THROWS_AS(get_variable(g, "new", {2}), NotFound);
}

TEST_CASE("dense is x kernel + bias, under the names of tf.layers.dense") {
  Graph g;
  const Output x = constant(g, Tensor::matrix<float>({{1, 2}}));
  const Output y =
      dense(x, 1, {.kernel_initializer = constant_initializer(3), .bias_initializer = ones_initializer()});
  CHECK(y.node().name() == "dense/BiasAdd");
  dense(x, 2, {.activation = [](Output in) { return relu(in); }, .name = "hidden"});
  CHECK(dense(x, 2).node().name() == "dense_1/BiasAdd");
  CHECK(g.find("hidden/Relu"));
  CHECK(g.find("hidden/kernel/Initializer/random_uniform"));
  CHECK_THROWS_AS(dense(x, 2, {.name = "hidden"}), AlreadyExists);
  Session session(g);
  session.run(initialize_global_variables(g));
  CHECK(session.run(y) == Tensor::matrix<float>({{10}}));
}

TEST_CASE("all tables are filled by one operation, which does nothing where there are none") {
  Graph g;
  const Operation nothing = initialize_tables(g);
  CHECK(nothing.name() == "init_all_tables");
  CHECK(nothing.node().control_inputs().empty());
  const Operation fill = no_op(g, {.name = "fill"});
  g.add_to_collection(keys::kTableInitializers, fill);
  const Operation all = initialize_tables(g);
  CHECK(all.name() == "init_all_tables_1");
  CHECK(all.node().control_inputs() == std::vector<Node*>{&fill.node()});
  g.add_to_collection(keys::kTableInitializers, std::int64_t{1});
  CHECK_THROWS_WITH_AS(
      initialize_tables(g),
      "the collection 'table_initializer' holds something else than operations; a table's initializer is one",
      InvalidArgument);
}
