// Restoring what fits, under other names, with casts, and the table of what does not.
#include <doctest/doctest.h>

#include <limits>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/save_restore_ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Names = std::vector<std::string>;

// A file with w, b and old; a graph with w, b, new and scope/x.
struct Grown {
  Grown() : session(g, {.file_system = &files}) {
    CheckpointWriter writer("m", {.file_system = &files});
    writer.add("b", Tensor::vector<float>({5, 6}));
    writer.add("old", Tensor::scalar(9.0f));
    writer.add("w", Tensor::matrix<float>({{1, 2}, {3, 4}}));
    writer.finish();
    w = variable(g, Tensor::zeros(DType::kFloat, Shape{2, 2}), "w");
    b = variable(g, Tensor::vector<float>({0, 0}), "b");
    fresh = variable(g, 7.0f, "new");
    x = variable(g, 0.0f, "scope/x");
    saver.emplace(g);
    session.run(initialize_global_variables(g));
  }
  MemoryFileSystem files;
  Graph g;
  Variable w, b, fresh, x;
  std::optional<Saver> saver;
  Session session;
};

// A file "m" with one tensor, restored into a variable of the same name.
Tensor restored(const Tensor& stored, DType wanted, RestoreOptions options,
                const Shape& shape = Shape::unknown()) {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("v", stored);
  writer.finish();
  Graph g;
  const Variable v = variable(g, Tensor::zeros(wanted, shape.is_known() ? shape : stored.shape()), "v");
  Session session(g, {.file_system = &files});
  Saver(g).restore(session, "m", std::move(options));
  return session.run(v);
}

std::string refusal(const Tensor& stored, DType wanted, bool cast) {
  return message_of<InvalidArgument>([&] { restored(stored, wanted, {.cast = cast}); });
}

}  // namespace

TEST_CASE("a partial restore with a rename reports what it restored, what was missing and what is unused") {
  Grown m;
  std::string logged;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { logged = line; });
  const RestoreReport report =
      m.saver->restore(m.session, "m", {.partial = true, .rename = {{"old", "scope/x"}}});
  CHECK(report.restored == Names{"b", "scope/x", "w"});
  CHECK(report.missing == Names{"new"});
  CHECK(report.unused == Names{});
  CHECK(m.session.run(m.w) == Tensor::matrix<float>({{1, 2}, {3, 4}}));
  CHECK(m.session.run(m.b) == Tensor::vector<float>({5, 6}));
  CHECK(m.session.get<float>(m.fresh) == 7);
  CHECK(m.session.get<float>(m.x) == 9);
  CHECK(logged == "checkpoint 'm': restored 3 variables; not in the file, left as they were: 'new'");
}

TEST_CASE("a strict restore names what is missing, lists what is unused and assigns nothing") {
  Grown m;
  CHECK(message_of<NotFound>([&] { m.saver->restore(m.session, "m"); }) ==
        "checkpoint 'm' does not fit the graph; nothing was restored:\n"
        "  'new': not stored, wanted float[]\n"
        "  'scope/x': not stored, wanted float[]\n"
        "  'old': stored float[], not wanted\n"
        "restore with {.partial = true} to leave what is missing as it is, or give .rename");
  CHECK(m.session.run(m.b) == Tensor::vector<float>({0, 0}));
}

TEST_CASE("a partial restore without a rename leaves variables that have no value without one") {
  Grown m;
  Session session(m.g, {.file_system = &m.files});
  const RestoreReport report = m.saver->restore(session, "m", {.partial = true});
  CHECK(report.missing == Names{"new", "scope/x"});
  CHECK(report.unused == Names{"old"});
  CHECK(session.run(m.b) == Tensor::vector<float>({5, 6}));
  CHECK_THROWS_AS(session.run(m.fresh), FailedPrecondition);
}

TEST_CASE("near names are suggested for variables that the file lacks") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  for (const char* name : {"Weights", "layer_1/kernel", "other/deep/bias"})
    writer.add(name, Tensor::scalar(1));
  writer.finish();
  Graph g;
  for (const char* name : {"weights", "layer_2/kernel", "deep/bias", "nothing_like_it"}) variable(g, 0, name);
  Session session(g, {.file_system = &files});
  const std::string message = message_of<NotFound>([&] { Saver(g).restore(session, "m"); });
  CHECK(message.find("'weights': not stored, wanted int32[]; perhaps it is 'Weights'\n") != message.npos);
  CHECK(message.find("'layer_2/kernel': not stored, wanted int32[]; perhaps it is 'layer_1/kernel'\n") !=
        message.npos);
  CHECK(message.find("'deep/bias': not stored, wanted int32[]; perhaps it is 'other/deep/bias'\n") !=
        message.npos);
  CHECK(message.find("'nothing_like_it': not stored, wanted int32[]\n") != message.npos);
}

TEST_CASE("scopes are renamed, the longest first, whole names before them, and the root too") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  for (const char* name : {"a/deep/v", "a/own", "a/v", "top"}) writer.add(name, Tensor::scalar(name));
  writer.finish();
  Graph g;
  std::vector<Variable> all;
  for (const char* name : {"b/v", "c/v", "mine", "top"}) all.push_back(variable(g, Tensor::scalar(""), name));
  Session session(g, {.file_system = &files});
  const RestoreReport report =
      Saver(g).restore(session, "m", {.rename = {{"a/", "b/"}, {"a/deep/", "c/"}, {"a/own", "mine"}}});
  CHECK(report.restored.size() == 4);
  CHECK(session.run(all[0]) == Tensor::scalar("a/v"));
  CHECK(session.run(all[1]) == Tensor::scalar("a/deep/v"));
  CHECK(session.run(all[2]) == Tensor::scalar("a/own"));
  CHECK(session.run(all[3]) == Tensor::scalar("top"));
  Saver(g, {{"new/deep/v", all[0]}}).restore(session, "m", {.rename = {{"a/", "new/"}}});
  CHECK(session.run(all[0]) == Tensor::scalar("a/deep/v"));
  Saver(g, {{"new/top", all[0]}}).restore(session, "m", {.rename = {{"/", "new/"}}});
  CHECK(session.run(all[0]) == Tensor::scalar("top"));
  Saver(g, {{"own", all[0]}}).restore(session, "m", {.rename = {{"a/", "/"}}});
  CHECK(session.run(all[0]) == Tensor::scalar("a/own"));
}

TEST_CASE("a renamed value goes before one of that name, and one value may go to two variables") {
  Grown m;
  const RestoreReport report = m.saver->restore(
      m.session, "m", {.partial = true, .rename = {{"old", "new"}, {"old", "scope/x"}, {"w", "w"}}});
  CHECK(report.missing == Names{});
  CHECK(m.session.get<float>(m.fresh) == 9);
  CHECK(m.session.get<float>(m.x) == 9);
  Saver one(m.g, {{"b", m.x}});
  CHECK(one.restore(m.session, "m", {.rename = {{"old", "b"}}}).unused == Names{"b", "w"});
}

TEST_CASE("renames that lead nowhere, collide or mix names and scopes are refused, and nothing is assigned") {
  Grown m;
  const auto why = [&](std::vector<std::pair<std::string, std::string>> rename) {
    return message_of<InvalidArgument>(
        [&] { m.saver->restore(m.session, "m", {.partial = true, .rename = std::move(rename)}); });
  };
  CHECK(why({{"olt", "new"}}) == "cannot rename 'olt': checkpoint 'm' has no such name; did you mean 'old'?");
  CHECK(why({{"lost/", "scope/"}}) == "cannot rename 'lost/': checkpoint 'm' has no name in that scope");
  CHECK(why({{"old", "fresh"}}) == "cannot rename 'old' to 'fresh': no variable to restore is called so");
  CHECK(why({{"/", "fresh/"}}) ==
        "cannot rename '/' to 'fresh/': no variable to restore has a name of that scope that fits");
  CHECK(why({{"old", "w"}, {"b", "w"}}) ==
        "'b' and 'old' are both renamed to 'w'; rename one of them otherwise");
  for (const char* to : {"scope/", ""}) CHECK(why({{"old", to}}).starts_with("cannot rename 'old' to '"));
  CHECK_THROWS_AS(m.saver->restore(m.session, "m", {.skip_mismatched = true}), InvalidArgument);
  CHECK(m.session.run(m.b) == Tensor::vector<float>({0, 0}));
}

TEST_CASE("what is stored otherwise is an error of a partial restore too, unless it is to be skipped") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("a", Tensor::vector<float>({1, 2}));
  writer.add("b", Tensor::vector<float>({1, 2, 3, 4}));
  writer.add("s", Tensor::scalar(5));
  writer.finish();
  Graph g;
  const Variable a = variable(g, Tensor::vector<float>({0, 0}), "a");
  const Variable b = variable(g, Tensor::vector<float>({0, 0, 0}), "b"), s = variable(g, 0.5f, "s");
  Saver saver(g);
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  CHECK(message_of<InvalidArgument>([&] { saver.restore(session, "m", {.partial = true}); }) ==
        "checkpoint 'm' does not fit the graph; nothing was restored:\n"
        "  'b': stored float[4], wanted float[3]\n"
        "  's': stored int32[], wanted float[]; .cast converts it");
  CHECK(session.run(a) == Tensor::vector<float>({0, 0}));
  const RestoreReport report = saver.restore(session, "m", {.partial = true, .skip_mismatched = true});
  CHECK(report.restored == Names{"a"});
  CHECK(report.mismatched == Names{"b", "s"});
  CHECK(session.run(a) == Tensor::vector<float>({1, 2}));
  CHECK(session.get<float>(s) == 0.5f);
  CHECK(session.run(b) == Tensor::vector<float>({0, 0, 0}));
}

TEST_CASE("a model trained by another optimizer is taken over, and the report names the slots that are new") {
  MemoryFileSystem files;
  const auto build = [](Graph& g) {
    const Variable w = variable(g, Tensor::vector<float>({0.5f}), "w");
    return reduce_mean(square(w * 2.0f));
  };
  {
    Graph g;
    const Operation train = Momentum(0.1f, 0.9f).minimize(build(g));
    Session session(g, {.file_system = &files});
    session.run(initialize_global_variables(g));
    session.run(train);
    Saver(g).save(session, "m");
  }
  Graph g;
  const Operation train = Adam(0.1f).minimize(build(g));
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  const RestoreReport report = Saver(g).restore(session, "m", {.partial = true});
  CHECK(report.restored == Names{"w"});
  CHECK(report.missing == Names{"beta1_power", "beta2_power", "w/Adam", "w/Adam_1"});
  CHECK(report.unused == Names{"w/Momentum"});
  CHECK(session.run(g.output("w/Adam:0")) == Tensor::vector<float>({0}));
  session.run(train);
}

TEST_CASE("an int32 is not restored into a float or an int64, and its bytes never are") {
  const Tensor five = Tensor::scalar(5);
  CHECK(refusal(five, DType::kFloat, false) ==
        "checkpoint 'm' does not fit the graph; nothing was restored:\n"
        "  'v': stored int32[], wanted float[]; .cast converts it");
  CHECK(refusal(five, DType::kInt64, false).find("'v': stored int32[], wanted int64[]") != std::string::npos);
  CHECK(restored(five, DType::kInt64, {.cast = true}) == Tensor::scalar(std::int64_t{5}));
  CHECK(restored(five, DType::kFloat, {.cast = true}) == Tensor::scalar(5.0f));
}

TEST_CASE("casts keep integers, round floats to the nearest, and refuse what would be another number") {
  const auto cast = [](const auto value, DType to) {
    return restored(Tensor::scalar(value), to, {.cast = true});
  };
  CHECK(cast(0.1, DType::kFloat) == Tensor::scalar(0.1f));
  CHECK(cast(3.0f, DType::kInt8) == Tensor::scalar(std::int8_t{3}));
  CHECK(cast(std::uint64_t{1} << 63, DType::kDouble) == Tensor::scalar(0x1p63));
  CHECK(cast(1.0f, DType::kHalf) == Tensor::scalar(Half{0x3c00}));
  CHECK(cast(Bfloat16{0x3fc0}, DType::kDouble) == Tensor::scalar(1.5));
  CHECK(cast(std::complex<float>(1, 2), DType::kComplex128) == Tensor::scalar(std::complex<double>(1, 2)));
  const auto why = [](const auto value, DType to) { return refusal(Tensor::scalar(value), to, true); };
  CHECK(why(16777217, DType::kFloat) ==
        "'v' is stored as int32[] and cannot be cast: float cannot hold its element 0, 16777217");
  for (const double value : {2.5, 1e30, -1e30, -1.0, 256.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK(why(value, DType::kUint8).find("cannot hold its element 0") != std::string::npos);
  CHECK(why(std::numeric_limits<std::int64_t>::max(), DType::kDouble).find("cannot hold") !=
        std::string::npos);
  CHECK(why(1e39, DType::kFloat).find("cannot hold its element 0") != std::string::npos);
  CHECK(why(70000, DType::kHalf).find("cannot hold its element 0") != std::string::npos);
  CHECK(why(true, DType::kInt32).find("'v': stored bool[], wanted int32[]") != std::string::npos);
  CHECK(why(std::string("5"), DType::kInt32).find(".cast") == std::string::npos);
}

TEST_CASE("every sixteen-bit float comes back from a wider one, and halfway ones go to the even") {
  for (const DType type : {DType::kHalf, DType::kBfloat16}) {
    CAPTURE(type);
    std::vector<std::uint16_t> bits;
    const int infinity = type == DType::kHalf ? 0x7c00 : 0x7f80;
    for (int i = 0; i <= infinity; ++i)
      for (const int sign : {0, 0x8000}) bits.push_back(static_cast<std::uint16_t>(i | sign));
    const Tensor plain = Tensor::vector(bits);
    const Tensor narrow(type, plain.shape(), plain.buffer());
    CHECK(restored(restored(narrow, DType::kFloat, {.cast = true}), type, {.cast = true}) == narrow);
  }
  CHECK(restored(Tensor::vector<double>({2049, 2051, 0x1p-25, 0x1.8p-25}), DType::kHalf, {.cast = true}) ==
        Tensor::vector<Half>({{0x6800}, {0x6802}, {0}, {1}}));
  CHECK(restored(Tensor::vector<float>({0x1.01p0f, 0x1.03p0f}), DType::kBfloat16, {.cast = true}) ==
        Tensor::vector<Bfloat16>({{0x3f80}, {0x3f82}}));
}

TEST_CASE("a restore may reshape, and with a cast at once") {
  const Tensor stored = Tensor::matrix<int>({{1, 2, 3}, {4, 5, 6}});
  CHECK(restored(stored, DType::kInt64, {.cast = true, .reshape = true}, Shape{3, 2}) ==
        Tensor::matrix<std::int64_t>({{1, 2}, {3, 4}, {5, 6}}));
  CHECK(message_of<InvalidArgument>([&] {
          restored(stored, DType::kInt32, {}, Shape{6});
        }).ends_with("'v': stored int32[2,3], wanted int32[6]; .reshape fits it"));
  CHECK_THROWS_AS(restored(stored, DType::kInt32, {.reshape = true}, Shape{7}), InvalidArgument);
}

TEST_CASE("a number that a cast would change and damage leave every variable as it was") {
  for (const bool damaged : {false, true}) {
    CAPTURE(damaged);
    MemoryFileSystem files;
    CheckpointWriter writer("m", {.file_system = &files});
    writer.add("a", Tensor::scalar(1.0));
    writer.add("z", Tensor::scalar(damaged ? 1.0 : 0.5));
    writer.finish();
    if (damaged) {
      std::string bytes = read_file(files, data_path("m", 0, 1));
      bytes.back() ^= 1;
      put_file(files, data_path("m", 0, 1), bytes);
    }
    Graph g;
    const Variable a = variable(g, 7, "a"), z = variable(g, 8, "z");
    Saver saver(g);
    Session session(g, {.file_system = &files});
    session.run(initialize_global_variables(g));
    CHECK_THROWS_AS(saver.restore(session, "m", {.cast = true}), Error);
    CHECK(session.get<int>(a) == 7);
    CHECK(session.get<int>(z) == 8);
  }
}

TEST_CASE("where a SaverDef's graph reads by several nodes, damage behind the first leaves all as it was") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  for (const char* name : {"a", "z"}) writer.add(name, Tensor::scalar(3));
  writer.finish();
  Graph g;
  const Variable all[] = {variable(g, 7, "a"), variable(g, 8, "z")};
  const Output prefix = placeholder_with_default(constant(g, Tensor::scalar("")), Shape{}, {.name = "Const"});
  std::vector<Operation> assigns;
  for (const Variable& v : all) {
    const ControlDependencies after(g, assigns);
    const Output value = restore_v2(prefix, {{v.name()}}, {DType::kInt32})[0];
    assigns.push_back(Operation(g.add("Assign", {v.parts().variable, value})));
  }
  group(g, assigns, {.name = "restore_all"});
  const SaverDef def{.filename_tensor = "Const:0", .save_tensor = "Const:0", .restore_op = "restore_all"};
  Saver saver = Saver::from_saver_def(g, def.bytes());
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  const std::string bytes = read_file(files, data_path("m", 0, 1));
  put_file(files, data_path("m", 0, 1), bytes.substr(0, 4) + "damage");
  CHECK_THROWS_AS(saver.restore(session, "m"), DataLoss);
  CHECK(session.get<int>(all[0]) == 7);
  put_file(files, data_path("m", 0, 1), bytes);
  CHECK(saver.restore(session, "m").restored == Names{"a", "z"});
  CHECK(session.get<int>(all[0]) + session.get<int>(all[1]) == 6);
}

TEST_CASE(
    "the parts of a partitioned variable are restored under another name, converted, and reported once") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("old", Tensor::vector<int>({1, 2, 3}));
  writer.finish();
  Graph g;
  std::vector<Variable> parts;
  std::vector<SaverItem> items;
  for (int i = 0; i < 2; ++i) {
    const Variable plain = variable(g, Tensor::zeros(DType::kFloat, Shape{2 - i}), cat("p/part_", i));
    VariableParts with = plain.parts();
    with.slice = std::make_shared<SaveSlice>(SaveSlice{"p", {3}, {2 * i}, {2 - i}});
    parts.emplace_back(std::make_shared<VariableParts>(with));
    items.emplace_back(parts.back());
  }
  Saver saver(g, items);
  Session session(g, {.file_system = &files});
  CHECK(saver.restore(session, "m", {.rename = {{"old", "p"}}, .cast = true}).restored == Names{"p"});
  CHECK(session.run(parts[0]) == Tensor::vector<float>({1, 2}));
  CHECK(session.run(parts[1]) == Tensor::vector<float>({3}));
}

TEST_CASE("a saver that TensorFlow made is checked as ours is, and restores in part as ours does") {
  for (const char* name : {"linear_ref", "linear_resource"}) {
    CAPTURE(name);
    MemoryFileSystem files;
    CheckpointWriter writer("m", {.file_system = &files});
    writer.add("old/weight", Tensor::vector<double>({0.5}));
    writer.finish();
    Graph g;
    Saver saver = import_meta_graph(g, golden(name) + "/linear.ckpt-100.meta");
    Session session(g, {.file_system = &files});
    CHECK(message_of<NotFound>([&] { saver.restore(session, "m"); }) ==
          "checkpoint 'm' does not fit the graph; nothing was restored:\n"
          "  'biase': not stored, wanted float[1]\n"
          "  'weight': not stored, wanted float[1]; perhaps it is 'old/weight'\n"
          "  'old/weight': stored double[1], not wanted\n"
          "restore with {.partial = true} to leave what is missing as it is, or give .rename");
    const RestoreReport report =
        saver.restore(session, "m", {.partial = true, .rename = {{"old/", "/"}}, .cast = true});
    CHECK(report.restored == Names{"weight"});
    CHECK(session.get<float>(g.variables()[0]) == 0.5f);
  }
}
