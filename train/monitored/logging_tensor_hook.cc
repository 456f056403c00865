// Names are looked up in `begin`, when the graph is complete.
#include "train/monitored/logging_tensor_hook.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "graph/error.h"
#include "graph/log.h"
#include "train/monitored/value_text.h"

namespace runnel {
namespace {

std::unique_ptr<HookTimer> timer_of(const LoggingTensorHookOptions& o) {
  const bool by_iter = o.every_n_iter.has_value(), by_secs = o.every_n_secs.has_value();
  if (!by_iter && !by_secs && o.at_end) return std::make_unique<NeverTriggerTimer>();
  if (by_iter == by_secs)
    throw InvalidArgument(cat("LoggingTensorHook was given ", by_iter ? "both" : "neither",
                              " of every_n_iter and every_n_secs: give one of them, or at_end alone"),
                          o.where);
  if (by_iter && *o.every_n_iter <= 0)
    throw InvalidArgument(cat("LoggingTensorHook: every_n_iter is ", *o.every_n_iter, ": give 1 or more"),
                          o.where);
  return std::make_unique<SecondOrStepTimer>(SecondOrStepTimerOptions{.every_secs = o.every_n_secs,
                                                                      .every_steps = o.every_n_iter,
                                                                      .clock = o.clock,
                                                                      .name = "LoggingTensorHook",
                                                                      .where = o.where});
}

Output tensor_named(const Graph& graph, const std::string& name) {
  if (name.find(':') != name.npos) return graph.output(name);
  const Node& node = graph.operation(name).node();
  if (node.outputs() > 1)
    throw InvalidArgument(cat("LoggingTensorHook: '", name, "' has ", node.outputs(),
                              " outputs: say which one, as \"", name, ":0\""));
  return graph.output(name + ":0");
}

}  // namespace

LoggingTensorHook::LoggingTensorHook(std::vector<LoggedTensor> tensors, LoggingTensorHookOptions options)
    : tensors_(std::move(tensors)), options_(std::move(options)), timer_(timer_of(options_)) {
  const auto by_tag = [](const LoggedTensor& a, const LoggedTensor& b) { return a.tag < b.tag; };
  if (std::none_of(tensors_.begin(), tensors_.end(), [](const auto& t) { return t.tag.empty(); }))
    std::stable_sort(tensors_.begin(), tensors_.end(), by_tag);
  std::set<std::string> tags;
  for (LoggedTensor& t : tensors_) {
    if (t.tag.empty()) t.tag = t.tensor ? t.tensor.name() : t.name;
    if (!tags.insert(t.tag).second)
      throw InvalidArgument(cat("LoggingTensorHook: two tensors have the tag '", t.tag,
                                "': give each another, as {\"tag\", tensor}"),
                            options_.where);
  }
}

void LoggingTensorHook::begin(Graph& graph) {
  timer_->reset();
  runs_ = 0;
  fetches_.clear();
  for (const LoggedTensor& t : tensors_)
    fetches_.emplace_back(t.tensor ? t.tensor : tensor_named(graph, t.name));
}

std::optional<SessionRunArgs> LoggingTensorHook::before_run(SessionRunContext&) {
  due_ = timer_->should_trigger_for_step(runs_);
  if (!due_) return {};
  return SessionRunArgs{.fetches = fetches_};
}

void LoggingTensorHook::after_run(SessionRunContext&, const SessionRunValues& values) {
  if (due_) log(values.results);
  ++runs_;
}

void LoggingTensorHook::end(Session& session) {
  if (options_.at_end) log(session.run(std::span<const Fetch>(fetches_)));
}

void LoggingTensorHook::log(std::span<const Tensor> values) {
  const auto elapsed = timer_->update_last_triggered_step(runs_);
  if (options_.formatter) {
    std::map<std::string, Tensor> by_tag;
    for (std::size_t i = 0; i < values.size(); ++i) by_tag.emplace(tensors_[i].tag, values[i]);
    return log_info(options_.formatter(by_tag));
  }
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i)
    line += cat(i > 0 ? ", " : "", tensors_[i].tag, " = ", value_text(values[i]));
  if (elapsed) {
    char secs[64];
    std::snprintf(secs, sizeof(secs), " (%.3f sec)", elapsed->secs);
    line += secs;
  }
  log_info(line);
}

Hook logging_tensor(std::vector<LoggedTensor> tensors, LoggingTensorHookOptions options) {
  return std::make_shared<LoggingTensorHook>(std::move(tensors), std::move(options));
}

}  // namespace runnel
