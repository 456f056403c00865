// Precompiled for the library's sources, to halve what a build from nothing costs: headers of the standard
// library alone. Every source still includes what it uses: the sanitized builds are made with -Db_pch=false.
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
