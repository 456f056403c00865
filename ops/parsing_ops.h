// Numbers out of text and bytes: lines of CSV files, binary records, decimal numbers. Features of Example
// messages are in example_ops.h. Leaves out DecodePaddedRaw, DecodeCompressed and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/operand.h"

namespace runnel {

struct DecodeCsvOptions {
  std::string field_delim = ",";
  bool use_quote_delim = true;                 // false: quotes are characters like any others
  std::string na_value = "";                   // a field of this text counts as empty
  std::vector<std::int64_t> select_cols = {};  // ascending; none: every column
  std::string name = "DecodeCSV";
  Location where = Location::here();
};

// The columns of lines of comma-separated values, as RFC 4180 has them: `a,"b, ""c""",d`. Blanks around
// numbers do not count, around strings they do.
//
//   records          string[...], a line each
//   record_defaults  one a column, which says the column's dtype: a value for empty fields (T[] or T[1]), or
//                    T[0] where a field must not be empty
//   returns          a tensor a column, T[...]
//   T                float, double, int32, int64, string
//   errors           InvalidArgument with record and field, from Session::run: too few or too many fields, an
//                    empty one without default, one that is no T, quotes that do not close; here for defaults
//                    of another shape
//   grad             none
//   source           TensorFlow "DecodeCSV", tf.decode_csv
Outputs decode_csv(Output records, const std::vector<Tensor>& record_defaults, DecodeCsvOptions options = {});

struct DecodeRawOptions {
  bool little_endian = true;
  std::string name = "DecodeRaw";
  Location where = Location::here();
};

// The bytes of strings as numbers.
//
//   bytes    string[...], all of one length, a multiple of the size of out_type
//   returns  out_type[..., length / size]
//   types    half, bfloat16, float, double, int8 to int64, uint8, uint16, complex64, complex128, bool (0 is
//            false)
//   errors   InvalidArgument for other lengths, from Session::run
//   grad     none
//   source   TensorFlow "DecodeRaw"
Output decode_raw(Output bytes, DType out_type, DecodeRawOptions options = {});

struct StringToNumberOptions {
  DType out_type = DType::kFloat;  // or double, int32, int64, uint32, uint64
  std::string name = "StringToNumber";
  Location where = Location::here();
};

// The numbers that strings spell, blanks around them aside. Floats also as "1e3", "0x1p3", "inf", "nan"; one
// that is too large is infinite.
//
//   text     string[...]
//   returns  out_type[...]
//   errors   InvalidArgument with the text, from Session::run
//   grad     none
//   source   TensorFlow "StringToNumber"
Output string_to_number(Output text, StringToNumberOptions options = {});

}  // namespace runnel
