// FileWriter's methods for plugins: where values go, their times, and how errors name the call.
#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "summary/file_writer.h"
#include "tests/summary/golden_plugins.h"

using namespace runnel;

namespace {

struct Bench {
  MemoryFileSystem files;
  ManualClock clock;
  FileWriter writer{"logs", {.clock = &clock, .files = &files}};
  std::vector<pb::Event> events() {
    writer.flush();
    return events_in(files, "logs");
  }
};

constexpr float kPredictions[] = {0.25f, 0.75f};

}  // namespace

TEST_CASE("curves and meshes keep their step, hyperparameters and layouts have none") {
  Bench b;
  b.writer.pr_curve("pr", {true, false}, kPredictions, 3);
  b.writer.pr_curve_raw("raw", pr_curve_of(std::array{true, false}, kPredictions), 4);
  b.writer.mesh("m", Tensor::zeros(DType::kFloat, {2, 3}), 5);
  b.writer.custom_scalars({{.title = "c"}});
  b.writer.hparams_config({{.name = "lr"}}, {{.tag = "loss"}});
  b.writer.hparams({{"lr", 0.1}});
  b.writer.hparams_end(hp::Status::kFailure);
  std::vector<std::pair<std::int64_t, std::string>> seen;
  for (const pb::Event& event : b.events()) seen.emplace_back(event.step(), event.summary().value(0).tag());
  CHECK(seen == std::vector<std::pair<std::int64_t, std::string>>{{3, "pr"},
                                                                  {4, "raw"},
                                                                  {5, "m_VERTEX"},
                                                                  {0, "custom_scalars__config__"},
                                                                  {0, "_hparams_/experiment"},
                                                                  {0, "_hparams_/session_start_info"},
                                                                  {0, "_hparams_/session_end_info"}});
}

TEST_CASE("labels may be a vector of bool or an array") {
  Bench b;
  b.writer.pr_curve("t", std::vector<bool>{true, false}, kPredictions);
  constexpr bool labels[] = {true, false};
  b.writer.pr_curve("t", labels, kPredictions);
  const auto events = b.events();
  CHECK(events.at(0).summary().value(0).tensor().tensor_content() ==
        events.at(1).summary().value(0).tensor().tensor_content());
}

TEST_CASE("a run begins and ends at the writer's time") {
  Bench b;
  b.writer.hparams({});
  b.clock.advance(60);
  b.writer.hparams_end(hp::Status::kSuccess);
  const auto events = b.events();
  const auto data = [&](std::size_t i) {
    return content_of<pb::HParamsPluginData>(events.at(i).summary().value(0));
  };
  CHECK(data(0).session_start_info().start_time_secs() == 1.7e9);
  CHECK(data(1).session_end_info().end_time_secs() == 1.7e9 + 60);
}

TEST_CASE("an embedding is in the folder of the events when the call returns") {
  Bench b;
  b.writer.embedding("words", Tensor::matrix<float>({{1, 2}}), {.metadata = {{"label", {"one"}}}});
  CHECK(b.files.exists("logs/projector_config.pbtxt"));
  CHECK(read_file(b.files, "logs/projector/words/tensors.tsv") == "1\t2\n");
}

TEST_CASE("an embedding that cannot be written is logged, and thrown by the next flush, once") {
  Bench b;
  write_file_atomically(b.files, "logs/projector", "in the way");
  std::vector<std::string> said;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { said.push_back(line); });
  b.writer.embedding("words", Tensor::matrix<float>({{1, 2}}));
  b.writer.scalar("loss", 1, 1);
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("embedding 'words' is not written: "));
  CHECK_THROWS_AS(b.writer.flush(), Error);
  CHECK_NOTHROW(b.writer.flush());
  CHECK(read_file(b.files, "logs/projector") == "in the way");
}

TEST_CASE("a closed writer refuses an embedding and writes none of its files until it is opened again") {
  Bench b;
  b.writer.close();
  CHECK_THROWS_WITH_AS(b.writer.embedding("words", Tensor::matrix<float>({{1, 2}})),
                       "embedding 'words': the event writer is closed; call reopen() before adding files",
                       FailedPrecondition);
  CHECK_FALSE(b.files.exists("logs/projector_config.pbtxt"));
  b.writer.reopen();
  b.writer.embedding("words", Tensor::matrix<float>({{1, 2}}));
  CHECK(b.files.exists("logs/projector_config.pbtxt"));
}
TEST_CASE("close, too, throws why an embedding is not there") {
  Bench b;
  write_file_atomically(b.files, "logs/projector_config.pbtxt", "embeddings {");
  const ScopedLogSink sink([](LogLevel, const std::string&) {});
  b.writer.embedding("words", Tensor::matrix<float>({{1, 2}}));
  CHECK_THROWS_WITH_AS(
      b.writer.close(),
      "embedding 'words' is not written: logs/projector_config.pbtxt is no configuration of the "
      "projector: move it away",
      FailedPrecondition);
  CHECK_NOTHROW(b.writer.close());
}

TEST_CASE("an error names the call and the tag, and nothing is written") {
  Bench b;
  CHECK_THROWS_WITH_AS(b.writer.pr_curve("pr", {true}, kPredictions),
                       "pr_curve 'pr': 1 labels for 2 predictions", InvalidArgument);
  CHECK_THROWS_WITH_AS(b.writer.mesh("m", Tensor::from<float>({1, 3}, {0, 0, NAN})),
                       "mesh 'm': coordinate 2 of vertices is nan", InvalidArgument);
  CHECK_THROWS_WITH_AS(b.writer.hparams({{"a", NAN}}),
                       "hparams: 'a' has the number nan, which TensorBoard cannot show", InvalidArgument);
  CHECK_THROWS_WITH_AS(b.writer.hparams_config({{.name = ""}}, {}),
                       "hparams_config: a hyperparameter has no name", InvalidArgument);
  CHECK_THROWS_WITH_AS(b.writer.custom_scalars({}), "custom_scalars: the layout has no categories",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(
      b.writer.embedding("e", Tensor()),
      "embedding 'e': the values are no value: give float[points, dimensions], none of them 0",
      InvalidArgument);
  CHECK(b.events().empty());
}
