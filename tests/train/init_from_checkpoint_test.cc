// Initial values from a checkpoint: which variable takes what, the nodes, and what is refused.
#include "train/checkpoint/init_from_checkpoint.h"

#include <doctest/doctest.h>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "graph/meta_graph.h"
#include "ops/ops.h"
#include "tests/train/checkpoint_golden.h"
#include "train/train.h"

using namespace runnel;

namespace {

// A checkpoint "d/m" with old/w, old/b, top and p; a graph with new/w, new/b and top.
struct Models {
  explicit Models(bool resource = false) : session(g, {.file_system = &files}) {
    CheckpointWriter writer("d/m", {.file_system = &files});
    writer.add("old/b", Tensor::vector<float>({5, 6}));
    writer.add("old/w", Tensor::matrix<float>({{1, 2}, {3, 4}}));
    writer.add("p", Tensor::vector<int>({1, 2, 3}));
    writer.add("top", Tensor::scalar(9));
    writer.finish();
    update_checkpoint_state("d", "d/m", {.file_system = &files});
    {
      const VariableScope scope(g, "new");
      w = get_variable(g, "w", {2, 2}, {.use_resource = resource});
      b = get_variable(g, "b", {2}, {.use_resource = resource});
    }
    top = variable(g, 0, "top", {.use_resource = resource});
  }
  void init_from(const std::string& path, const AssignmentMap& map) {
    init_from_checkpoint(g, path, map, {.file_system = &files});
  }
  void run_init() { session.run(initialize_global_variables(g)); }
  std::string why(const AssignmentMap& map) {
    const std::size_t size = g.size();
    std::string text;
    try {
      init_from("d/m", map);
    } catch (const Error& error) {
      text = cat(name_of(error.code()), ": ", error.message());
    }
    CHECK(g.size() == size);
    return text;
  }
  MemoryFileSystem files;
  Graph g;
  Variable w, b, top;
  Session session;
};

}  // namespace

TEST_CASE(
    "a scope takes the tensors of another, and the rest starts as it did, for both kinds of variables") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Models m(resource);
    m.init_from("d", {{"old/", "new/"}});
    CHECK_THROWS_AS(m.session.run(m.w), FailedPrecondition);
    m.run_init();
    CHECK(m.session.run(m.w) == Tensor::matrix<float>({{1, 2}, {3, 4}}));
    CHECK(m.session.run(m.b) == Tensor::vector<float>({5, 6}));
    CHECK(m.session.get<int>(m.top) == 0);
  }
}

TEST_CASE("names and variables take the tensors they are given, and one tensor may go to several") {
  Models m;
  const Variable copy = variable(m.g, 0, "copy");
  m.init_from("d/m", {{"top", "top"}, {"old/b", m.b}, {"top", copy}});
  m.session.run(initialize_variables(m.g, {m.b, m.top, copy}));
  CHECK(m.session.run(m.b) == Tensor::vector<float>({5, 6}));
  CHECK(m.session.get<int>(m.top) == 9);
  CHECK(m.session.get<int>(copy) == 9);
  CHECK_THROWS_AS(m.session.run(m.w), FailedPrecondition);
}

TEST_CASE("the root is a scope on either side") {
  Models m;
  Graph g;
  const Variable w = variable(g, Tensor::zeros(DType::kFloat, Shape{2, 2}), "w");
  const Variable deep = variable(g, 0, "scope/top");
  init_from_checkpoint(g, "d/m", {{"/", "scope/"}}, {.file_system = &m.files});
  init_from_checkpoint(g, "d/m", {{"old/w", w}}, {.file_system = &m.files});
  Session session(g, {.file_system = &m.files});
  session.run(initialize_global_variables(g));
  CHECK(session.get<int>(deep) == 9);
  CHECK(session.run(w) == Tensor::matrix<float>({{1, 2}, {3, 4}}));
  Graph root;
  const Variable b = variable(root, Tensor::vector<float>({0, 0}), "b");
  init_from_checkpoint(root, "d/m", {{"old/", "/"}}, {.file_system = &m.files});
  CHECK(b.parts().initial_value.name() == "checkpoint_initializer:0");
}

TEST_CASE("the parts of a partitioned variable take parts of the tensor, by name and by variable") {
  for (const bool by_name : {false, true}) {
    CAPTURE(by_name);
    Models m;
    Collection variables;
    std::vector<Variable> parts;
    for (int i = 0; i < 2; ++i) {
      VariableParts with =
          variable(m.g, Tensor::zeros(DType::kInt32, Shape{2 - i}), cat("q/part_", i)).parts();
      with.slice = std::make_shared<SaveSlice>(SaveSlice{"q", {3}, {2 * i}, {2 - i}});
      parts.emplace_back(std::make_shared<VariableParts>(with));
      variables.emplace_back(parts.back());
    }
    m.g.set_collection(keys::kGlobalVariables, variables);
    m.init_from("d/m", {{"p", by_name ? AssignmentTarget("q") : AssignmentTarget(parts)}});
    m.run_init();
    CHECK(m.session.run(parts[0]) == Tensor::vector<int>({1, 2}));
    CHECK(m.session.run(parts[1]) == Tensor::vector<int>({3}));
    CHECK(m.why({{"p", std::vector<Variable>{parts[0], m.top}}}) ==
          "InvalidArgument: 'top' and 'q/part_0' are no parts of one variable; give them a tensor each");
  }
}

TEST_CASE("a variable made later whose initial value depends on one from a checkpoint follows it") {
  Models m;
  m.init_from("d/m", {{"top", "top"}});
  const Variable twice = variable(m.top.value() * 2, "twice");
  m.run_init();
  CHECK(m.session.get<int>(twice) == 18);
}

TEST_CASE("every tensor that does not fit is named, and nothing in the graph changes") {
  Models m;
  CHECK(m.why({{"old/w", "new/b"}, {"old/q", "new/w"}, {"old/b", "top"}}) ==
        "NotFound: checkpoint 'd/m' does not fit; no initializer was replaced:\n"
        "  'old/b': stored float[2], wanted int32[] (variable 'top')\n"
        "  'old/q': not stored, wanted float[2,2] (variable 'new/w'); perhaps 'old/b'; perhaps 'old/w'\n"
        "  'old/w': stored float[2,2], wanted float[2] (variable 'new/b')");
  CHECK(m.why({{"old/b", m.w}}).starts_with("InvalidArgument: checkpoint 'd/m' does not fit"));
  CHECK(m.why({{"lost/", "new/"}}).starts_with("NotFound: checkpoint 'd/m' does not fit"));
  CHECK(m.w.parts().initializer.name() == "new/w/Assign");
}

TEST_CASE("names that the graph lacks and scopes mapped to names are refused") {
  Models m;
  CHECK(m.why({{"old/w", "new/ww"}}) ==
        "InvalidArgument: cannot assign 'old/w' to 'new/ww': the graph has no such variable; did you mean "
        "'new/w'?");
  CHECK(m.why({{"old/", "lost/"}}) ==
        "InvalidArgument: cannot assign 'old/' to 'lost/': the graph has no variable in that scope");
  const std::string advice = ": give a tensor and a variable, or two scopes such as 'old/' and 'new/'";
  CHECK(m.why({{"old/", "new"}}) == "InvalidArgument: cannot assign 'old/' to 'new'" + advice);
  CHECK(m.why({{"old/w", "new/"}}) == "InvalidArgument: cannot assign 'old/w' to 'new/'" + advice);
  CHECK(m.why({{"old/", "new/w"}}) == "InvalidArgument: cannot assign 'old/' to 'new/w'" + advice);
  CHECK_THROWS_AS(m.init_from("none", {{"old/", "new/"}}), NotFound);
  CHECK_THROWS_AS(m.init_from("d/m.index", {{"old/", "new/"}}), InvalidArgument);
}

TEST_CASE("a graph that starts from a checkpoint goes through its meta graph") {
  Models m;
  m.init_from("d/m", {{"old/", "new/"}, {"top", "top"}});
  const std::string meta = export_meta_graph_def(m.g);
  Graph g;
  import_meta_graph_def(g, meta);
  Session session(g, {.file_system = &m.files});
  session.run(initialize_global_variables(g));
  CHECK(session.run(g.output("new/b:0")) == Tensor::vector<float>({5, 6}));
  CHECK(session.run(g.output("top:0")) == Tensor::scalar(9));
}
