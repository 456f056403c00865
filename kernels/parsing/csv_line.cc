// Character by character; a line is in memory already, so nothing here can grow beyond it.
#include "kernels/parsing/csv_line.h"

#include <algorithm>

#include "graph/error.h"

namespace runnel {

std::size_t CsvRule::plain(std::string_view line, std::size_t at, std::string& field) const {
  const std::size_t end = std::min(line.find(delimiter, at), line.size());
  field.assign(line.substr(at, end - at));
  if (field.find_first_of("\r\n") != std::string::npos)
    throw InvalidArgument("a line ends within a field that has no quotes around it");
  if (quotes && field.find('"') != std::string::npos)
    throw InvalidArgument(
        "a quote stands in a field that has none around it; use_quote_delim = false takes it");
  return end + 1;
}

std::size_t CsvRule::quoted(std::string_view line, std::size_t at, std::string& field) const {
  for (;;) {
    const std::size_t quote = line.find('"', at);
    if (quote == std::string_view::npos) throw InvalidArgument("its quotes do not close");
    field.append(line.substr(at, quote - at));
    const bool last = quote + 1 == line.size();
    if (last || line[quote + 1] == delimiter) return quote + 2;
    if (line[quote + 1] != '"')
      throw InvalidArgument("a quote within quotes is written twice, and a delimiter follows the last one");
    field += '"';
    at = quote + 2;
  }
}

void CsvRule::split(std::string_view line, std::vector<std::string>& fields) const {
  fields.clear();
  std::int64_t column = 0;
  const auto wanted = [&] { return columns.empty() || columns[fields.size()] == column; };
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\n' || line[at] == '\r') {
      ++at;
      continue;
    }
    std::string field;
    try {
      at = quotes && line[at] == '"' ? quoted(line, at + 1, field) : plain(line, at, field);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(cat("field ", column, ": ", error.message()));
    }
    if (wanted()) fields.push_back(std::move(field));
    ++column;
    if (!columns.empty() && fields.size() == columns.size()) return;
  }
  if (!line.empty() && line.back() == delimiter && wanted()) fields.emplace_back();  // an empty last one
}

}  // namespace runnel
