// How initial values that depend on other variables are made safe: in a copy of their graph each variable is
// replaced by its initialised value. As TensorFlow does it (behaviours 3.4), but for resource variables too,
// and with the dependency's own initial value made safe as well. Internal to the library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/node.h"

namespace runnel {

// `value`, or a copy of its graph without bare reads of variables. `scope` is the new variable's scope
// ("b/"): the copy of node `mul` is `mul_b`. What can not be replaced (a variable in no collection, a loop)
// stays as it is.
Output safe_initial_value(Output value, const std::string& scope);

// The same with reads of variables replaced by what `read` gives, which may be empty for "leave it".
Output with_reads_replaced(Output value, const std::string& scope,
                           const std::function<Output(const Variable&, Location)>& read);

// The variables that `value` reads without asking first whether they are initialised.
std::vector<Variable> bare_variables(Output value);

}  // namespace runnel
