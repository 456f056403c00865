// What each reader makes of a file: records, keys, ends and damage.
#include "ops/reader_ops.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/io/record_format.h"
#include "reader_probe.h"

using namespace runnel;

TEST_CASE("lines lose their ends and have keys FILE:LINE") {
  ReaderProbe p;
  p.file("a", "one\r\ntwo\rx\n\nlast");
  p.file("empty", "");
  p.file("b", "\n");
  p.queue({"a", "empty", "b"});
  const TextLineReader reader(p.g);
  CHECK(p.all(reader) ==
        Records{{"a:1", "one"}, {"a:2", "two\rx"}, {"a:3", ""}, {"a:4", "last"}, {"b:1", ""}});
}

TEST_CASE("a lone carriage return behind the last line end is no line") {
  ReaderProbe p;
  p.file("a", "one\r\n\r");
  p.file("b", "\r");
  p.file("c", "\r\r");
  p.file("d", "two\r");
  p.queue({"a", "b", "c", "d"});
  CHECK(p.all(TextLineReader(p.g)) == Records{{"a:1", "one"}, {"c:1", "\r"}, {"d:1", "two"}});
}

TEST_CASE("fewer than no header lines are refused") {
  ReaderProbe p;
  p.queue({"a"});
  const KeyValue line = TextLineReader(p.g, {.skip_header_lines = -1, .name = "r"}).read(p.names);
  Session session(p.g);
  CHECK_THROWS_WITH_AS(session.run(line.value),
                       "TextLineReaderV2 'r': skip_header_lines is -1, and must be at least 0",
                       InvalidArgument);
}

TEST_CASE("header lines of every file are passed over, and counted in keys") {
  ReaderProbe p;
  p.file("a", "h\n1\n2\n");
  p.file("short", "h");
  p.queue({"a", "short", "a"});
  CHECK(p.all(TextLineReader(p.g, {.skip_header_lines = 1})) ==
        Records{{"a:2", "1"}, {"a:3", "2"}, {"a:2", "1"}, {"a:3", "2"}});
}

TEST_CASE("records of one length lie between header and footer, a hop apart") {
  ReaderProbe p;
  p.file("a", "HHabcdefgFF");
  const auto read = [&p](FixedLengthRecordReaderOptions options) {
    p.queue({"a"}, false);
    const FixedLengthRecordReader reader(p.g, 2, options);
    const Records all = p.batch(reader.read_up_to(p.names, 100));
    std::string text;
    for (const auto& [key, value] : all) text += cat(key.substr(2), value, " ");
    return text;
  };
  CHECK(read({.header_bytes = 2, .footer_bytes = 2}) == "0ab 1cd 2ef ");
  CHECK(read({.header_bytes = 2, .footer_bytes = 2, .hop_bytes = 1}) == "0ab 1bc 2cd 3de 4ef 5fg ");
  CHECK(read({.hop_bytes = 3}) == "0HH 1bc 2ef 3FF ");
  CHECK(read({.footer_bytes = 1, .hop_bytes = 3}) == "0HH 1bc 2ef ");
}

TEST_CASE("records of one length are read from compressed files, too, and refused in others") {
  ReaderProbe p;
  {
    TFRecordWriter writer("z", {.compression = Compression::kZlib, .files = &p.files});
    writer.write("ab");  // 12 bytes before the record, 4 behind it
    writer.close();
  }
  p.file("plain", "abcd");
  p.queue({"z", "plain"});
  const KeyValue record =
      FixedLengthRecordReader(p.g, 2, {.header_bytes = 12, .footer_bytes = 4, .encoding = Compression::kZlib})
          .read(p.names);
  CHECK(p.one(record) == std::pair<std::string, std::string>("z:0", "ab"));
  CHECK(p.refusal(record.value).find("plain: after 2 compressed bytes the bytes are damaged, or not ZLIB") !=
        std::string::npos);
}

TEST_CASE("lengths that no record has are refused") {
  ReaderProbe p;
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
    const KeyValue record = FixedLengthRecordReader(p.g, bytes).read(p.names);
    CHECK(p.refusal(record.key).find(cat("record_bytes is ", bytes, ", and must be at least 1")) !=
          std::string::npos);
  }
}

TEST_CASE("records of TFRecord files have keys FILE:BYTE") {
  for (const Compression compression : {Compression::kNone, Compression::kZlib, Compression::kGzip}) {
    ReaderProbe p;
    TFRecordWriter writer("r", {.compression = compression, .files = &p.files});
    for (const char* record : {"one", "", "three"}) writer.write(record);
    writer.close();
    p.queue({"r", "r"});
    const Records once{{"r:0", "one"}, {"r:19", ""}, {"r:35", "three"}};
    Records twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    CHECK(p.all(TFRecordReader(p.g, {.compression = compression})) == twice);
  }
}

TEST_CASE("a damaged TFRecord is DataLoss at each read") {
  ReaderProbe p;
  std::string bytes;
  append_record(bytes, "one");
  append_record(bytes, "two");
  p.file("r", bytes.substr(0, bytes.size() - 1));
  p.queue({"r", "r"});
  const KeyValue record = TFRecordReader(p.g).read(p.names);
  CHECK(p.one(record).second == "one");
  for (int i = 0; i < 2; ++i)
    CHECK(p.refusal(record.value) ==
          "DataLoss: ReaderReadV2 'ReaderReadV2': r: at byte 19 the file ends within a record");
}

TEST_CASE("whole files are records, and so are names") {
  ReaderProbe p;
  p.file("a", "one\ntwo");
  p.file("empty", "");
  p.queue({"a", "empty"}, false);
  const WholeFileReader whole(p.g);
  const KeyValue record = whole.read(p.names);
  CHECK(p.one(record) == std::pair<std::string, std::string>("a", "one\ntwo"));
  CHECK(p.one(record) == std::pair<std::string, std::string>("empty", ""));
  CHECK(p.session.run(whole.num_work_units_completed()) == Tensor::scalar<std::int64_t>(2));
  p.queue({"x", "y"});
  CHECK(p.all(IdentityReader(p.g)) == Records{{"x", "x"}, {"y", "y"}});
}

TEST_CASE("a batch ends with the file") {
  ReaderProbe p;
  p.file("a", "1\n2\n3\n");
  p.file("b", "4\n");
  p.queue({"a", "b"});
  const TextLineReader reader(p.g);
  const Output files = reader.num_work_units_completed(), lines = reader.num_records_produced();
  const KeyValue two = reader.read_up_to(p.names, 2);
  CHECK(p.batch(two) == Records{{"a:1", "1"}, {"a:2", "2"}});
  CHECK(p.session.run(files) == Tensor::scalar<std::int64_t>(0));
  CHECK(p.batch(two) == Records{{"a:3", "3"}});
  CHECK(p.session.run(files) == Tensor::scalar<std::int64_t>(1));
  CHECK(p.batch(reader.read_up_to(p.names, 0)).empty());
  CHECK(p.batch(two) == Records{{"b:1", "4"}});
  CHECK(p.session.run(lines) == Tensor::scalar<std::int64_t>(4));
  CHECK(p.refusal(reader.read_up_to(p.names, -1).key).find("num_records is -1") != std::string::npos);
  CHECK(p.refusal(two.key).starts_with("OutOfRange: ReaderReadUpToV2 'ReaderReadUpToV2': FIFOQueue 'names'"));
}

TEST_CASE("after a file that is not there the next one is read") {
  ReaderProbe p;
  p.file("a", "1\n");
  p.queue({"none", "a"});
  const KeyValue line = TextLineReader(p.g).read(p.names);
  CHECK(p.refusal(line.value).starts_with("NotFound: ReaderReadV2 'ReaderReadV2': "));
  CHECK(p.one(line).first == "a:1");
}

TEST_CASE("a reset leaves the file and counts from 0") {
  ReaderProbe p;
  p.file("a", "1\n2\n");
  p.file("b", "3\n");
  p.queue({"a", "b"});
  const TextLineReader reader(p.g);
  const KeyValue line = reader.read(p.names);
  CHECK(p.one(line).second == "1");
  p.session.run(reader.reset());
  CHECK(p.session.run(reader.num_records_produced()) == Tensor::scalar<std::int64_t>(0));
  CHECK(p.one(line).second == "3");
}

TEST_CASE("readers of one shared_name are one reader") {
  ReaderProbe p;
  p.file("a", "1\n2\n");
  p.queue({"a"});
  const KeyValue first = TextLineReader(p.g, {.shared_name = "r"}).read(p.names);
  const KeyValue second = TextLineReader(p.g, {.shared_name = "r"}).read(p.names);
  CHECK(p.one(first).second == "1");
  CHECK(p.one(second).second == "2");
}

TEST_CASE("names come from queues of single strings, and records from readers") {
  ReaderProbe p;
  const FIFOQueue numbers(p.g, 3, {DType::kInt32});
  const TextLineReader reader(p.g);
  const Node& read = p.g.add("ReaderReadV2", {reader.reader_ref(), numbers.queue_ref()});
  CHECK(p.refusal(read.output(0)).find("takes names from a queue of single strings") != std::string::npos);
  CHECK(p.refusal(ReaderBase(p.names.queue_ref()).read(p.names).key).find("makes no reader") !=
        std::string::npos);
}

TEST_CASE("the readers of old graphs read, too") {
  ReaderProbe p;
  const Output queue = p.g.add("FIFOQueue", {}, {{"component_types", std::vector<DType>{DType::kString}}});
  const Output name = constant(p.g, Tensor::scalar("a"));
  const Operation put = p.g.add("QueueEnqueue", {queue, Outputs{name}});
  const Output reader = p.g.add("TextLineReader", {});
  const Node& read = p.g.add("ReaderRead", {reader, queue});
  const Output produced = p.g.add("ReaderNumRecordsProduced", {reader});
  p.file("a", "1\n");
  p.session.run(put);
  CHECK(p.one({read.output(0), read.output(1)}).first == "a:1");
  CHECK(p.session.run(produced) == Tensor::scalar<std::int64_t>(1));
}
