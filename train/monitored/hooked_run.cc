// Merging is done into lists that keep their memory from run to run; without hooks that ask for something a
// run costs two short copies more than the session's own.
#include "train/monitored/hooked_run.h"

#include <algorithm>
#include <utility>

#include "graph/error.h"

namespace runnel {

void HookedRun::begin(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                      const RunOptions& options) {
  original_.fetches.assign(fetches.begin(), fetches.end());
  original_.feed_dict.assign(feeds.begin(), feeds.end());
  original_.options = options;
  merged_.fetches.assign(fetches.begin(), fetches.end());
  merged_.feed_dict.assign(feeds.begin(), feeds.end());
  merged_.options = options;
  fed_by_.clear();
  running_ = true;
}

// Feeds may be large, and a value that is held is copied by the next write.
void HookedRun::end(const SessionRunContext& context) {
  original_.feed_dict.clear();
  merged_.feed_dict.clear();
  stop_ = context.stop();
  running_ = false;
}

void HookedRun::add_feeds(std::size_t hook, std::vector<Feed>&& feeds) {
  std::vector<Feed>& all = merged_.feed_dict;
  const auto callers = original_.feed_dict.size();
  for (Feed& feed : feeds) {
    for (std::size_t i = callers; i < all.size(); ++i)
      if (all[i].key == feed.key)
        throw FailedPrecondition(cat("'", feed.key.name(), "' is fed by ", hooks_[hook]->name(), " and by ",
                                     hooks_[fed_by_[i - callers]]->name(),
                                     ": one of them must leave it out"));
    all.push_back(std::move(feed));
    fed_by_.push_back(hook);
  }
}

// None of the hooks feeds what the caller feeds.
void HookedRun::require_own_feeds() const {
  const std::vector<Feed>& all = merged_.feed_dict;
  const auto callers = original_.feed_dict.size();
  for (std::size_t i = callers; i < all.size(); ++i)
    for (std::size_t k = 0; k < callers; ++k)
      if (all[i].key == all[k].key)
        throw FailedPrecondition(cat("'", all[i].key.name(), "' is fed by ",
                                     hooks_[fed_by_[i - callers]]->name(),
                                     " and by the caller: one of them must leave it out"));
}

void HookedRun::merge(std::size_t hook, SessionRunArgs&& args) {
  merged_.fetches.insert(merged_.fetches.end(), args.fetches.begin(), args.fetches.end());
  parts_[hook].count = args.fetches.size();
  add_feeds(hook, std::move(args.feed_dict));
  RunOptions& options = merged_.options;
  options.timeout_in_ms = std::max(options.timeout_in_ms, args.options.timeout_in_ms);
  if (args.options.cancellation) {
    if (options.cancellation && options.cancellation != args.options.cancellation)
      throw FailedPrecondition(cat(hooks_[hook]->name(),
                                   " gives the run a cancellation, but it has one already: one of them must "
                                   "leave it out"));
    options.cancellation = args.options.cancellation;
  }
  parts_[hook].run_metadata = args.options.run_metadata;
  if (args.options.run_metadata) options.run_metadata = &recording_;
}

// To everyone who asked for it.
void HookedRun::hand_out_recording(const RunOptions& options) {
  if (merged_.options.run_metadata != &recording_) return;
  if (options.run_metadata) *options.run_metadata = recording_;
  for (const Part& part : parts_)
    if (part.run_metadata) *part.run_metadata = recording_;
}

void HookedRun::run(Session& session, std::span<const Fetch> fetches, std::span<const Feed> feeds,
                    const RunOptions& options, Tensor* out) {
  if (!running_) return run_outer(session, fetches, feeds, options, out);
  HookedRun inner(hooks_);
  const struct TakeStop {
    HookedRun& outer;
    const HookedRun& inner;
    ~TakeStop() { outer.stop_ = inner.stop_; }
  } take_stop{*this, inner};
  inner.run_outer(session, fetches, feeds, options, out);
}

void HookedRun::run_outer(Session& session, std::span<const Fetch> fetches, std::span<const Feed> feeds,
                          const RunOptions& options, Tensor* out) {
  begin(fetches, feeds, options);
  SessionRunContext context(original_, session);
  const struct AtEnd {
    HookedRun& run;
    const SessionRunContext& context;
    ~AtEnd() { run.end(context); }
  } at_end{*this, context};

  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    parts_[i] = {.begin = merged_.fetches.size()};
    context.enter(*hooks_[i]);
    if (std::optional<SessionRunArgs> args = hooks_[i]->before_run(context)) merge(i, std::move(*args));
  }
  require_own_feeds();
  std::vector<Tensor> results;
  try {
    results = session.run(std::span<const Fetch>(merged_.fetches), std::span<const Feed>(merged_.feed_dict),
                          merged_.options);
  } catch (...) {
    hand_out_recording(options);  // of what ran before the error
    throw;
  }
  hand_out_recording(options);
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    context.enter(*hooks_[i]);
    hooks_[i]->after_run(context, {.results = std::span(results).subspan(parts_[i].begin, parts_[i].count),
                                   .options = merged_.options,
                                   .run_metadata = merged_.options.run_metadata});
  }
  std::move(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(fetches.size()), out);
}

}  // namespace runnel
