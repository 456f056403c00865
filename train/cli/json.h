// JSON text for what the command prints with --json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace runnel {

// Quoted and escaped. Bytes that are no UTF-8 become the character of the same number, so the text is always
// valid.
std::string json_text(std::string_view text);

// "[a, b]" of parts that are JSON already.
std::string json_list(const std::vector<std::string>& parts);

// A dimension that is not known is null, and so is a shape of unknown rank.
std::string json_shape(const Shape& shape);

// The elements from `first` on, at most `most`, each as JSON; none if they are of a type that C++ has no
// number for (plain_values.h).
std::vector<std::string> json_elements(const Tensor& tensor, std::int64_t first, std::int64_t most);

// The first elements, at most `most`; null for types that C++ has no number for. NaN and infinities are
// strings, since JSON has no such numbers.
std::string json_values(const Tensor& tensor, std::int64_t most);

}  // namespace runnel
