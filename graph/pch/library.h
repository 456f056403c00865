// Precompiled for the library's sources, to halve what a build from nothing costs: the standard library, and
// of our own headers those that nearly all of them include. Every source still includes what it uses: the
// sanitized builds are made with -Db_pch=false.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/kernel.h"
#include "graph/op_spec.h"
#include "graph/tensor.h"
