// A run as a picture of its threads: the JSON that chrome://tracing and ui.perfetto.dev open.
#pragma once

#include <string>

#include "graph/runtime/run_metadata.h"

namespace runnel {

// A process a device, a lane a thread; an event a kernel, of category "Op", named by its op, with node,
// inputs and memory; and one event "step" around them. Times count from the start of the step.
std::string chrome_trace(const RunMetadata& metadata);

}  // namespace runnel
