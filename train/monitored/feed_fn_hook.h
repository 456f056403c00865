// Feeds every run with what a function gives. Source: tf.train.FeedFnHook (behaviours 15).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train/monitored/hook.h"

namespace runnel {

class FeedFnHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for an empty function.
  explicit FeedFnHook(std::function<std::vector<Feed>()> feed_fn);

  std::string name() const override { return "FeedFnHook"; }
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;

 private:
  std::function<std::vector<Feed>()> feed_fn_;
};

Hook feed_fn(std::function<std::vector<Feed>()> feed_fn);

}  // namespace runnel
