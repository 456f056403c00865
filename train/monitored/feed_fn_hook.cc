// Called once a run, before it.
#include "train/monitored/feed_fn_hook.h"

#include <memory>
#include <utility>

#include "graph/error.h"

namespace runnel {

FeedFnHook::FeedFnHook(std::function<std::vector<Feed>()> feed_fn) : feed_fn_(std::move(feed_fn)) {
  if (!feed_fn_) throw InvalidArgument("FeedFnHook was given an empty function: give one that returns feeds");
}

std::optional<SessionRunArgs> FeedFnHook::before_run(SessionRunContext&) {
  return SessionRunArgs{.feed_dict = feed_fn_()};
}

Hook feed_fn(std::function<std::vector<Feed>()> function) {
  return std::make_shared<FeedFnHook>(std::move(function));
}

}  // namespace runnel
