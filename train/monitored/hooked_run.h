// One run of a session together with its hooks: what the hooks ask for is merged with what the caller asks
// for into one step, and each gets its own part of the results. Source: behaviours 14.4.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "graph/runtime/run_metadata.h"
#include "graph/runtime/session.h"
#include "train/monitored/hook.h"

namespace runnel {

// Holds the lists that a run needs, so that they are allocated once. One thread at a time; a hook may call it
// again from inside of a run.
class HookedRun {
 public:
  explicit HookedRun(std::vector<Hook> hooks) : hooks_(std::move(hooks)), parts_(hooks_.size()) {}
  const std::vector<Hook>& hooks() const { return hooks_; }

  // Asks each hook what it wants, runs, tells each hook what came out, and puts the caller's part into `out`,
  // which has room for as many as `fetches`. Throws FailedPrecondition if a tensor is fed by two hooks or by
  // a hook and the caller, or if two want to cancel the run; and what the session and the hooks throw.
  void run(Session& session, std::span<const Fetch> fetches, std::span<const Feed> feeds,
           const RunOptions& options, Tensor* out);
  // The stop that a hook asked for in the last run, also in one that threw.
  const std::optional<SessionRunContext::StopRequest>& stop() const { return stop_; }

 private:
  struct Part {
    std::size_t begin = 0, count = 0;     // of the merged fetches
    RunMetadata* run_metadata = nullptr;  // where the hook wants the recording
  };
  void run_outer(Session& session, std::span<const Fetch> fetches, std::span<const Feed> feeds,
                 const RunOptions& options, Tensor* out);
  void begin(std::span<const Fetch> fetches, std::span<const Feed> feeds, const RunOptions& options);
  void merge(std::size_t hook, SessionRunArgs&& args);
  void add_feeds(std::size_t hook, std::vector<Feed>&& feeds);
  void require_own_feeds() const;
  void hand_out_recording(const RunOptions& options);
  void end(const SessionRunContext& context);

  std::vector<Hook> hooks_;
  std::vector<Part> parts_;  // of each hook
  SessionRunArgs original_;  // the caller's
  SessionRunArgs merged_;
  std::vector<std::size_t> fed_by_;  // for feeds beyond the caller's, the hook
  RunMetadata recording_;
  bool running_ = false;
  std::optional<SessionRunContext::StopRequest> stop_;
};

}  // namespace runnel
