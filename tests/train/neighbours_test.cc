// Two processes that save into one directory: who is saving keeps the other from it, and what the other has
// saved in between is noticed and not deleted.
#include "train/checkpoint/neighbours.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/scratch_directory.h"
#include "train/train.h"

using namespace runnel;

namespace {

constexpr const char* kDirectory = "RUNNEL_TEST_DIRECTORY";  // where the other process saves

// Saves PATH-1 to PATH-`last`, keeping one.
struct Program {
  Program() : session(g) { session.run(initialize_global_variables(g)); }
  void save(const std::string& path, int step) { saver.save(session, path, {.global_step = step}); }
  Graph g;
  Variable v = variable(g, 1.0f, "v");
  Saver saver{g, SaverOptions{.max_to_keep = 1}};
  Session session;
};

// Runs a case of this file in a process of its own; true if it passes.
bool run_elsewhere(const std::string& test_case, const std::string& directory) {
  ::setenv(kDirectory, directory.c_str(), 1);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  return std::system(
             cat("'", program, "' --no-skip -tc='", test_case, "' > '", directory, ".log' 2>&1").c_str()) ==
         0;
}

}  // namespace

// Two cases are parts of others, which run_elsewhere runs with the directory to save into: alone they skip.
TEST_CASE("in another process: saves go through" * doctest::skip()) {
  REQUIRE(std::getenv(kDirectory));
  Program other;
  for (const int step : {1, 2}) other.save(cat(std::getenv(kDirectory), "/other"), step);
}

TEST_CASE("in another process: a save is refused" * doctest::skip()) {
  REQUIRE(std::getenv(kDirectory));
  Program other;
  CHECK_THROWS_WITH_AS(other.save(cat(std::getenv(kDirectory), "/m"), 1),
                       cat("cannot save into '", std::getenv(kDirectory),
                           "': another process is saving there. Give each process a directory of its own")
                           .c_str(),
                       Aborted);
}

TEST_CASE("what another process is writing is not taken for a left-over, and no second one saves there") {
  const ScratchDirectory scratch;
  const std::string directory = scratch / "run";
  CheckpointWriter writer(directory + "/m", {});
  writer.add("v", Tensor::scalar(1.0f));
  CHECK(run_elsewhere("in another process: a save is refused", directory));
  writer.finish();
  CHECK(CheckpointReader(directory + "/m").read("v") == Tensor::scalar(1.0f));
  CHECK(run_elsewhere("in another process: saves go through", directory));
}

TEST_CASE("a state file that another process has written is warned of once, and its checkpoints stay") {
  const ScratchDirectory scratch;
  const std::string directory = scratch / "run";
  std::vector<std::string> warnings;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { warnings.push_back(line); });
  Program mine;
  for (const int step : {1, 2}) mine.save(directory + "/m", step);
  CHECK(warnings.empty());
  for (const int step : {3, 4}) {
    CHECK(run_elsewhere("in another process: saves go through", directory));
    mine.save(directory + "/m", step);
  }
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] == cat("'", directory,
                           "/checkpoint' is not as this Saver left it: somebody else saves into '", directory,
                           "', too. Each names its own checkpoints alone and deletes no other; give ",
                           "each process a directory of its own"));
  CHECK(checkpoint_exists(directory + "/other-2"));
  CHECK(latest_checkpoint(directory) == directory + "/m-4");
}

TEST_CASE("locks of one process on a directory are one, whatever the path, and end with the last of them") {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "run");
  auto one = lock_for_saving(real_file_system(), scratch / "run");
  const auto two = lock_for_saving(real_file_system(), scratch / "./run/");
  CHECK((one->held() && two->held()));
  one.reset();
  CHECK(run_elsewhere("in another process: a save is refused", scratch / "run"));
}

TEST_CASE("where a directory cannot be locked that is told of once, and saves go on") {
  std::vector<std::string> warnings;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { warnings.push_back(line); });
  Neighbours neighbours;
  for (int i = 0; i < 2; ++i) CHECK_FALSE(neighbours.lock(real_file_system(), "/no/such")->held());
  CHECK(warnings == std::vector<std::string>{
                        "'/no/such' cannot be locked: another process that saves there is not noticed"});
}
