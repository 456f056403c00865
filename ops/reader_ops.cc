// Builders of readers, named as TensorFlow's Python names them.
#include "ops/reader_ops.h"

#include <utility>

#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

const char* name_of(Compression compression) {
  return compression == Compression::kZlib ? "ZLIB" : compression == Compression::kGzip ? "GZIP" : "";
}

void require_names(const QueueBase& queue, Location where) {
  if (queue.dtypes().size() == 1 && queue.dtypes()[0] == DType::kString &&
      (queue.shapes().empty() || queue.shapes()[0].compatible_with({})))
    return;
  throw InvalidArgument(
      cat("a reader takes names from a queue of single strings, which queue '", queue.name(), "' is not"),
      where);
}

KeyValue pair_of(const Node& node) { return {node.output(0), node.output(1)}; }

}  // namespace

KeyValue ReaderBase::read(const QueueBase& queue, OpOptions o) const {
  require_names(queue, o.where);
  return pair_of(ref_.graph().add("ReaderReadV2", {ref_, queue.queue_ref()}, {}, o.name, o.where));
}

KeyValue ReaderBase::read_up_to(const QueueBase& queue, const Operand& num_records, OpOptions o) const {
  require_names(queue, o.where);
  Graph& graph = ref_.graph();
  NameScope scope(graph, o.name.empty() ? "ReaderReadUpToV2" : o.name);
  const Output most = num_records.in(graph, DType::kInt64, "num_records");
  return pair_of(graph.add("ReaderReadUpToV2", {ref_, queue.queue_ref(), most}, {}, scope.name(), o.where));
}

Output ReaderBase::num_records_produced(OpOptions o) const {
  return ref_.graph().add("ReaderNumRecordsProducedV2", {ref_}, {}, o.name, o.where);
}

Output ReaderBase::num_work_units_completed(OpOptions o) const {
  return ref_.graph().add("ReaderNumWorkUnitsCompletedV2", {ref_}, {}, o.name, o.where);
}

Operation ReaderBase::reset(OpOptions o) const {
  return ref_.graph().add("ReaderResetV2", {ref_}, {}, o.name, o.where);
}

TextLineReader::TextLineReader(Graph& graph, TextLineReaderOptions o)
    : ReaderBase(graph.add("TextLineReaderV2", {},
                           {{"skip_header_lines", o.skip_header_lines}, {"shared_name", o.shared_name}},
                           o.name, o.where)) {}

FixedLengthRecordReader::FixedLengthRecordReader(Graph& graph, std::int64_t record_bytes,
                                                 FixedLengthRecordReaderOptions o)
    : ReaderBase(graph.add("FixedLengthRecordReaderV2", {},
                           {{"header_bytes", o.header_bytes},
                            {"record_bytes", record_bytes},
                            {"footer_bytes", o.footer_bytes},
                            {"hop_bytes", o.hop_bytes},
                            {"encoding", name_of(o.encoding)},
                            {"shared_name", o.shared_name}},
                           o.name, o.where)) {}

TFRecordReader::TFRecordReader(Graph& graph, TFRecordReaderOptions o)
    : ReaderBase(graph.add("TFRecordReaderV2", {},
                           {{"compression_type", name_of(o.compression)}, {"shared_name", o.shared_name}},
                           o.name, o.where)) {}

WholeFileReader::WholeFileReader(Graph& graph, ReaderOptions o)
    : ReaderBase(graph.add("WholeFileReaderV2", {}, {{"shared_name", o.shared_name}}, o.name, o.where)) {}

IdentityReader::IdentityReader(Graph& graph, ReaderOptions o)
    : ReaderBase(graph.add("IdentityReaderV2", {}, {{"shared_name", o.shared_name}}, o.name, o.where)) {}

}  // namespace runnel
