// The pieces of a training session: which are taken, which are made, and under what names.
#include "train/monitored/scaffold.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/error.h"
#include "ops/ops.h"
#include "summary/summary.h"

namespace runnel {
namespace {

std::vector<std::string> names_of(const std::vector<Node*>& nodes) {
  std::vector<std::string> out;
  for (const Node* node : nodes) out.push_back(node->name());
  return out;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  for (const std::string& n : names)
    if (n == name) return true;
  return false;
}

TEST_CASE("a scaffold makes every piece under TensorFlow's names and finalises the graph") {
  Graph g;
  variable(g, 1.0f, "w");
  Scaffold scaffold;
  scaffold.finalize(g);
  CHECK(g.finalized());
  CHECK(scaffold.init_op().name() == "group_deps");
  CHECK(scaffold.ready_op().name() == "concat:0");
  CHECK(scaffold.ready_for_local_init_op().name() == "concat_1:0");
  CHECK(scaffold.local_init_op().name() == "group_deps_1");
  CHECK_FALSE(scaffold.summary_op());
  REQUIRE(scaffold.saver() != nullptr);
  const std::vector<std::string> names = names_of(g.nodes());
  for (const char* name :
       {"init", "init_1", "init_2", "init_all_tables", "init_3",
        "report_uninitialized_variables/boolean_mask/GatherV2", "report_uninitialized_resources/Const",
        "report_uninitialized_resources_1/Const", "save/ShardedFilename", "save/restore_shard"}) {
    CAPTURE(name);
    CHECK(holds(names, name));
  }
}

TEST_CASE("pieces that a scaffold made are in their collections, and the next scaffold takes them") {
  Graph g;
  const Variable w = variable(g, 1.0f, "w");
  summary::scalar("w", w);
  Scaffold first;
  first.finalize(g);
  const std::size_t nodes = g.size();
  g.unfinalize();
  Scaffold second;
  second.finalize(g);
  CHECK(g.size() == nodes);
  CHECK(second.init_op() == first.init_op());
  CHECK(second.ready_op() == first.ready_op());
  CHECK(second.summary_op() == first.summary_op());
  CHECK(second.saver()->saver_def() == first.saver()->saver_def());
  for (const char* key : {keys::kInitOp, keys::kReadyOp, keys::kReadyForLocalInitOp, keys::kLocalInitOp,
                          keys::kSummaryOp, keys::kSavers}) {
    CAPTURE(key);
    CHECK(g.collection(key).size() == 1);
  }
}

TEST_CASE("pieces that are given are used and not added to collections") {
  Graph g;
  const Variable w = variable(g, 1.0f, "w");
  Saver saver(g);
  const Operation init = no_op(g, {.name = "mine"});
  const Output ready = report_uninitialized_variables(g);
  Scaffold scaffold({.init_op = init,
                     .ready_op = ready,
                     .ready_for_local_init_op = ready,
                     .local_init_op = init,
                     .summary_op = ready,
                     .saver = &saver});
  const std::size_t nodes = g.size();
  scaffold.finalize(g);
  CHECK(g.size() == nodes);
  CHECK(scaffold.init_op() == init);
  CHECK(scaffold.summary_op() == ready);
  CHECK(scaffold.saver() == &saver);
  CHECK(g.collection_keys() == std::vector<std::string>{keys::kTrainableVariables, keys::kGlobalVariables});
}

TEST_CASE("a collection with several items is refused, naming the argument") {
  Graph g;
  variable(g, 1.0f, "w");
  g.add_to_collection(keys::kReadyOp, report_uninitialized_variables(g));
  g.add_to_collection(keys::kReadyOp, report_uninitialized_variables(g));
  CHECK_THROWS_WITH_AS(Scaffold().finalize(g),
                       "Scaffold: the collection 'ready_op' holds 2 items: say which one to use by .ready_op",
                       FailedPrecondition);
}

TEST_CASE("an item of the wrong kind is refused") {
  Graph g;
  variable(g, 1.0f, "w");
  g.add_to_collection(keys::kSummaryOp, no_op(g));
  CHECK_THROWS_WITH_AS(
      Scaffold().finalize(g),
      "Scaffold: the item of the collection 'summary_op' is not a tensor: give the one to use "
      "as .summary_op",
      InvalidArgument);
}

TEST_CASE("a copy takes what is not given from the other scaffold, and calls init_fn with itself") {
  Graph g;
  const Operation one = no_op(g, {.name = "one"}), two = no_op(g, {.name = "two"});
  std::vector<Operation> seen;
  const Scaffold from({.init_op = one,
                       .init_fn = [&](Scaffold& s, Session&) { seen.push_back(s.init_op()); },
                       .local_init_op = one});
  const Scaffold copy({.init_op = two, .copy_from_scaffold = from});
  CHECK(copy.init_op() == two);
  CHECK(copy.local_init_op() == one);
  Session session(g);
  copy.init_fn()(session);
  from.init_fn()(session);
  CHECK(seen == std::vector<Operation>{two, one});
}

TEST_CASE(
    "a graph without variables gets a saver that saves nothing, and a summary of its own if it has one") {
  Graph g;
  summary::scalar("x", constant(g, Tensor::scalar(1.0f)));
  Scaffold scaffold;
  scaffold.finalize(g);
  CHECK(scaffold.summary_op().name() == "Merge/MergeSummary:0");
  CHECK(scaffold.saver() != nullptr);
}

TEST_CASE("a finalised scaffold initialises its model and then calls it ready") {
  Graph g;
  variable(g, 1.0f, "w");
  variable(g, 2.0f, "local", {.trainable = false, .collections = {keys::kLocalVariables}});
  Scaffold scaffold;
  scaffold.finalize(g);
  Session session(g);
  CHECK(session.run(scaffold.ready_op()).elements() == 2);
  CHECK(session.run(scaffold.ready_for_local_init_op()).elements() == 1);
  session.run(scaffold.init_op());
  CHECK(session.run(scaffold.ready_for_local_init_op()).elements() == 0);
  session.run(scaffold.local_init_op());
  CHECK(session.run(scaffold.ready_op()).elements() == 0);
}

}  // namespace
}  // namespace runnel
