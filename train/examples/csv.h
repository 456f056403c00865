// Reads a CSV of numbers with a header line, for the examples. Fields are plain numbers between commas;
// quotes are left out. A file is refused as a whole, with line and column, rather than read in part.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// Numbers by row: row i is values[i * names.size()] and on.
struct CsvTable {
  std::vector<std::string> names;
  std::vector<float> values;

  std::size_t rows() const { return names.empty() ? 0 : values.size() / names.size(); }
  float at(std::size_t row, std::size_t column) const { return values[row * names.size() + column]; }
  // All values of a column. Throws std::runtime_error that lists the columns if there is none of that name.
  std::vector<float> column(const std::string& name) const;
};

// Throws std::runtime_error with file, line and column for text that is no number, for gaps, NaN and
// infinities, for rows of another length, and for a file without rows.
CsvTable read_csv(const std::string& path);
