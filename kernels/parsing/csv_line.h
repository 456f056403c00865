// How a line of comma-separated values falls into fields. Source: RFC 4180, and what TensorFlow's DecodeCSV
// takes, tried out: line ends before a field are passed over, a field in quotes may hold them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runnel {

// Immutable once made.
struct CsvRule {
  char delimiter = ',';
  bool quotes = true;
  std::vector<std::int64_t> columns = {};  // ascending; none: all

  // The fields of the wanted columns, in `fields`. Throws InvalidArgument with the column.
  void split(std::string_view line, std::vector<std::string>& fields) const;

 private:
  // These add a field that starts at `at` to `field` and return the place behind its delimiter.
  std::size_t plain(std::string_view line, std::size_t at, std::string& field) const;
  std::size_t quoted(std::string_view line, std::size_t at, std::string& field) const;
};

}  // namespace runnel
