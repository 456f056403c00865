// The largest of many distances, for tests that bound it. std::max would drop a NaN, and a kernel that gives
// NaN for a number would pass.
#pragma once

#include <cmath>

namespace runnel {

// The larger of the two; NaN if one of them is.
inline double larger_gap(double worst, double gap) { return std::isnan(gap) || gap > worst ? gap : worst; }

}  // namespace runnel
