// Readers: nodes that take file names from a queue and give one record of the files after another, whichever
// step asks. One class a kind of file, as in TensorFlow.
//
//   const FIFOQueue names = ...;                       // of strings, one a file
//   const TextLineReader reader(g, {.skip_header_lines = 1});
//   const KeyValue line = reader.read(names);
//   const Outputs columns = decode_csv(line.value, {Tensor::vector<float>({0})});
//
// A reader keeps its place in the session, not in the graph. Leaves out saving and restoring that place,
// which TensorFlow has for none of these readers, and the reader of LMDB files.
#pragma once

#include <cstdint>
#include <string>

#include "graph/dataflow.h"
#include "graph/io/compression.h"
#include "ops/operand.h"
#include "ops/queue_ops.h"

namespace runnel {

struct KeyValue {
  Output key;    // string: where the record is from
  Output value;  // string: the record
};

// What all readers can do. A small handle to a node; copies mean the same reader.
class ReaderBase {
 public:
  // The reader behind a handle that is in the graph already.
  explicit ReaderBase(Output handle) : ref_(handle) {}

  const Output& reader_ref() const { return ref_; }
  const std::string& name() const { return ref_.node().name(); }

  // The next record; when a file ends the next name is taken from the queue, which may wait. Steps that read
  // at once take turns.
  //
  //   queue    of single strings
  //   returns  key and value, string[]
  //   errors   InvalidArgument for a queue of something else; from Session::run
  //            OutOfRange when the queue is closed and empty; NotFound and the like for a file that cannot be
  //            opened, after which the next read goes on to the next file; DataLoss for a damaged file
  //   grad     none
  //   source   TensorFlow "ReaderReadV2"
  KeyValue read(const QueueBase& queue, OpOptions options = {}) const;

  // As many records as there are left in the file, at most `num_records`; at least one unless that is 0.
  //
  //   num_records  int64[], at least 0
  //   returns      keys and values, string[n]
  //   errors       as read
  //   grad         none
  //   source       TensorFlow "ReaderReadUpToV2"
  KeyValue read_up_to(const QueueBase& queue, const Operand& num_records, OpOptions options = {}) const;

  // Records so far: int64[].  source: TensorFlow "ReaderNumRecordsProducedV2"
  Output num_records_produced(OpOptions options = {}) const;
  // Files read to their end so far: int64[].  source: TensorFlow "ReaderNumWorkUnitsCompletedV2"
  Output num_work_units_completed(OpOptions options = {}) const;
  // Leaves the file that is being read; counts from 0 again.  source: TensorFlow "ReaderResetV2"
  Operation reset(OpOptions options = {}) const;

 private:
  Output ref_;
};

struct TextLineReaderOptions {
  std::int64_t skip_header_lines = 0;  // of each file
  std::string shared_name = "";        // readers of one shared_name are one reader
  std::string name = "TextLineReaderV2";
  Location where = Location::here();
};

// The lines of text files, without their ends; keys are FILE:LINE, counted from 1.
//
//   errors   ResourceExhausted for a line of more than 256 MiB
//   source   TensorFlow "TextLineReaderV2"
class TextLineReader : public ReaderBase {
 public:
  explicit TextLineReader(Graph& graph, TextLineReaderOptions options = {});
};

struct FixedLengthRecordReaderOptions {
  std::int64_t header_bytes = 0;  // at the start of a file, and
  std::int64_t footer_bytes = 0;  // at its end, which belong to no record
  std::int64_t hop_bytes = 0;     // from one record to the next; 0: record_bytes
  Compression encoding = Compression::kNone;
  std::string shared_name = "";
  std::string name = "FixedLengthRecordReaderV2";
  Location where = Location::here();
};

// Records of `record_bytes` each; keys are FILE:RECORD, counted from 0. What is left at the end of a file is
// no record.
//
//   source   TensorFlow "FixedLengthRecordReaderV2"
class FixedLengthRecordReader : public ReaderBase {
 public:
  FixedLengthRecordReader(Graph& graph, std::int64_t record_bytes,
                          FixedLengthRecordReaderOptions options = {});
};

struct TFRecordReaderOptions {
  Compression compression = Compression::kNone;
  std::string shared_name = "";
  std::string name = "TFRecordReaderV2";
  Location where = Location::here();
};

// The records of TFRecord files (graph/io/tf_record.h); keys are FILE:BYTE, where the record begins.
//
//   source   TensorFlow "TFRecordReaderV2"
class TFRecordReader : public ReaderBase {
 public:
  explicit TFRecordReader(Graph& graph, TFRecordReaderOptions options = {});
};

struct ReaderOptions {
  std::string shared_name = "";
  std::string name = "";
  Location where = Location::here();
};

// Each file as one record; keys are the names.  source: TensorFlow "WholeFileReaderV2"
class WholeFileReader : public ReaderBase {
 public:
  explicit WholeFileReader(Graph& graph, ReaderOptions options = {});
};

// The queue's strings themselves, as keys and values.  source: TensorFlow "IdentityReaderV2"
class IdentityReader : public ReaderBase {
 public:
  explicit IdentityReader(Graph& graph, ReaderOptions options = {});
};

}  // namespace runnel
