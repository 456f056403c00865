// Framing of records: against a file that TensorFlow wrote, cut at every byte, with every kind of damage, and
// growing under the reader.
#include <doctest/doctest.h>

#include <cstdint>

#include "graph/io/memory_file_system.h"
#include "graph/io/record_format.h"
#include "summary/events/event.h"
#include "summary/events/record_reader.h"

using namespace runnel;

namespace {

void put(FileSystem& files, const std::string& path, const std::string& bytes) {
  files.open_for_writing(path, WriteMode::kTruncate)->append(bytes);
}

std::vector<std::string> read_all(RecordReader& reader) {
  std::vector<std::string> out;
  while (auto record = reader.next()) out.push_back(*record);
  return out;
}

std::string framed(const std::vector<std::string>& records) {
  std::string out;
  for (const std::string& record : records) append_record(out, record);
  return out;
}

const std::vector<std::string> kFive = {"one", "", "three", std::string(300'000, 'x'), "five"};

}  // namespace

TEST_CASE("an empty record is its length, two checksums and nothing else") {
  CHECK(framed({""}) == std::string("\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2", 16));
}

TEST_CASE("the version record is TensorFlow 1's forty bytes") {
  const std::string record = framed({version_event(1700000000.0)});
  REQUIRE(record.size() == 40);
  CHECK(record.substr(0, 12) == std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12));
  CHECK(record.find("brain.Event:2") == 23);
}

TEST_CASE("records of a file that TensorFlow wrote come out framed into the same bytes") {
  const std::string path = RUNNEL_GOLDEN "/events/v1/events.out.tfevents.1700000000.host";
  RecordReader reader(real_file_system().open_for_reading(path));
  const auto records = read_all(reader);
  CHECK(records.size() > 10);
  CHECK_FALSE(reader.truncated());
  CHECK(framed(records) == read_file(real_file_system(), path));
}

TEST_CASE("a file cut at any byte gives its whole records and says that it is cut") {
  MemoryFileSystem files;
  const std::string bytes = framed({"one", "", "three"});
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    CAPTURE(cut);
    put(files, "f", bytes.substr(0, cut));
    RecordReader reader(files.open_for_reading("f"));
    const std::size_t whole = (cut >= 19) + (cut >= 35) + (cut >= 56);
    CHECK(read_all(reader).size() == whole);
    CHECK(reader.truncated() == (cut != 0 && cut != 19 && cut != 35 && cut != 56));
  }
}

TEST_CASE("a reader goes on where the file has grown") {
  MemoryFileSystem files;
  const std::string bytes = framed(kFive);
  put(files, "f", "");
  RecordReader reader(files.open_for_reading("f"));
  std::vector<std::string> got;
  for (std::size_t at = 0; at < bytes.size(); at += 7919) {
    files.open_for_writing("f", WriteMode::kAppend)->append(bytes.substr(at, 7919));
    while (auto record = reader.next()) got.push_back(*record);
  }
  CHECK(got == kFive);
}

TEST_CASE("a flipped payload bit is DataLoss with the record's offset, at each call") {
  MemoryFileSystem files;
  std::string bytes = framed(kFive);
  bytes[19 + 16 + 12] ^= 1;
  put(files, "f", bytes);
  RecordReader reader(files.open_for_reading("f"));
  CHECK(reader.next() == "one");
  CHECK(reader.next() == "");
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(
        reader.next(),
        "f: at byte 35 the checksum of the record does not match its bytes; what comes before is "
        "good, and skip_damaged passes over a damaged record",
        DataLoss);
}

TEST_CASE("a reader that skips damage returns all records but the damaged one") {
  MemoryFileSystem files;
  std::string bytes = framed(kFive);
  bytes[19 + 16 + 12] ^= 1;
  put(files, "f", bytes);
  RecordReader reader(files.open_for_reading("f"), {.skip_damaged = true});
  CHECK(read_all(reader) == std::vector<std::string>{"one", "", kFive[3], "five"});
  CHECK(reader.skipped().size() == 1);
}

TEST_CASE("a damaged length is DataLoss even for a reader that skips damage") {
  MemoryFileSystem files;
  for (int byte = 0; byte < 12; ++byte) {
    CAPTURE(byte);
    std::string bytes = framed({"one", "two"});
    bytes[19 + byte] ^= 0x40;
    put(files, "f", bytes);
    RecordReader reader(files.open_for_reading("f"), {.skip_damaged = true});
    CHECK(reader.next() == "one");
    CHECK_THROWS_AS(reader.next(), DataLoss);
    CHECK(reader.offset() == 19);
  }
}

TEST_CASE("a length above the limit is refused before memory is taken, with a right checksum too") {
  MemoryFileSystem files;
  // 2^63 - 1 bytes; the checksum is that of these eight bytes.
  std::string bytes(8, '\xff');
  bytes[7] = '\x7f';
  std::string inner;
  append_record(inner, bytes);
  bytes += inner.substr(inner.size() - 4);
  put(files, "f", bytes);
  RecordReader reader(files.open_for_reading("f"));
  CHECK_THROWS_AS(reader.next(), DataLoss);
  put(files, "g", framed({"four"}));
  RecordReader small(files.open_for_reading("g"), {.max_record_bytes = 3});
  CHECK_THROWS_AS(small.next(), DataLoss);
}
