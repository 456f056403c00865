// Writes the values of tensors to the log now and then. Source: tf.train.LoggingTensorHook (behaviours 15).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/monitored/hook.h"
#include "train/monitored/second_or_step_timer.h"

namespace runnel {

// A tensor of the graph, or the name of one ("loss:0"; "loss" for an operation with a single output). Without
// a tag it goes by its name.
struct LoggedTensor {
  LoggedTensor(Output tensor) : tensor(tensor) {}
  LoggedTensor(const Variable& variable) : tensor(variable.value()) {}
  LoggedTensor(std::string name) : name(std::move(name)) {}
  LoggedTensor(const char* name) : name(name) {}
  LoggedTensor(std::string tag, LoggedTensor of)
      : tag(std::move(tag)), name(std::move(of.name)), tensor(of.tensor) {}

  std::string tag = "", name = "";
  Output tensor = {};
};

// Exactly one period, or at_end alone.
struct LoggingTensorHookOptions {
  std::optional<std::int64_t> every_n_iter = {};  // runs of this session, counted by the hook
  std::optional<double> every_n_secs = {};
  bool at_end = false;  // also once more, by a run of its own
  // The line, from the values by tag; empty: "a = 0.5, b = [1 2] (0.016 sec)".
  std::function<std::string(const std::map<std::string, Tensor>&)> formatter = {};
  Clock* clock = nullptr;  // borrowed; none means the machine's
  Location where = Location::here();
};

// Tensors stand in the line by tag if all were given one, else in the order given. Needs no global step.
class LoggingTensorHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for other periods, for two tensors of one tag, and for every_n_iter below 1.
  explicit LoggingTensorHook(std::vector<LoggedTensor> tensors, LoggingTensorHookOptions options);

  std::string name() const override { return "LoggingTensorHook"; }
  // Throws NotFound for names that the graph lacks, InvalidArgument for those of several tensors.
  void begin(Graph& graph) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;
  void end(Session& session) override;

 private:
  void log(std::span<const Tensor> values);

  std::vector<LoggedTensor> tensors_;
  LoggingTensorHookOptions options_;
  std::unique_ptr<HookTimer> timer_;
  std::vector<Fetch> fetches_;
  std::int64_t runs_ = 0;
  bool due_ = false;  // in the run that is under way
};

Hook logging_tensor(std::vector<LoggedTensor> tensors, LoggingTensorHookOptions options);

}  // namespace runnel
