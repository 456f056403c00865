// Reads a CSV of numbers with a header line, for the examples. Fields are plain numbers between commas,
// quoted or not; quotes and commas within a field are left out. A file is refused as a whole, with line and
// column, rather than read in part.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// Numbers by row: row i is values[i * names.size()] and on.
struct CsvTable {
  std::string path;
  std::vector<std::string> names;
  std::vector<float> values;
  std::vector<std::size_t> lines;  // of the file, where each row stands, from 1

  std::size_t rows() const { return names.empty() ? 0 : values.size() / names.size(); }
  float at(std::size_t row, std::size_t column) const { return values[row * names.size() + column]; }
  std::string place_of(std::size_t row) const;  // "a.csv:12"
  // All values of a column. Throws std::runtime_error that lists the columns if there is none of that name.
  std::vector<float> column(const std::string& name) const;
};

// Throws std::runtime_error with file, line and column for text that is no number, for gaps, NaN and
// infinities, for two columns of one name, for rows of another length, and for a file without rows.
CsvTable read_csv(const std::string& path);
