// A line of a batch file as arguments, split as a shell splits words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runnel {

// Blanks separate; '...' keeps everything, "..." everything but \" and \\ and a backslash keeps the next
// character; a word that begins with # ends the line. No variables, no patterns. Throws InvalidArgument for
// an open quote.
std::vector<std::string> split_words(std::string_view line);

}  // namespace runnel
