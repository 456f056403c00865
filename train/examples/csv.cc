// One pass over the file, line by line.
#include "train/examples/csv.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace {

constexpr std::size_t kLongestLine = 1 << 20;  // a file without line ends is no table

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
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse(const std::string& path, std::size_t line, const std::string& why) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + why);
}

float number(std::string_view field, const std::string& path, std::size_t line, const std::string& column) {
  field = trimmed(field);
  if (field.empty()) refuse(path, line, "column '" + column + "' is empty; fill the gap or drop the row");
  float value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size())
    refuse(path, line,
           "column '" + column + "' holds '" + std::string(field.substr(0, 40)) + "', which is no number");
  if (!std::isfinite(value))
    refuse(
        path, line,
        "column '" + column + "' holds " + std::string(field) + "; only finite numbers can be learnt from");
  return value;
}

}  // namespace

std::vector<float> CsvTable::column(const std::string& name) const {
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c] != name) continue;
    std::vector<float> out;
    for (std::size_t r = 0; r < rows(); ++r) out.push_back(at(r, c));
    return out;
  }
  std::string listed;
  for (const std::string& other : names) listed += (listed.empty() ? "" : ", ") + other;
  throw std::runtime_error("there is no column '" + name + "'; the columns are: " + listed);
}

CsvTable read_csv(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + " cannot be read: " + std::strerror(errno));
  CsvTable table;
  std::string line;
  for (std::size_t number_of_line = 1; std::getline(in, line); ++number_of_line) {
    if (line.size() > kLongestLine)
      refuse(path, number_of_line, "the line is over a megabyte; is this a CSV?");
    if (trimmed(line).empty()) continue;
    const std::vector<std::string_view> fields = split(line);
    if (table.names.empty()) {
      for (const std::string_view field : fields) table.names.emplace_back(trimmed(field));
      continue;
    }
    if (fields.size() != table.names.size())
      refuse(path, number_of_line,
             std::to_string(fields.size()) + " fields where the header names " +
                 std::to_string(table.names.size()));
    for (std::size_t c = 0; c < fields.size(); ++c)
      table.values.push_back(number(fields[c], path, number_of_line, table.names[c]));
  }
  if (in.bad()) throw std::runtime_error(path + " could not be read to its end: " + std::strerror(errno));
  if (table.rows() == 0) throw std::runtime_error(path + " has no rows below its header line");
  return table;
}
