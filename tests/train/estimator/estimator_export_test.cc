// Exports: what is in one, that it runs by itself, and which are kept.
#include <doctest/doctest.h>

#include "graph/io/forwarding_file_system.h"
#include "tests/graph/scratch_directory.h"
#include "tests/train/estimator/line_model.h"
#include "train/checkpoint/import_meta_graph.h"
#include "train/estimator/export_folders.h"
#include "train/estimator/export_strategy.h"
#include "train/estimator/exporter.h"

using namespace runnel;

namespace {

EvaluationResult with_loss(float loss) {
  EvaluationResult result;
  result.values = {{"loss", Tensor::scalar(loss)}};
  return result;
}

// The machine's files, until there is no room for another index.
class FullDisk final : public ForwardingFileSystem {
 public:
  FullDisk() : ForwardingFileSystem(real_file_system()) {}
  void rename(const std::string& from, const std::string& to) override {
    if (full && to.ends_with(".index")) throw ResourceExhausted("the disk is full");
    files_.rename(from, to);
  }
  bool full = false;
};

}  // namespace

TEST_CASE("an export runs in another program: graph, values and the names of what goes in and out") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch / "model");
  estimator.train(line::all_rows, {.max_steps = 5});
  const std::string folder = estimator.export_model(scratch / "export", line::serving_input);
  CHECK(real_file_system().list(scratch / "export").size() == 1);

  Graph graph;
  Saver saver = import_meta_graph(graph, folder + "/model.ckpt.meta");
  Session session(graph);
  saver.restore(session, folder + "/model.ckpt");
  const auto text = [&](const char* key, std::size_t i) {
    return std::get<std::string>(graph.collection(key).at(i));
  };
  CHECK(text("serving_inputs", 0) == "x=x:0");
  const std::string y = text("serving_outputs", 1);
  REQUIRE(y.starts_with("y="));
  const Tensor out =
      session.run(graph.output(y.substr(2)), {{graph.output("x:0"), Tensor::vector<float>({0, 1})}});
  const float w = estimator.get_variable_value("w").scalar<float>();
  const float b = estimator.get_variable_value("b").scalar<float>();
  CHECK(out.values<float>()[0] == b);
  CHECK(out.values<float>()[1] == doctest::Approx(w + b));
  CHECK_FALSE(graph.find("GradientDescent"));
}

TEST_CASE("there is nothing to export before the training") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch / "model");
  CHECK_THROWS_AS(estimator.export_model(scratch / "export", line::serving_input), NotFound);
  CHECK_FALSE(real_file_system().exists(scratch / "export"));
}

TEST_CASE("the latest exporter keeps the newest, the final one exports at the end, the best one the best") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch / "model");
  estimator.train(line::all_rows, {.max_steps = 1});
  const auto exports = [&](Exporter& exporter, float loss, bool final_export) {
    const EvaluationResult result = with_loss(loss);
    return !exporter
                .export_model({.estimator = estimator,
                               .export_path = scratch / exporter.name(),
                               .checkpoint_path = "",
                               .eval_result = result,
                               .is_the_final_export = final_export})
                .empty();
  };
  const auto latest =
      latest_exporter({.name = "latest", .serving_input_fn = line::serving_input, .exports_to_keep = 2});
  for (int i = 0; i < 4; ++i) CHECK(exports(*latest, 1, false));
  CHECK(export_folders(real_file_system(), scratch / "latest").size() == 2);
  const auto last = final_exporter({.name = "last", .serving_input_fn = line::serving_input});
  CHECK_FALSE(exports(*last, 1, false));
  CHECK(exports(*last, 1, true));
  const auto best = best_exporter({.name = "best", .serving_input_fn = line::serving_input});
  CHECK(exports(*best, 3, false));
  CHECK_FALSE(exports(*best, 4, false));
  CHECK_FALSE(exports(*best, 3, false));
  CHECK(exports(*best, 2, false));
}

TEST_CASE("what could not be exported is not the best so far") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch / "model");
  const auto best = best_exporter({.name = "best", .serving_input_fn = line::serving_input});
  const auto exported = [&](float loss) {
    const EvaluationResult result = with_loss(loss);
    return best->export_model({.estimator = estimator,
                               .export_path = scratch / "best",
                               .checkpoint_path = "",
                               .eval_result = result});
  };
  CHECK_THROWS_AS(exported(1), NotFound);
  estimator.train(line::all_rows, {.max_steps = 1});
  CHECK_FALSE(exported(2).empty());
}

TEST_CASE("an export that fails leaves nothing behind") {
  const ScratchDirectory scratch;
  FullDisk files;
  Estimator estimator(line::model,
                      {.config = line::config(scratch / "model")
                                     .replace({.session_config = SessionOptions{.file_system = &files}})});
  estimator.train(line::all_rows, {.max_steps = 1});
  files.full = true;
  CHECK_THROWS_AS(estimator.export_model(scratch / "export", line::serving_input), ResourceExhausted);
  CHECK(real_file_system().list(scratch / "export").empty());
}

TEST_CASE("exporters and strategies refuse what they cannot work with") {
  CHECK_THROWS_AS(latest_exporter({.name = "", .serving_input_fn = line::serving_input}), InvalidArgument);
  CHECK_THROWS_AS(latest_exporter({.name = "a"}), InvalidArgument);
  CHECK_THROWS_AS(
      latest_exporter({.name = "a", .serving_input_fn = line::serving_input, .exports_to_keep = 0}),
      InvalidArgument);
  CHECK_THROWS_AS(best_exporter({.name = "a", .serving_input_fn = line::serving_input}, {}), InvalidArgument);
  CHECK_THROWS_AS(make_export_strategy("..", line::serving_input), InvalidArgument);
  CHECK_THROWS_AS(require_exportable({.name = "a", .export_fn = {}}), InvalidArgument);
}
