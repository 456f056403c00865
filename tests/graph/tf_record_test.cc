// TFRecord files written and read, plain and compressed, cut and damaged; the streams under them.
#include "graph/io/tf_record.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/io/input_stream.h"
#include "graph/io/memory_file_system.h"
#include "graph/io/record_format.h"

using namespace runnel;

namespace {

using Texts = std::vector<std::string>;

const Texts kFew{"one", "", std::string(700'000, 'x'), "four"};
constexpr Compression kAll[] = {Compression::kNone, Compression::kZlib, Compression::kGzip};

void write(FileSystem& files, const Texts& records, Compression compression) {
  TFRecordWriter writer("f", {.compression = compression, .files = &files});
  for (const std::string& record : records) writer.write(record);
  writer.close();
}

void put(FileSystem& files, const std::string& bytes) {
  files.open_for_writing("f", WriteMode::kTruncate)->append(bytes);
}

Texts read(FileSystem& files, Compression compression) {
  TFRecordIterator records("f", {.compression = compression, .files = &files});
  Texts out;
  while (auto record = records.next()) out.push_back(*record);
  return out;
}

// The records before the damage, and what is said of it.
std::pair<std::size_t, std::string> damage(FileSystem& files, Compression compression) {
  TFRecordIterator records("f", {.compression = compression, .files = &files});
  std::size_t count = 0;
  try {
    while (records.next()) ++count;
  } catch (const DataLoss& error) {
    CHECK_THROWS_WITH_AS(records.next(), error.message().c_str(), DataLoss);  // again
    return {count, error.message()};
  }
  return {count, ""};
}

}  // namespace

TEST_CASE("records are read as they were written, whatever the compression") {
  for (const Compression compression : kAll) {
    CAPTURE(static_cast<int>(compression));
    MemoryFileSystem files;
    write(files, kFew, compression);
    CHECK(read(files, compression) == kFew);
    CHECK((files.file_size("f") < 10'000) == (compression != Compression::kNone));
    write(files, {}, compression);
    CHECK(read(files, compression).empty());
  }
}

TEST_CASE("a plain file is framed records and nothing else") {
  MemoryFileSystem files;
  write(files, {"a", "bc"}, Compression::kNone);
  std::string framed;
  append_record(framed, "a");
  append_record(framed, "bc");
  CHECK(read_file(files, "f") == framed);
}

TEST_CASE("what was flushed can be read while the writer goes on, and what was closed is on the disk") {
  for (const Compression compression : {Compression::kNone, Compression::kZlib}) {
    MemoryFileSystem files;
    TFRecordWriter writer("f", {.compression = compression, .files = &files});
    writer.write("one");
    writer.flush();
    TFRecordIterator records("f", {.compression = compression, .files = &files});
    CHECK(records.next() == "one");
    writer.write("two");
    writer.close();
    writer.close();
    CHECK_THROWS_AS(writer.write("three"), FailedPrecondition);
    CHECK_THROWS_AS(writer.flush(), FailedPrecondition);
    files.sync_directory(".");
    files.reboot(PowerCut::kLosesAllUnsynced);
    CHECK(read(files, compression) == Texts{"one", "two"});
  }
}

TEST_CASE("compressed files one after another are one") {
  MemoryFileSystem files;
  for (const Compression compression : {Compression::kZlib, Compression::kGzip}) {
    write(files, {"one"}, compression);
    const std::string first = read_file(files, "f");
    write(files, {"two"}, compression);
    put(files, first + read_file(files, "f"));
    CHECK(read(files, compression) == Texts{"one", "two"});
  }
}

TEST_CASE("a file cut anywhere gives records that were written, then DataLoss") {
  const Texts records{"one", "", "three, of more bytes than a header has"};
  for (const Compression compression : kAll) {
    MemoryFileSystem files;
    write(files, records, compression);
    const std::string whole = read_file(files, "f");
    for (std::size_t cut = 1; cut < whole.size(); ++cut) {
      CAPTURE(cut);
      put(files, whole.substr(0, cut));
      const auto [count, message] = damage(files, compression);
      CHECK(count <= records.size());
      const bool between = compression == Compression::kNone && (cut == 19 || cut == 35);
      CHECK(message.empty() == between);
    }
  }
}

TEST_CASE("damage is told with the file and the place") {
  MemoryFileSystem files;
  std::string bytes;
  for (const char* record : {"one", "two"}) append_record(bytes, record);
  std::string flipped = bytes;
  flipped[19 + 12] ^= 1;
  put(files, flipped);
  CHECK(damage(files, Compression::kNone).second ==
        "f: at byte 19 the checksum of the record does not match its bytes");
  flipped = bytes;
  flipped[0] ^= 1;
  put(files, flipped);
  CHECK(damage(files, Compression::kNone)
            .second.starts_with("f: at byte 0 the checksum of the record's length"));
  put(files, bytes);
  CHECK(damage(files, Compression::kZlib).second ==
        "f: after 2 compressed bytes the bytes are damaged, or not ZLIB");
}

TEST_CASE("a record that claims more than the file has takes no memory for it") {
  MemoryFileSystem files;
  std::string huge(record_bytes(0), '\0');
  huge[3] = 0x70;  // 1.8 GB
  put(files, huge);
  CHECK(damage(files, Compression::kNone).second.find("checksum of the record's length") !=
        std::string::npos);
  InputStream stream(files, "f");
  CHECK(stream.read(std::uint64_t{1} << 62).size() == huge.size());
}

TEST_CASE("lines end at line ends, at the file's end, and at the limit") {
  MemoryFileSystem files;
  put(files, "one\n\ntwo\r\n" + std::string(300'000, 'x') + "\nend");
  InputStream stream(files, "f");
  CHECK(stream.line(10) == "one");
  CHECK(stream.line(10) == "");
  CHECK(stream.line(10) == "two\r");
  CHECK_THROWS_WITH_AS(stream.line(10), "f: the line at byte 10 has more than 10 bytes", ResourceExhausted);
  CHECK(stream.line(300'000)->size() == 300'000);
  CHECK(stream.line(10) == "end");
  CHECK(stream.line(10) == std::nullopt);
}

TEST_CASE("a stream passes over bytes, and tells where it is") {
  MemoryFileSystem files;
  put(files, std::string(1'000'000, 'a') + "bc");
  InputStream stream(files, "f");
  CHECK(stream.skip(1'000'000));
  CHECK(stream.offset() == 1'000'000);
  CHECK(stream.peek(1) == "b");
  CHECK(stream.holds(2));
  CHECK(!stream.holds(3));
  CHECK(stream.read(9) == "bc");
  CHECK(!stream.skip(1));
  CHECK_THROWS_AS(InputStream(files, "none"), NotFound);
}

TEST_CASE("compressions have TensorFlow's names") {
  CHECK(compression_named("") == Compression::kNone);
  CHECK(compression_named("ZLIB") == Compression::kZlib);
  CHECK(compression_named("GZIP") == Compression::kGzip);
  CHECK_THROWS_AS(compression_named("zlib"), InvalidArgument);
}
