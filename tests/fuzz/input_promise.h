// What programs read as their input keeps its promise: Example messages, lines of CSV, and TFRecord files.
#pragma once

#include <string>
#include <vector>

#include "graph/example.h"
#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "graph/io/record_format.h"
#include "graph/io/tf_record.h"
#include "ops/ops.h"

namespace runnel {

// A graph that parses one string; run with each.
class ParsingGraph {
 public:
  using Build = std::vector<Output> (*)(Output text);
  explicit ParsingGraph(Build build)
      : text_(placeholder<std::string>(graph_, {1}, "text")),
        session_(graph_, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1}) {
    for (const Output& output : build(text_))
      calls_.push_back(session_.prepare({.feeds = {text_}, .fetches = {output}}));
  }
  // Each output is computed, or refused with InvalidArgument.
  bool holds(const std::string& bytes) {
    for (Prepared& call : calls_) try {
        call({Tensor::vector<std::string>({bytes})});
      } catch (const InvalidArgument&) {
        // It was refused.
      }
    return true;
  }

 private:
  Graph graph_;
  Output text_;
  Session session_;
  std::vector<Prepared> calls_;
};

// Ragged and sparse, by the op of TensorFlow 2.
inline std::vector<Output> parse_ragged(Output text) {
  Graph& graph = text.graph();
  const Output key = constant(graph, Tensor::vector<std::string>({"n"}));
  const Output none = constant(graph, Tensor(DType::kString, {0}));
  const Node& node = graph.add("ParseExampleV2", {text, none, key, none, key, Outputs()},
                               {{"num_sparse", 1},
                                {"sparse_types", std::vector<DType>{DType::kInt64}},
                                {"ragged_value_types", std::vector<DType>{DType::kInt64}},
                                {"ragged_split_types", std::vector<DType>{DType::kInt32}},
                                {"dense_shapes", std::vector<Shape>()}},
                               "parse", Location::here());
  return {sparse_tensor_to_dense({node.output(0), node.output(1), node.output(2)}), node.output(3),
          node.output(4)};
}

inline std::vector<Output> parse_features(Output text) {
  const ParsedFeatures a =
      parse_example(text, {{"x", FixedLenFeature{{2}, DType::kFloat, Tensor::vector<float>({0, 0})}},
                           {"n", VarLenFeature{DType::kInt64}}});
  const ParsedFeatures b = parse_example(text, {{"s", FixedLenSequenceFeature{{}, DType::kString}},
                                                {"n", FixedLenSequenceFeature{{2}, DType::kInt64}}});
  const ParsedFeatures c =
      parse_single_example(reshape(text, Shape{}),
                           {{"n", FixedLenFeature{{}, DType::kInt64}}, {"s", VarLenFeature{DType::kString}}});
  std::vector<Output> out = parse_ragged(text);
  out.insert(out.end(), {a["x"], a.sparse("n").values, b["s"], b["n"], c["n"], c.sparse("s").indices});
  return out;
}

inline std::vector<Output> parse_text(Output text) {
  const std::vector<Tensor> defaults{Tensor::scalar<std::int64_t>(1), Tensor::scalar(1.f),
                                     Tensor::scalar(1.0), Tensor::scalar("-")};
  return {decode_csv(text, defaults)[3],
          decode_csv(text, {defaults[3], defaults[3]}, {.use_quote_delim = false, .select_cols = {0, 2}})[1],
          string_to_number(text),
          string_to_number(text, {.out_type = DType::kInt32}),
          decode_raw(text, DType::kInt16),
          string_split(text, ",\n").values,
          string_split_v2(text, "", {.maxsplit = 2}).values};
}

inline bool example_holds(const std::string& bytes) {
  static ParsingGraph graph(parse_features);
  if (!graph.holds(bytes)) return false;
  const std::string again = Example::parse(bytes).serialize();  // bytes, since a value may be NaN
  return Example::parse(again).serialize() == again;
}

inline bool csv_holds(const std::string& bytes) {
  static ParsingGraph graph(parse_text);
  return graph.holds(bytes);
}

// What is read without an error is all that the file holds; an error says where it is.
inline bool records_hold(const std::string& bytes, Compression compression) {
  MemoryFileSystem files;
  files.open_for_writing("r", WriteMode::kTruncate)->append(bytes);
  TFRecordIterator records("r", {.compression = compression, .files = &files});
  std::string framed;
  try {
    while (const std::optional<std::string> record = records.next()) append_record(framed, *record);
  } catch (const DataLoss& error) {
    return error.message().starts_with("r: at byte ") || error.message().starts_with("r: after ");
  }
  return compression != Compression::kNone || framed == bytes;
}

inline bool record_files_hold(const std::string& bytes) {
  return records_hold(bytes, Compression::kNone) && records_hold(bytes, Compression::kZlib) &&
         records_hold(bytes, Compression::kGzip);
}

}  // namespace runnel
