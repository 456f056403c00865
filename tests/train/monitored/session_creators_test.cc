// What chiefs and workers get: a restored or initialised model, or one that someone else made ready.
#include "train/monitored/session_creators.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>

#include "graph/clock.h"
#include "graph/error.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/until.h"
#include "train/checkpoint/saver.h"
#include "train/supervisor/coordinator.h"

namespace runnel {
namespace {

struct Model {
  ScopedLogSink quiet{[](LogLevel, const std::string&) {}};
  MemoryFileSystem files;
  Graph g;
  Variable v = variable(g, 1.0f, "v");
  Variable local = variable(g, 7.0f, "local", {.trainable = false, .collections = {keys::kLocalVariables}});
};

TEST_CASE("a chief initialises, calls init_fn with its scaffold, and initialises local variables") {
  Model m;
  Output fed = placeholder<float>(m.g, {}, "fed");
  const Operation init(assign(m.v, fed).node());
  const Scaffold scaffold({.init_op = init,
                           .init_feed_dict = {{fed, Tensor::scalar(5.0f)}},
                           .init_fn = [&](Scaffold& s, Session& session) {
                             CHECK(s.init_op() == init);
                             CHECK(session.get<float>(m.v) == 5);
                           }});
  ChiefSessionCreator creator(m.g, {.scaffold = scaffold, .config = {.file_system = &m.files}});
  const std::shared_ptr<Session> session = creator.create_session();
  CHECK(m.g.finalized());
  CHECK(session->get<float>(m.v) == 5);
  CHECK(session->get<float>(m.local) == 7);
}

TEST_CASE("a chief restores the newest checkpoint of its directory, or the one it is given") {
  Model m;
  const Scaffold scaffold;
  const Output fed = placeholder<float>(m.g, {}, "fed");
  const Operation set(assign(m.v, fed).node());
  ChiefSessionCreator first(m.g, {.scaffold = scaffold, .config = {.file_system = &m.files}});
  const std::shared_ptr<Session> session = first.create_session();
  for (const float value : {2.0f, 3.0f}) {
    session->run(set, {{fed, Tensor::scalar(value)}});
    scaffold.saver()->save(*session, "d/m", {.global_step = static_cast<std::int64_t>(value)});
  }
  ChiefSessionCreator newest(
      m.g, {.scaffold = scaffold, .config = {.file_system = &m.files}, .checkpoint_dir = "d"});
  CHECK(newest.create_session()->get<float>(m.v) == 3);
  ChiefSessionCreator named(
      m.g,
      {.scaffold = scaffold, .config = {.file_system = &m.files}, .checkpoint_filename_with_path = "d/m-2"});
  CHECK(named.create_session()->get<float>(m.v) == 2);
}

TEST_CASE("a worker waits for the chief and says what is missing when it gives up") {
  Model m;
  WorkerSessionCreator creator(m.g, {.config = {.file_system = &m.files}, .max_wait_secs = 10});
  CHECK_THROWS_WITH_AS(creator.create_session(), doctest::Contains("Variables not initialized: v"),
                       DeadlineExceeded);
}

TEST_CASE("a worker's waiting ends when its coordinator stops") {
  Model m;
  ManualClock clock;
  Coordinator coord({.clock = &clock});
  WorkerSessionCreator creator(m.g, {.config = {.file_system = &m.files}, .clock = &clock});
  std::jthread stopper([&] {
    until([&] { return clock.waiting() > 0; });
    coord.request_stop();
  });
  CHECK_THROWS_AS(creator.create_session(&coord), Cancelled);
  stopper.join();
}

TEST_CASE("a master elsewhere is refused by both, saying what to use") {
  Model m;
  const std::string there = "grpc://chief:2222";
  CHECK_THROWS_WITH_AS(ChiefSessionCreator(m.g, {.master = there}).create_session(),
                       doctest::Contains("remote targets are not there yet"), Unimplemented);
  CHECK_THROWS_AS(WorkerSessionCreator(m.g, {.master = there}).create_session(), Unimplemented);
}

}  // namespace
}  // namespace runnel
