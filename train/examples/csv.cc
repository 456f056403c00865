// One pass over the file, line by line.
#include "train/examples/csv.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace {

constexpr std::size_t kLongestLine = 1 << 20;                // a file without line ends is no table
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8, as spreadsheets write it

// The next line without its end, which is \n, \r\n or, from old machines, \r alone. False at the file's end.
// One that is too long is cut one character above the limit.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  for (char c; line.size() <= kLongestLine && in.get(c); line.push_back(c)) {
    if (c == '\r' && in.peek() == '\n') in.get(c);
    if (c == '\n' || c == '\r') return true;
  }
  return !line.empty();
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse(const std::string& path, std::size_t line, const std::string& why) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + why);
}

// Without blanks and one pair of quotes around it.
std::string_view content(std::string_view field, const std::string& path, std::size_t line) {
  field = trimmed(field);
  if (field.size() > 1 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2));
  if (field.find('"') != std::string_view::npos)
    refuse(path, line,
           "a quoted field holds a quote or a comma, which these examples cannot read; write it without");
  return field;
}

float number(std::string_view field, const std::string& path, std::size_t line, const std::string& column) {
  const std::string holds = "column '" + column + "' holds '" + std::string(field.substr(0, 40)) + "'";
  if (field.empty()) refuse(path, line, "column '" + column + "' is empty; fill the gap or drop the row");
  std::string_view digits = field;  // from_chars takes no plus
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  float value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range)
    refuse(path, line, holds + ", which is out of float's range, 1e-45 to 3.4e38; scale the column");
  if (error != std::errc() || end != digits.data() + digits.size())
    refuse(path, line, holds + ", which is no number; correct it or drop the row");
  if (!std::isfinite(value))
    refuse(path, line, holds + "; only finite numbers can be learnt from; drop the row");
  return value;
}

std::vector<std::string> header(const std::string& text, const std::string& path, std::size_t line) {
  std::vector<std::string> names;
  for (const std::string_view field : split(text)) {
    const std::string name(content(field, path, line));
    if (std::find(names.begin(), names.end(), name) != names.end())
      refuse(path, line, "two columns are called '" + name + "'; rename one");
    names.push_back(name);
  }
  return names;
}

void add_row(CsvTable& table, const std::string& text, std::size_t line) {
  const std::vector<std::string_view> fields = split(text);
  if (fields.size() != table.names.size())
    refuse(table.path, line,
           std::to_string(fields.size()) + " fields where the header names " +
               std::to_string(table.names.size()));
  for (std::size_t c = 0; c < fields.size(); ++c)
    table.values.push_back(number(content(fields[c], table.path, line), table.path, line, table.names[c]));
  table.lines.push_back(line);
}

}  // namespace

std::string CsvTable::place_of(std::size_t row) const { return path + ":" + std::to_string(lines[row]); }

std::vector<float> CsvTable::column(const std::string& name) const {
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c] != name) continue;
    std::vector<float> out;
    for (std::size_t r = 0; r < rows(); ++r) out.push_back(at(r, c));
    return out;
  }
  std::string listed;
  for (const std::string& other : names) listed += (listed.empty() ? "" : ", ") + other;
  throw std::runtime_error(path + " has no column '" + name + "'; the columns are: " + listed);
}

CsvTable read_csv(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + " cannot be read: " + std::strerror(errno));
  CsvTable table;
  table.path = path;
  std::string line;
  for (std::size_t number_of_line = 1; next_line(in, line); ++number_of_line) {
    if (line.size() > kLongestLine)
      refuse(path, number_of_line, "the line is over a megabyte; is this a CSV?");
    if (number_of_line == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (trimmed(line).empty()) continue;
    if (table.names.empty()) {
      table.names = header(line, path, number_of_line);
    } else {
      add_row(table, line, number_of_line);
    }
  }
  if (in.bad()) throw std::runtime_error(path + " could not be read to its end: " + std::strerror(errno));
  if (table.rows() == 0) throw std::runtime_error(path + " has no rows below its header line");
  return table;
}
