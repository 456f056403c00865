// The step in a checkpoint's name and the values in the checkpoint are of one moment.
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "graph/graph.h"
#include "graph/io/forwarding_file_system.h"
#include "graph/io/memory_file_system.h"
#include "ops/ops.h"
#include "train/checkpoint/save_restore_ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

// Something happens when a directory is listed next.
class Between final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  std::function<void()> happens;

  std::vector<std::string> list(const std::string& directory) override {
    if (const auto now = std::exchange(happens, nullptr)) now();
    return files_.list(directory);
  }
};

// Two counters that go up together, on two devices.
struct Counters {
  Counters(FileSystem& files, bool resource, bool sharded) : session(g, {.file_system = &files}) {
    step = variable(g, std::int64_t{0}, "step", {.use_resource = resource});
    const DeviceScope device(g, "/cpu:1");
    twin = variable(g, std::int64_t{0}, "twin", {.use_resource = resource});
    train = group({assign_add(step, 1).node(), assign_add(twin, 1).node()});
    saver.emplace(g, SaverOptions{.sharded = sharded});
    session.run(initialize_global_variables(g));
  }
  // True if what is saved is what the name says.
  bool save(FileSystem& files) {
    const std::string prefix = saver->save(session, "d/m", {.global_step = step, .write_meta_graph = false});
    const CheckpointReader reader(prefix, {.file_system = &files});
    const auto says = [&](const char* name) {
      return prefix == cat("d/m-", reader.read(name).scalar<std::int64_t>());
    };
    return says("step") && says("twin");
  }
  Graph g;
  Variable step, twin;
  Operation train;
  Session session;
  std::optional<Saver> saver;
};

}  // namespace

TEST_CASE("a step between the reading of the step and the saving changes neither name nor content") {
  for (const bool resource : {false, true})
    for (const bool sharded : {false, true}) {
      CAPTURE(resource);
      CAPTURE(sharded);
      MemoryFileSystem memory;
      Between files(memory);
      files.make_directory("d");
      Counters counters(files, resource, sharded);
      files.happens = [&] { counters.session.run(counters.train); };
      CHECK(counters.save(files));
      CHECK(counters.session.get<std::int64_t>(counters.step) == 1);
    }
}

TEST_CASE("a thread that trains meanwhile never makes the name and the content of a checkpoint differ") {
  for (const bool sharded : {false, true}) {
    MemoryFileSystem files;
    Counters counters(files, sharded, sharded);
    const std::jthread trainer([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) counters.session.run(counters.train);
    });
    for (int i = 0; i < 40; ++i) CHECK(counters.save(files));
  }
}

TEST_CASE("a save that waits for other nodes is left to its own run") {
  MemoryFileSystem files;
  Graph g;
  const Variable v = variable(g, 1, "v");
  const Output prefix =
      placeholder_with_default(constant(g, Tensor::scalar("m")), Shape{}, {.name = "prefix"});
  Operation save;
  {
    const ControlDependencies after(g, {assign_add(v, 1).node()});
    save = save_v2(prefix, {{"v"}}, {v.parts().variable});
  }
  const Output saved = with_dependencies({&save, 1}, prefix, {.name = "saved"});
  CHECK(saved_tensors(saved).empty());
  Saver plain(g);
  SaverDef def{
      .filename_tensor = "prefix:0", .save_tensor = saved.name(), .restore_op = plain.nodes().restore.name()};
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  CHECK(Saver::from_saver_def(g, def.bytes()).save(session, "m", {.global_step = v}) == "m-1");
  CHECK(CheckpointReader("m-1", {.file_system = &files}).read("v").scalar<int>() == 2);
}

TEST_CASE("with a step that is a tensor every kind of variable is saved, and one without a value is named") {
  MemoryFileSystem files;
  Graph g;
  const Variable step = variable(g, 3, "step");
  const Tensor texts = Tensor::vector<std::string>({"a", "", std::string(300, 'x')});
  variable(g, texts, "texts");
  variable(g, Tensor(DType::kFloat, Shape{0, 3}), "none", {.use_resource = true});
  variable(g, true, "flag", {.use_resource = true});
  Saver saver(g);
  Session session(g, {.file_system = &files});
  session.run(step.parts().initializer);
  try {
    saver.save(session, "m", {.global_step = step.parts().variable});
    FAIL("saved");
  } catch (const FailedPrecondition& error) {
    CHECK(error.message().find("uninitialized value") != std::string::npos);
  }
  CHECK(files.contents().empty());
  session.run(initialize_global_variables(g));
  CHECK(saver.save(session, "m", {.global_step = step.parts().variable}) == "m-3");
  const CheckpointReader reader("m-3", {.file_system = &files});
  CHECK(reader.read("texts") == texts);
  CHECK(reader.info("none").shape == Shape{0, 3});
  CHECK(reader.read("flag").scalar<bool>());
}
