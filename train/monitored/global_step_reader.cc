// Steps are int64, or int32 in graphs that say so.
#include "train/monitored/global_step_reader.h"

#include "ops/global_step.h"

namespace runnel {
namespace {

std::int64_t number_of(const Tensor& step) {
  return step.dtype() == DType::kInt64 ? step.scalar<std::int64_t>() : integers(step).front();
}

}  // namespace

GlobalStepReader::GlobalStepReader(const Graph& graph, const std::string& hook)
    : step_(get_global_step(graph)) {
  if (!step_)
    throw FailedPrecondition(
        cat(hook, " needs a global step and the graph has none: call get_or_create_global_step(graph) and ",
            "give the variable to minimize as .global_step"));
  in_run_ = !step_.parts().is_resource;
}

std::int64_t GlobalStepReader::now(Session& session) const { return number_of(session.run(step_.value())); }

std::vector<Fetch> GlobalStepReader::fetches() const {
  return in_run_ ? std::vector<Fetch>{step_.value()} : std::vector<Fetch>{};
}

std::int64_t GlobalStepReader::after(SessionRunContext& context, const SessionRunValues& values) const {
  return in_run_ ? number_of(values.results.front()) : now(context.session());
}

}  // namespace runnel
