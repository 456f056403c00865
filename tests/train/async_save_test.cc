// Saver::save_async: what the caller waits for, what is written, and where errors go.
#include <doctest/doctest.h>

#include <atomic>

#include "graph/graph.h"
#include "graph/io/fault_file_system.h"
#include "graph/io/forwarding_file_system.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/door.h"
#include "tests/graph/no_threads.h"
#include "train/train.h"

using namespace runnel;

namespace {

// Files that hold up whoever opens one for writing.
class SlowFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    door.pass();
    return files_.open_for_writing(path, mode);
  }
  Door door;
};

// A counter and a vector that one step changes together.
struct Counting {
  explicit Counting(FileSystem& files, bool resource = false) : session(g, {.file_system = &files}) {
    v = variable(g, Tensor::vector<float>({0, 0, 0}), "v", {.use_resource = resource});
    step = variable(g, Tensor::scalar<std::int64_t>(0), "step", {.use_resource = resource});
    const Operation both[] = {Operation(assign_add(v, constant(g, Tensor::vector<float>({1, 1, 1}))).node()),
                              Operation(assign_add(step, Tensor::scalar<std::int64_t>(1)).node())};
    train = group(g, both);
    saver.emplace(g, SaverOptions{.max_to_keep = 2});
    session.run(initialize_global_variables(g));
  }
  Graph g;
  Variable v, step;
  Operation train;
  std::optional<Saver> saver;
  Session session;
};

Tensor stored(FileSystem& files, const std::string& prefix) {
  return CheckpointReader(prefix, {.file_system = &files}).read("v");
}

}  // namespace

TEST_CASE(
    "training goes on while an asynchronous save waits for its disk, and the save has the values from "
    "before") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    MemoryFileSystem memory;
    SlowFiles files(memory);
    Counting model(files, resource);
    model.session.run(model.train);
    files.door.shut();
    const std::string prefix =
        model.saver->save_async(model.session, "run/model.ckpt", {.global_step = model.step});
    CHECK(prefix == "run/model.ckpt-1");
    files.door.await_waiting();
    for (int i = 0; i < 3; ++i) model.session.run(model.train);
    CHECK(model.session.get<std::int64_t>(model.step) == 4);
    CHECK_FALSE(files.exists(prefix + ".index"));
    files.door.open();
    model.saver->wait();
    CHECK(stored(files, prefix) == Tensor::vector<float>({1, 1, 1}));
    CHECK(latest_checkpoint("run", {.file_system = &files}) == prefix);
  }
}

TEST_CASE("saves end in the order in which they were asked for, and old ones are deleted as ever") {
  MemoryFileSystem files;
  Counting model(files);
  for (int i = 0; i < 4; ++i) {
    model.session.run(model.train);
    if (i == 2) {
      model.saver->save(model.session, "run/model.ckpt", {.global_step = model.step});
    } else {
      model.saver->save_async(model.session, "run/model.ckpt", {.global_step = model.step});
    }
  }
  model.saver->wait();
  CHECK(model.saver->last_checkpoints() == std::vector<std::string>{"run/model.ckpt-3", "run/model.ckpt-4"});
  CHECK_FALSE(files.exists("run/model.ckpt-1.index"));
  CHECK(stored(files, "run/model.ckpt-4") == Tensor::vector<float>({4, 4, 4}));
}

TEST_CASE("an asynchronous save that fails is told of once, by the next call, and saves go on after") {
  MemoryFileSystem memory;
  FaultFileSystem files(memory);
  Counting model(files);
  const auto fail_next = [&] {
    files.fail_at(3, Fault::kNoSpace);
    model.saver->save_async(model.session, "run/model.ckpt");
  };
  fail_next();
  CHECK_THROWS_AS(model.saver->wait(), ResourceExhausted);
  model.saver->wait();
  fail_next();
  CHECK_THROWS_AS(model.saver->save(model.session, "run/model.ckpt"), ResourceExhausted);
  fail_next();
  CHECK_THROWS_AS(model.saver->save_async(model.session, "run/model.ckpt"), ResourceExhausted);
  model.saver->save_async(model.session, "run/model.ckpt");
  model.saver->wait();
  CHECK(stored(memory, "run/model.ckpt") == Tensor::vector<float>({0, 0, 0}));
}

TEST_CASE("what the caller can get wrong is refused at once, without a thread") {
  MemoryFileSystem files;
  Counting model(files);
  CHECK_THROWS_AS(model.saver->save_async(model.session, "run/"), InvalidArgument);
  Graph other;
  const Variable w = variable(other, 1.0f, "w");
  Saver saver(other);
  Session session(other, {.file_system = &files});
  CHECK_THROWS_AS(saver.save_async(session, "run/model.ckpt"), FailedPrecondition);  // no value yet
  CHECK_THROWS_AS(saver.save_async(model.session, "run/model.ckpt"), InvalidArgument);
}

TEST_CASE("a save whose thread cannot be started is refused, and the next one is done") {
  MemoryFileSystem files;
  Counting model(files);
  {
    const NoThreads none;
    CHECK_THROWS_WITH_AS(model.saver->save_async(model.session, "run/model.ckpt"),
                         doctest::Contains("no thread could be started for the save to 'run/model.ckpt': "),
                         ResourceExhausted);
  }
  CHECK_FALSE(files.exists("run/model.ckpt.index"));
  model.saver->save_async(model.session, "run/model.ckpt");
  model.saver->wait();
  CHECK(stored(files, "run/model.ckpt") == Tensor::vector<float>({0, 0, 0}));
}

TEST_CASE("a Saver that goes away finishes its save first, also when the session is gone") {
  MemoryFileSystem files;
  {
    auto model = std::make_unique<Counting>(files);
    Saver saver = std::move(*model->saver);
    saver.save_async(model->session, "run/model.ckpt");
    model.reset();
  }
  CHECK(stored(files, "run/model.ckpt") == Tensor::vector<float>({0, 0, 0}));
}
