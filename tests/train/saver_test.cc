// Saver over files in memory: what it adds to a graph, saves, restores, refuses and keeps.
#include "train/checkpoint/saver.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "graph/meta_graph.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "tests/train/saver_listing.h"
#include "train/train.h"

using namespace runnel;

namespace {

// A graph with some variables and a session over files in memory.
struct Model {
  explicit Model(FileSystem& files, bool resource = false) : session(g, {.file_system = &files}) {
    w = variable(g, Tensor::matrix<float>({{1, 2}, {3, 4}}), "w", {.use_resource = resource});
    b = variable(g, Tensor::vector<float>({0, 0}), "b", {.use_resource = resource});
  }
  void init() { session.run(initialize_global_variables(g)); }
  void set(const Variable& v, const Tensor& value) { session.run(assign(v, value)); }
  Graph g;
  Variable w, b;
  Session session;
};

// Prefixes that have all three files; other files are marked.
std::vector<std::string> checkpoints(MemoryFileSystem& files, const std::string& directory) {
  std::vector<std::string> found;
  for (const std::string& name : files.list(directory)) {
    if (name.ends_with(".index") && files.exists(directory + "/" + name.substr(0, name.size() - 6) + ".meta"))
      found.push_back(name.substr(0, name.size() - 6));
    else if (name.find(".index") == name.npos && name.find(".data-") == name.npos && !name.ends_with(".meta"))
      found.push_back("(" + name + ")");
  }
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a saver adds the nodes that TensorFlow's adds, for both kinds of variables") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph theirs, ours;
    import_meta_graph(theirs, golden(resource ? "linear_resource" : "linear_ref") + "/linear.ckpt-100.meta");
    variable(ours, Tensor::vector<float>({1}), "weight", {.use_resource = resource});
    variable(ours, Tensor::vector<float>({1}), "biase", {.use_resource = resource});
    const Saver saver(ours);
    CHECK(saver_nodes(ours) == saver_nodes(theirs));
    CHECK(Saver(ours).nodes().filename.name() == "save_1/Const:0");
  }
}

TEST_CASE("what is saved is restored, without initialising, for both kinds of variables") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    MemoryFileSystem files;
    {
      Model m(files, resource);
      Saver saver(m.g);
      m.init();
      m.set(m.b, Tensor::vector<float>({5, 6}));
      CHECK(saver.save(m.session, "d/m", {.global_step = 7}) == "d/m-7");
    }
    Model m(files, resource);
    Saver(m.g).restore(m.session, latest_checkpoint("d", {.file_system = &files}));
    CHECK(m.session.run(m.b) == Tensor::vector<float>({5, 6}));
    CHECK(m.session.run(m.w) == Tensor::matrix<float>({{1, 2}, {3, 4}}));
  }
}

TEST_CASE("a name map saves one variable under another name and the last restore wins") {
  MemoryFileSystem files;
  Model m(files);
  Saver all(m.g), one(m.g, {{"a_name", m.b}}, {.max_to_keep = 2});
  m.init();
  all.save(m.session, "all/m");
  m.set(m.b, Tensor::vector<float>({8, 9}));
  one.save(m.session, "one/m");
  CHECK(CheckpointReader("one/m", {.file_system = &files}).variables() ==
        std::vector<VariableInfo>{{"a_name", DType::kFloat, Shape{2}}});
  all.restore(m.session, "all/m");
  CHECK(m.session.run(m.b) == Tensor::vector<float>({0, 0}));
  one.restore(m.session, "one/m");
  CHECK(m.session.run(m.b) == Tensor::vector<float>({8, 9}));
}

TEST_CASE("the step may be a number, a variable or a tensor") {
  MemoryFileSystem files;
  Model m(files);
  const Variable step = variable(m.g, std::int64_t{12}, "step");
  Saver saver(m.g), padded(m.g, {.pad_step_number = true});
  m.init();
  CHECK(saver.save(m.session, "d/m", {.global_step = step}) == "d/m-12");
  CHECK(saver.save(m.session, "d/m", {.global_step = constant(m.g, Tensor::scalar(3))}) == "d/m-3");
  CHECK(padded.save(m.session, "d/m", {.global_step = 4}) == "d/m-00000004");
  CHECK(message_of<InvalidArgument>([&] { saver.save(m.session, "d/m", {.global_step = m.b}); }) ==
        "global_step 'b/read:0' is float[2]: it must be an integer scalar");
}

TEST_CASE("a restore that does not fit names every difference and assigns nothing") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("a", Tensor::vector<float>({7, 7}));
  writer.add("b", Tensor::vector<float>({1, 2, 3, 4}));
  writer.add("old", Tensor::scalar(1.0f));
  writer.add("step", Tensor::scalar(5));
  writer.finish();
  Graph g;
  const Variable a = variable(g, Tensor::vector<float>({1, 2}), "a");
  variable(g, Tensor::vector<float>({0, 0, 0}), "b");
  variable(g, 0.0f, "step");
  const Variable fresh = variable(g, 1.0, "new");
  Saver saver(g), without(g, {a, {"step", fresh}});
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  CHECK(message_of<NotFound>([&] { saver.restore(session, "m"); }) ==
        "checkpoint 'm' does not fit the graph; nothing was restored:\n"
        "  'b': stored float[4], wanted float[3]\n"
        "  'new': not stored, wanted double[]\n"
        "  'step': stored int32[], wanted float[]; .cast converts it\n"
        "  'old': stored float[], not wanted\n"
        "restore with {.partial = true} to leave what is missing as it is, or give .rename");
  CHECK(session.run(a) == Tensor::vector<float>({1, 2}));
  CHECK(message_of<InvalidArgument>([&] { without.restore(session, "m"); }) ==
        "checkpoint 'm' does not fit the graph; nothing was restored:\n"
        "  'step': stored int32[], wanted double[] (variable 'new'); .cast converts it\n"
        "  'b': stored float[4], not wanted\n"
        "  'old': stored float[], not wanted");
  CHECK(session.run(a) == Tensor::vector<float>({1, 2}));
}

TEST_CASE("with reshape the number of elements is what counts") {
  for (const bool resource : {false, true}) {
    MemoryFileSystem files;
    CheckpointWriter writer("m", {.file_system = &files});
    writer.add("v", Tensor::matrix<float>({{1, 2, 3}, {4, 5, 6}}));
    writer.finish();
    Graph g;
    const Variable v =
        variable(g, Tensor::zeros(DType::kFloat, Shape{3, 2}), "v", {.use_resource = resource});
    const Variable u = variable(g, Tensor::zeros(DType::kFloat, Shape{7}), "u", {.use_resource = resource});
    Session session(g, {.file_system = &files});
    Saver(g, {v}, {.reshape = true}).restore(session, "m");
    CHECK(session.run(v) == Tensor::matrix<float>({{1, 2}, {3, 4}, {5, 6}}));
    CHECK_THROWS_AS(Saver(g, {v}).restore(session, "m"), InvalidArgument);
    CHECK_THROWS_AS(Saver(g, {{"v", u}}, {.reshape = true}).restore(session, "m"), InvalidArgument);
  }
}

TEST_CASE("what is no prefix is refused with what to pass instead, and nothing is assigned") {
  MemoryFileSystem files;
  Model m(files);
  Saver saver(m.g);
  m.init();
  saver.save(m.session, "d/m", {.global_step = 7});
  m.set(m.b, Tensor::vector<float>({8, 9}));
  put_file(files, "text", "hello\n");
  for (const char* wrong : {"d/m-7.index", "d/m-7.meta", "d/m-7.data-00000-of-00001", "d", "d/m"}) {
    CAPTURE(wrong);
    try {
      saver.restore(m.session, wrong);
      FAIL("restored");
    } catch (const Error& error) {
      CHECK(error.message().find("m-7") != std::string::npos);
    }
  }
  CHECK_THROWS_AS(saver.restore(m.session, "text"), InvalidArgument);
  CHECK(m.session.run(m.b) == Tensor::vector<float>({8, 9}));
}

TEST_CASE("two variables of one name, one variable of two names and no variables are refused") {
  Graph g;
  CHECK(message_of<InvalidArgument>([&] { Saver{g}; }) ==
        "No variables to save: make variables before the Saver");
  const Variable a = variable(g, 1.0f, "a"), b = variable(g, 1.0f, "b");
  CHECK(message_of<InvalidArgument>([&] {
          Saver(g, {a, {"a", b}});
        }).starts_with("At least two variables have the same name: a: save one of them under another"));
  CHECK_THROWS_AS(Saver(g, {{"x", a}, {"y", a}}), InvalidArgument);
  CHECK_THROWS_AS(Saver(g, {.max_to_keep = -1}), InvalidArgument);
  CHECK_THROWS_AS(Saver(g, {.keep_checkpoint_every_n_hours = -1}), InvalidArgument);
  CHECK_THROWS_AS(Saver(g, {.keep_checkpoint_every_n_hours = NAN}), InvalidArgument);
}

TEST_CASE("wrong paths are refused before anything is written") {
  MemoryFileSystem files;
  Model m(files);
  Saver saver(m.g);
  m.init();
  CHECK_THROWS_AS(saver.save(m.session, ""), InvalidArgument);
  CHECK_THROWS_AS(saver.save(m.session, "d/"), InvalidArgument);
  CHECK_THROWS_AS(saver.save(m.session, "checkpoint"), InvalidArgument);
  for (const char* directory : {".", "..", "d/.", "d/.."})
    CHECK_THROWS_AS(saver.save(m.session, directory), InvalidArgument);
  Graph other;
  Session elsewhere(other, {.file_system = &files});
  CHECK_THROWS_AS(saver.save(elsewhere, "m"), InvalidArgument);
  CHECK(files.contents().empty());
}

TEST_CASE("a state file or a graph that would replace a file of the checkpoint is refused") {
  MemoryFileSystem files;
  Model m(files);
  Saver saver(m.g);
  m.init();
  for (const char* state :
       {"", ".", "..", "d/state", "m", "m.index", "m.meta", "n.data-00000-of-00001", "state.tempstate1"}) {
    CAPTURE(state);
    CHECK_THROWS_AS(saver.save(m.session, "m", {.latest_filename = state}), InvalidArgument);
    CHECK_THROWS_AS(saver.save_async(m.session, "m", {.latest_filename = state}), InvalidArgument);
  }
  for (const char* suffix : {"index", "data-00000-of-00001", "d/x", "/x", "graph.tempstate1"}) {
    CAPTURE(suffix);
    CHECK_THROWS_AS(saver.save(m.session, "m", {.meta_graph_suffix = suffix}), InvalidArgument);
  }
  CHECK_THROWS_AS(saver.save(m.session, "m", {.latest_filename = "m.g", .meta_graph_suffix = "g"}),
                  InvalidArgument);
  CHECK(files.contents().empty());
}

TEST_CASE("a directory where the state file goes stops a save, which leaves nothing") {
  MemoryFileSystem files;
  Model m(files);
  Saver saver(m.g);
  m.init();
  make_directories(files, "d/checkpoint");
  CHECK_THROWS_AS(saver.save(m.session, "d/m", {.global_step = 1}), FailedPrecondition);
  CHECK(files.list("d") == Names{"checkpoint"});
}

TEST_CASE("an uninitialised variable stops a save, which leaves nothing and changes nothing") {
  MemoryFileSystem files;
  Model m(files);
  Saver saver(m.g);
  CHECK_THROWS_AS(saver.save(m.session, "m"), FailedPrecondition);
  CHECK(files.contents().empty());
}

TEST_CASE("the newest few are kept, and all of them with 0 and none") {
  for (const std::optional<int> most : {std::optional(2), std::optional(0), std::optional<int>()}) {
    MemoryFileSystem files;
    Model m(files);
    Saver saver(m.g, {.max_to_keep = most});
    m.init();
    for (int step = 1; step <= 7; ++step) saver.save(m.session, "d/m", {.global_step = step});
    const auto state = get_checkpoint_state("d", {.file_system = &files});
    const bool all = most.value_or(0) == 0;
    CHECK(checkpoints(files, "d").size() == (all ? 8 : 3));
    CHECK(files.list("d").size() == (all ? 22 : 7));
    CHECK(state->all_model_checkpoint_paths.size() == (all ? 7 : 2));
    CHECK(state->all_model_checkpoint_paths.front() == (all ? "d/m-1" : "d/m-6"));
    CHECK(state->all_model_checkpoint_paths.back() == "d/m-7");
    CHECK(state->model_checkpoint_path == "d/m-7");
    CHECK(saver.last_checkpoints() == state->all_model_checkpoint_paths);
  }
}

TEST_CASE("retention goes on after a restart") {
  MemoryFileSystem files;
  const auto train = [&](const std::string& from, std::initializer_list<int> steps) {
    Model m(files);
    Saver saver(m.g, {.max_to_keep = 2});
    m.init();
    if (!from.empty()) saver.restore(m.session, from);
    for (const int step : steps) saver.save(m.session, "d/m", {.global_step = step});
    return checkpoints(files, "d");
  };
  CHECK(train("", {10, 20, 30}) == Names{"(checkpoint)", "m-20", "m-30"});
  CHECK(train("d/m-30", {40}) == Names{"(checkpoint)", "m-30", "m-40"});
  CHECK(train("d/m-40", {50}) == Names{"(checkpoint)", "m-40", "m-50"});
  CHECK(files.list("d").size() == 7);
}

TEST_CASE("a checkpoint restored from another directory is never deleted") {
  MemoryFileSystem files;
  Model m(files);
  Saver first(m.g), saver(m.g, {.max_to_keep = 1});
  m.init();
  first.save(m.session, "pretrained/m", {.global_step = 1});
  saver.restore(m.session, "pretrained/m-1");
  for (int step = 1; step <= 3; ++step) saver.save(m.session, "mine/m", {.global_step = step});
  CHECK(checkpoints(files, "pretrained") == Names{"(checkpoint)", "m-1"});
  CHECK(checkpoints(files, "mine") == Names{"(checkpoint)", "m-3"});
}

TEST_CASE("one checkpoint in so many hours is kept for ever") {
  MemoryFileSystem files;
  Model m(files);
  ManualClock clock;
  Saver saver(m.g, {.max_to_keep = 2, .keep_checkpoint_every_n_hours = 4, .clock = &clock});
  m.init();
  for (int hour = 1; hour <= 12; ++hour) {
    clock.advance(3600);
    saver.save(m.session, "d/m", {.global_step = hour});
  }
  CHECK(checkpoints(files, "d") == Names{"(checkpoint)", "m-11", "m-12", "m-5", "m-9"});
  CHECK(saver.last_checkpoints() == Names{"d/m-11", "d/m-12"});
}

TEST_CASE("names with pattern characters are literal") {
  for (const char* name :
       {"a[1]", "a[b", "a*b", "a?b", "a{1,2}", "a b", "\xc3\xa9\xe6\xbc\xa2", "a'b\"c", "a\nb", "-x"}) {
    CAPTURE(name);
    MemoryFileSystem files;
    Model m(files);
    Saver saver(m.g, {.max_to_keep = 2});
    m.init();
    make_directories(files, "a1");
    put_file(files, "a1/m-1.index", "not ours");
    const std::string path = cat(name, "/", name);
    for (int step = 1; step <= 4; ++step) {
      m.set(m.b, Tensor::vector<float>({static_cast<float>(step), 2}));
      saver.save(m.session, path, {.global_step = step});
    }
    m.init();
    saver.restore(m.session, latest_checkpoint(name, {.file_system = &files}));
    CHECK(m.session.run(m.b) == Tensor::vector<float>({4, 2}));
    CHECK(checkpoints(files, name).size() == 3);
    CHECK(files.exists("a1/m-1.index"));
  }
}

TEST_CASE("options leave out the graph and the state file, or name them otherwise") {
  MemoryFileSystem files;
  Model m(files);
  Saver saver(m.g);
  m.init();
  saver.save(m.session, "d/m", {.write_meta_graph = false, .write_state = false});
  CHECK(files.list("d") == Names{"m.data-00000-of-00001", "m.index"});
  CHECK(saver.last_checkpoints().empty());
  saver.save(m.session, "d/m", {.latest_filename = "newest", .meta_graph_suffix = "graph"});
  CHECK(files.list("d") == Names{"m.data-00000-of-00001", "m.graph", "m.index", "newest"});
}

TEST_CASE("saves and restores after its Graph object is gone") {
  MemoryFileSystem files;
  std::optional<Graph> g(std::in_place);
  const Variable v = variable(*g, 1.0f, "v");
  const Operation init = initialize_global_variables(*g);
  Saver saver(*g);
  Session session(*g, {.file_system = &files});
  g.reset();
  session.run(init);
  const std::string prefix = saver.save(session, "/run/model.ckpt");
  CHECK(files.exists(prefix + ".meta"));
  session.run(assign(v, 5.0f));
  saver.restore(session, prefix);
  CHECK(session.get<float>(v) == 1);
}
