// What runs at the end must not take from the input, which may be exhausted by then: said in a warning, since
// the OutOfRange that follows looks like a normal end.
#include "train/monitored/final_ops_hook.h"

#include <memory>

#include "graph/error.h"
#include "graph/log.h"

namespace runnel {

FinalOpsHook::FinalOpsHook(std::vector<FinalOp> final_ops, std::vector<Feed> final_ops_feed_dict)
    : final_ops_(std::move(final_ops)), feeds_(std::move(final_ops_feed_dict)) {}

void FinalOpsHook::begin(Graph&) { values_.clear(); }

void FinalOpsHook::end(Session& session) {
  if (final_ops_.empty()) return;
  std::vector<Fetch> fetches;
  for (const FinalOp& op : final_ops_) fetches.push_back(op.fetch);
  try {
    values_ = session.run(std::span<const Fetch>(fetches), std::span<const Feed>(feeds_));
  } catch (const OutOfRange& error) {
    log_warning(cat("FinalOpsHook: the final ops ended with OutOfRange (", error.what(),
                    "), so something that they need reads the input, which is exhausted at the end: fetch "
                    "what only reads variables, of a metric the value and not the update"));
    throw;
  }
}

const Tensor& FinalOpsHook::final_ops_value(std::string_view name) const {
  for (std::size_t i = 0; i < final_ops_.size(); ++i) {
    if (final_ops_[i].name != name) continue;
    if (values_.empty())
      throw FailedPrecondition(
          cat("FinalOpsHook has no value of '", name, "' yet: it is there after the session's normal end"));
    return values_[i];
  }
  throw NotFound(cat("FinalOpsHook has no op named '", name, "': give it as {\"", name, "\", op}"));
}

Hook final_ops(std::vector<FinalOp> ops, std::vector<Feed> final_ops_feed_dict) {
  return std::make_shared<FinalOpsHook>(std::move(ops), std::move(final_ops_feed_dict));
}

}  // namespace runnel
