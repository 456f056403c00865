// See global_step_reader.h.
#include "train/monitored/global_step_reader.h"

#include "ops/global_step.h"
#include "train/checkpoint/step_number.h"

namespace runnel {

GlobalStepReader::GlobalStepReader(const Graph& graph, const std::string& hook)
    : step_(get_global_step(graph)) {
  if (!step_)
    throw FailedPrecondition(
        cat(hook, " needs a global step and the graph has none: call get_or_create_global_step(graph) and ",
            "give the variable to minimize as .global_step"));
  in_run_ = !step_.parts().is_resource;
}

std::int64_t GlobalStepReader::now(Session& session) const {
  return step_number(session.run(step_.value()), step_.name());
}

std::vector<Fetch> GlobalStepReader::fetches() const {
  return in_run_ ? std::vector<Fetch>{step_.value()} : std::vector<Fetch>{};
}

std::int64_t GlobalStepReader::after(SessionRunContext& context, const SessionRunValues& values) const {
  return in_run_ ? step_number(values.results.front(), step_.name()) : now(context.session());
}

}  // namespace runnel
