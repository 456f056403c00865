// Which task of a job this process is, as the environment variable TF_CONFIG tells it: JSON with `cluster`,
// `task` {type, index}, `model_dir`, `session_master`, `eval_session_master`. On one machine only the task
// alone counts. Source: behaviours 22.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace runnel {

struct TaskEnvironment {
  std::string type = "worker";
  std::int64_t index = 0;
  std::string model_dir = "";
  std::string session_master = "";
  std::string eval_session_master = "";
};

// Of a TF_CONFIG; a cluster of a thousand tasks takes a tenth of it.
inline constexpr std::size_t kMostTaskConfigBytes = 1 << 20;

// Throws InvalidArgument for text that is no JSON object, members of another type and a task that is none,
// Unimplemented for a cluster. Empty text is a process of its own.
TaskEnvironment parse_task_config(std::string_view json);

// The same of this process's TF_CONFIG.
TaskEnvironment task_from_environment();

}  // namespace runnel
