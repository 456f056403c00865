// The line of golden/make_estimator.py, fitted with our Estimator: the same calls in the same order, and what
// they gave as lines "NAME KEY VALUE".
#include <cstdio>
#include <exception>

#include "tests/train/estimator/line_model.h"

using namespace runnel;

namespace {

void print(const char* name, const EvaluationResult& result) {
  for (const auto& [key, value] : result.values)
    std::printf("%s %s %.9g\n", name, key.c_str(), result.number(key));
}

void run(const std::string& folder) {
  const RunConfig config({.model_dir = folder,
                          .save_summary_steps = 2,
                          .save_checkpoints_steps = std::int64_t{3},
                          .log_step_count_steps = 2});
  Estimator estimator(line::model, {.config = config});
  print("first", estimator.train(line::all_rows, {.max_steps = 7}).evaluate(line::batches_once(4)));
  print("two", estimator.evaluate(line::batches_once(4), {.steps = 2, .name = "two"}));
  estimator.train(line::all_rows, {.max_steps = 7});
  estimator.train(line::all_rows, {.steps = 3});
  print("second", estimator.evaluate(line::batches_once(4), {.checkpoint_path = folder + "/model.ckpt-6"}));
  for (const Prediction& row : estimator.predict(line::batches_once(4)))
    std::printf("predictions y %.9g\n", row.at("y").scalar<float>());
  for (const std::string& name : estimator.get_variable_names())
    std::printf("variables %s 0\n", name.c_str());
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 2) throw InvalidArgument("give the folder of the model");
    run(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_estimator: %s\n", error.what());
    return 1;
  }
}
