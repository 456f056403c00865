// Which of some names another one was perhaps meant to be: for "did you mean" where a variable is not in a
// checkpoint.
#pragma once

#include <string>
#include <vector>

namespace runnel {

// The two of `among` that are nearest to `wanted`, nearest first: those a few edits away, those that differ
// in case alone, and those that are the same within another scope. May be empty. To stay quick, only the
// first 1,000 are looked at, and names of more than 100 bytes are near nothing.
std::vector<std::string> similar_names(const std::string& wanted, const std::vector<std::string>& among);

}  // namespace runnel
