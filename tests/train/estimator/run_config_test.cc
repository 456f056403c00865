// RunConfig: defaults, ranges, replace, and the task that TF_CONFIG tells.
#include "train/estimator/run_config.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "train/estimator/task_environment.h"

using namespace runnel;

TEST_CASE("a RunConfig has TensorFlow's defaults") {
  const RunConfig config;
  CHECK(config.save_checkpoints_secs() == 600);
  CHECK_FALSE(config.save_checkpoints_steps());
  CHECK(config.save_summary_steps() == 100);
  CHECK(config.log_step_count_steps() == 100);
  CHECK(config.keep_checkpoint_max() == 5);
  CHECK(config.keep_checkpoint_every_n_hours() == 10'000);
  CHECK(config.session_creation_timeout_secs() == 7200);
  CHECK_FALSE(config.tf_random_seed());
  CHECK(config.master().empty());
  CHECK(config.is_chief());
}

TEST_CASE("saving goes by steps or by seconds, and replace takes the other away") {
  CHECK_THROWS_WITH_AS(
      RunConfig({.save_checkpoints_steps = std::int64_t{5}, .save_checkpoints_secs = 5.0}),
      "RunConfig: save_checkpoints_steps and save_checkpoints_secs are both given; give one of "
      "them",
      InvalidArgument);
  const RunConfig by_steps = RunConfig().replace({.save_checkpoints_steps = std::int64_t{5}});
  CHECK(by_steps.save_checkpoints_steps() == 5);
  CHECK_FALSE(by_steps.save_checkpoints_secs());
  const RunConfig by_secs = by_steps.replace({.save_checkpoints_secs = 7.0});
  CHECK(by_secs.save_checkpoints_secs() == 7);
  CHECK_FALSE(by_secs.save_checkpoints_steps());
  CHECK_FALSE(by_secs.replace({.save_checkpoints_steps = std::int64_t{4}}).save_checkpoints_secs());
  const RunConfig off({.save_checkpoints_secs = none});
  CHECK_FALSE(off.save_checkpoints_secs());
  CHECK_FALSE(off.save_checkpoints_steps());
  CHECK(by_secs.replace({.model_dir = "there"}).save_checkpoints_secs() == 7);
}

TEST_CASE("a RunConfig refuses what is out of range, by name") {
  CHECK_THROWS_WITH_AS(RunConfig({.keep_checkpoint_max = -1}),
                       "RunConfig: keep_checkpoint_max is -1; it must be 0 or more", InvalidArgument);
  CHECK_THROWS_WITH_AS(RunConfig({.log_step_count_steps = 0}),
                       "RunConfig: log_step_count_steps is 0; it must be over 0", InvalidArgument);
  CHECK_THROWS_AS(RunConfig({.save_summary_steps = -1}), InvalidArgument);
  CHECK_THROWS_AS(RunConfig({.save_checkpoints_steps = std::int64_t{-1}}), InvalidArgument);
  CHECK_THROWS_AS(RunConfig({.save_checkpoints_secs = -0.5}), InvalidArgument);
  CHECK_THROWS_AS(RunConfig({.keep_checkpoint_every_n_hours = 0}), InvalidArgument);
  CHECK_THROWS_AS(RunConfig({.session_creation_timeout_secs = 0}), InvalidArgument);
  CHECK_THROWS_AS(RunConfig({.task_id = -1}), InvalidArgument);
  CHECK_THROWS_AS(RunConfig().replace({.keep_checkpoint_max = std::optional<int>(-1)}), InvalidArgument);
}

TEST_CASE("TF_CONFIG without a cluster is one worker with its model_dir") {
  const TaskEnvironment task = parse_task_config(
      R"({"task": {"type": "worker", "index": 0}, "model_dir": "m", "session_master": "a", "other": [1, {}]})");
  CHECK(task.type == "worker");
  CHECK(task.index == 0);
  CHECK(task.model_dir == "m");
  CHECK(task.session_master == "a");
  CHECK(parse_task_config("").model_dir.empty());
  CHECK(parse_task_config(R"({"cluster": {}, "task": null})").index == 0);
}

TEST_CASE("TF_CONFIG with a cluster says what is not there yet") {
  CHECK_THROWS_WITH_AS(
      parse_task_config(R"({"cluster": {"worker": ["a:1"]}})"),
      "TF_CONFIG: it has a 'cluster', and training on several machines is not there yet; leave "
      "'cluster' out to train in this process alone",
      Unimplemented);
}

TEST_CASE("hostile TF_CONFIG is refused with a reason") {
  for (const std::string bad :
       {"{", "[]", "1", "nonsense", "{\"task\": 3}", "{\"task\": {\"index\": 1}}",
        "{\"task\": {\"index\": 0.5}}", "{\"task\": {\"index\": \"0\"}}", "{\"task\": {\"type\": \"ps\"}}",
        "{\"task\": {\"type\": 5}}", "{\"model_dir\": {}}", "{\"cluster\": 5}", "{\"task\": {\"index\": -1}}",
        "{\"task\": {\"index\": 1e300}}"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_task_config(bad), InvalidArgument);
  }
  CHECK_THROWS_AS(parse_task_config(std::string(100'000, '[')), InvalidArgument);
  std::string deep = "{\"a\":";
  for (int i = 0; i < 50'000; ++i) deep += "{\"a\":";
  CHECK_THROWS_AS(parse_task_config(deep), InvalidArgument);
  CHECK_THROWS_WITH_AS(parse_task_config(std::string(kMostTaskConfigBytes + 1, ' ')),
                       "TF_CONFIG: it has 1048577 bytes; at most 1048576 are read", InvalidArgument);
}

TEST_CASE("from_environment takes model_dir from TF_CONFIG and refuses two") {
  ::setenv("TF_CONFIG", R"({"model_dir": "of_environment"})", 1);
  CHECK(RunConfig::from_environment().model_dir() == "of_environment");
  CHECK_THROWS_WITH_AS(
      RunConfig::from_environment({.model_dir = "mine"}),
      "RunConfig: model_dir is 'mine', but TF_CONFIG says 'of_environment'; leave one of them out",
      InvalidArgument);
  ::unsetenv("TF_CONFIG");
  CHECK(RunConfig::from_environment({.model_dir = "mine"}).model_dir() == "mine");
}
