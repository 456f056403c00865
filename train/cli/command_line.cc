// One pass with the state of a shell's word: between words, in one, or in quotes.
#include "train/cli/command_line.h"

#include "graph/graph.h"

namespace runnel {
namespace {

// Takes quoted text from the front, after its opening quote, up to and with its closing one.
std::string take_quoted(std::string_view& line, char quote) {
  std::string out;
  while (!line.empty() && line.front() != quote) {
    if (quote == '"' && line.size() > 1 && line.front() == '\\' && (line[1] == '"' || line[1] == '\\'))
      line.remove_prefix(1);
    out += line.front();
    line.remove_prefix(1);
  }
  if (line.empty()) throw InvalidArgument(cat("a quote ", quote, " is not closed"));
  line.remove_prefix(1);
  return out;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string take_word(std::string_view& line) {
  std::string out;
  while (!line.empty() && !is_blank(line.front())) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c == '\'' || c == '"') {
      out += take_quoted(line, c);
    } else if (c == '\\' && !line.empty()) {
      out += line.front();
      line.remove_prefix(1);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') return words;
    words.push_back(take_word(line));
  }
}

}  // namespace runnel
