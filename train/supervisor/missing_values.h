// Variables that a restore left without a value: a Saver of some variables, or a partial restore. Their
// initializers are run, and those of no others.
#pragma once

#include "graph/runtime/session.h"

namespace runnel {

// Initialises every variable of the collection `variables` that has no value, each after those that its
// initial value reads, and logs their names. One without an initializer is left.
void initialize_missing_values(Session& session);

}  // namespace runnel
