// Who keeps a graph: sessions, prepared calls, scopes and shares go on when the Graph object is gone, and the
// nodes go with the last of them (worth most under ASan).
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <thread>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"

using namespace runnel;

TEST_CASE("a session runs, plans and adds nodes after its Graph object is gone") {
  std::optional<Graph> g(std::in_place);
  const Variable v = variable(*g, 1.0f, "v");
  const Output sum = assign_add(v, 2.0f);
  const Operation init = initialize_global_variables(*g);
  Session session(*g);
  g.reset();
  session.run(init);
  CHECK(session.run(sum).scalar<float>() == 3);
  CHECK(session.run(session.graph().output("v:0")).scalar<float>() == 3);
  const Output later = v.value() * constant(session.graph(), Tensor::scalar(2.0f));
  CHECK(session.run(later).scalar<float>() == 6);
  CHECK(session.snapshot({&v, 1})[0].scalar<float>() == 3);
  CHECK(session.graph().to_graph_def_text().find("AssignAdd") != std::string::npos);
}

TEST_CASE("a prepared call outlives graph and session, and then says that the session is closed") {
  std::optional<Graph> g(std::in_place);
  const Output x = placeholder<float>(*g, {kUnknown}, "x");
  std::optional<Session> session(std::in_place, *g);
  Prepared call = session->prepare({.feeds = {x}, .fetches = {x * 2.0f}});
  g.reset();
  CHECK(call({Tensor::vector<float>({1, 2})})[0] == Tensor::vector<float>({2, 4}));
  session.reset();
  CHECK_THROWS_AS(call({Tensor::vector<float>({1, 2})}), FailedPrecondition);
}

TEST_CASE("steps go on while the Graph object is destroyed on another thread") {
  std::optional<Graph> g(std::in_place);
  const Variable v = variable(*g, 0.0f, "v");
  const Operation bump(assign_add(v, 1.0f).node());
  Session session(*g);
  session.run(initialize_global_variables(*g));
  std::jthread steps([&] {
    for (int i = 0; i < 3000; ++i) session.run(bump);
  });
  g.reset();
  steps.join();
  CHECK(session.get<float>(v) == 3000);
}

TEST_CASE("handles stay good while a share of their graph lives") {
  std::shared_ptr<Graph> share;
  Output x;
  {
    Graph g;
    x = placeholder<float>(g, {2}, "x");
    share = g.shared();
  }
  CHECK(x.name() == "x:0");
  CHECK((x * 2.0f).shape() == Shape{2});
  CHECK(share->size() == 3);
}

TEST_CASE("the nodes of a graph go with the last that shares it") {
  std::weak_ptr<Graph> watch;
  {
    std::optional<Graph> g(std::in_place);
    watch = g->shared();
    Session session(*g);
    g.reset();
    CHECK(!watch.expired());
  }
  CHECK(watch.expired());
}

TEST_CASE("the graph of a node or a session equals the one made, and no other") {
  Graph g, other;
  const Output x = placeholder<float>(g, {}, "x");
  const Session session(g);
  CHECK((x.graph() == g));
  CHECK((session.graph() == g));
  CHECK((*g.shared() == g));
  CHECK((x.graph() != other));
}

TEST_CASE("a scope may be open over a reset of the default graph") {
  reset_default_graph();
  {
    const NameScope scope(default_graph(), "layer");
    reset_default_graph();
    CHECK(constant(default_graph(), Tensor::scalar(1.0f), {.name = "c"}).name() == "c:0");
  }
  CHECK(default_graph().current_scope() == "");
}
