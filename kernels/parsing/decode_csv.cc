// DecodeCSV: each record is split, then each column takes its field.
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/input_name.h"
#include "graph/kernel.h"
#include "kernels/parsing/csv_line.h"
#include "kernels/string/number.h"

namespace runnel {
namespace {

// Puts a field into its column. Throws InvalidArgument that says what is wrong with the field.
using Column = std::function<void(Context&, std::int64_t record, std::string& field)>;

template <class T>
Column column_of(const Bind& b, int k, const std::string& na_value) {
  const bool has_default = b.input("record_defaults", k).shape.elements() > 0;
  return [=, other = b.in<T>("record_defaults", k), out = b.out<T>("output", k)](
             Context& c, std::int64_t record, std::string& field) {
    if (field.empty() || field == na_value) {
      if (!has_default) throw InvalidArgument("is empty and has no default");
      c[out][record] = c[other][0];
    } else if constexpr (std::is_same_v<T, std::string>) {
      c[out][record] = std::move(field);
    } else {
      const std::optional<T> number = number_of<T>(field);
      if (!number) throw InvalidArgument(cat(shown(field), " is no ", dtype_of<T>()));
      c[out][record] = *number;
    }
  };
}

Column column(const Bind& b, int k, const std::string& na_value) {
  switch (b.output("output", k).dtype) {
    case DType::kFloat: return column_of<float>(b, k, na_value);
    case DType::kDouble: return column_of<double>(b, k, na_value);
    case DType::kInt32: return column_of<std::int32_t>(b, k, na_value);
    case DType::kInt64: return column_of<std::int64_t>(b, k, na_value);
    default: return column_of<std::string>(b, k, na_value);
  }
}

CsvRule rule_of(const Bind& b) {
  const std::string& delimiter = b.node().bytes("field_delim");
  const std::vector<std::int64_t>& columns = b.node().integers("select_cols");
  if (delimiter.size() != 1)
    throw InvalidArgument(cat("field_delim is ", shown(delimiter), ", not one character"));
  if (!columns.empty() && columns.size() != static_cast<std::size_t>(b.count("record_defaults")))
    throw InvalidArgument(cat(columns.size(), " select_cols for ", b.count("record_defaults"), " defaults"));
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i] < 0 || (i > 0 && columns[i] <= columns[i - 1]))
      throw InvalidArgument(cat("select_cols must ascend from 0 or more: ", columns[i], " stands at ", i));
  return {delimiter[0], b.flag("use_quote_delim"), columns};
}

const KernelRegistration kDecodeCSV{
    "DecodeCSV", any, [](Bind& b) {
      std::vector<Column> columns;
      for (int k = 0; k < b.count("record_defaults"); ++k)
        columns.push_back(column(b, k, b.node().bytes("na_value")));
      b.run([columns, rule = rule_of(b), n = b.input("records").shape.elements(),
             records = b.in<std::string>("records")](Context& c) {
        std::vector<std::string> fields;
        for (std::int64_t i = 0; i < n; ++i) {
          std::size_t k = 0;
          bool split = false;
          try {
            rule.split(c[records][i], fields);
            if (fields.size() != columns.size())
              throw InvalidArgument(cat(fields.size(), rule.columns.empty() ? "" : " of the selected",
                                        " fields, not ", columns.size()));
            for (split = true; k < columns.size(); ++k) columns[k](c, i, fields[k]);
          } catch (const InvalidArgument& error) {
            const auto place = rule.columns.empty() ? static_cast<std::int64_t>(k) : rule.columns[k];
            throw InvalidArgument(split ? cat("record ", i, ", field ", place, ": ", error.message())
                                        : cat("record ", i, ": ", error.message()));
          }
        }
      });
    }};

}  // namespace
}  // namespace runnel
