// Specs and builders of DecodeCSV, DecodeRaw and StringToNumber.
#include "ops/parsing_ops.h"

#include "graph/op_spec.h"

namespace runnel {
namespace {

const OpRegistration kDecodeCSV{{
    .name = "DecodeCSV",
    .inputs = {"records: string", "record_defaults: OUT_TYPE"},
    .outputs = {"output: OUT_TYPE"},
    .attrs = {"OUT_TYPE: list({float, double, int32, int64, string}) >= 1", "field_delim: string = ','",
              "use_quote_delim: bool = true", "na_value: string = ''", "select_cols: list(int) = []"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const int columns = c.count("record_defaults");
      for (int k = 0; k < columns; ++k) {
        const Shape given = c.input("record_defaults", k);
        if (given.rank() > 1 || (given.rank() == 1 && given[0] > 1))
          c.refuse(cat("default ", k, " is neither one value nor none"));
      }
      return std::vector<Shape>(static_cast<std::size_t>(columns), c.input("records"));
    },
    .gradient = Gradient::none("reads text"),
}};

const OpRegistration kDecodeRaw{{
    .name = "DecodeRaw",
    .inputs = {"bytes: string"},
    .outputs = {"output: out_type"},
    .attrs = {"out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, "
              "complex128, bool, bfloat16}",
              "little_endian: bool = true"},
    .shape = [](const ShapeContext& c) -> Shapes {
      Shape out = c.input("bytes");
      if (out.has_rank()) out.push_back(kUnknown);
      return out;
    },
    .gradient = Gradient::none("reads bytes"),
}};

const OpRegistration kStringToNumber{{
    .name = "StringToNumber",
    .inputs = {"string_tensor: string"},
    .outputs = {"output: out_type"},
    .attrs = {"out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT"},
    .shape = same_shape,
    .gradient = Gradient::none("reads text"),
}};

}  // namespace

Outputs decode_csv(Output records, const std::vector<Tensor>& record_defaults, DecodeCsvOptions o) {
  Graph& graph = records.graph();
  NameScope scope(graph, o.name.empty() ? "DecodeCSV" : o.name);
  Outputs defaults;
  for (const Tensor& value : record_defaults)
    defaults.push_back(
        constant(graph, value, {.name = cat("record_defaults_", defaults.size()), .where = o.where}));
  const Node& node = graph.add("DecodeCSV", {records, defaults},
                               {{"field_delim", o.field_delim},
                                {"use_quote_delim", o.use_quote_delim},
                                {"na_value", o.na_value},
                                {"select_cols", o.select_cols}},
                               scope.name(), o.where);
  Outputs columns;
  for (int i = 0; i < node.outputs(); ++i) columns.push_back(node.output(i));
  return columns;
}

Output decode_raw(Output bytes, DType out_type, DecodeRawOptions o) {
  return bytes.graph().add("DecodeRaw", {bytes}, {{"out_type", out_type}, {"little_endian", o.little_endian}},
                           o.name, o.where);
}

Output string_to_number(Output text, StringToNumberOptions o) {
  return text.graph().add("StringToNumber", {text}, {{"out_type", o.out_type}}, o.name, o.where);
}

}  // namespace runnel
