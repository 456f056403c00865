// How often this process has come out of a fork: what was made under another count belongs to the parent,
// whose threads are not here and whose locks may be held for ever.
#pragma once

namespace runnel {

// Costs no system call.
unsigned fork_count();

}  // namespace runnel
