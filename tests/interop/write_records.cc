// Writes TFRecord files of Examples as a C++ program does, and prints what it reads of others'.
// usage: write_records FOLDER: reads FOLDER/theirs{,.zlib,.gzip}, writes FOLDER/ours{,.zlib,.gzip}
#include <cstdio>
#include <string>

#include "graph/graph.h"

using namespace runnel;

namespace {

struct Kind {
  const char* suffix;
  Compression compression;
};
constexpr Kind kKinds[] = {
    {"", Compression::kNone}, {".zlib", Compression::kZlib}, {".gzip", Compression::kGzip}};

void write(const std::string& path, Compression compression) {
  TFRecordWriter writer(path, {.compression = compression});
  for (int i = 0; i < 100; ++i) {
    Example example;
    example.features["x"] = std::vector<float>{static_cast<float>(i), -0.5f};
    example.features["n"] = std::vector<std::int64_t>(static_cast<std::size_t>(i % 3), -i);
    example.features["s"] = std::vector<std::string>{std::string(static_cast<std::size_t>(i) * 100, 's'), ""};
    example.features["none"] = Feature();
    writer.write(example.serialize());
    if (i == 50) writer.flush();
  }
  writer.close();
}

// The same bytes as were read, if every one of them was kept.
void rewrite(const std::string& from, const std::string& to, Compression compression) {
  TFRecordIterator records(from, {.compression = compression});
  TFRecordWriter writer(to, {.compression = compression});
  while (const std::optional<std::string> record = records.next())
    writer.write(Example::parse(*record).serialize());
  writer.close();
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  for (const Kind& kind : kKinds) {
    write(folder + "/ours" + kind.suffix, kind.compression);
    rewrite(folder + "/theirs" + kind.suffix, folder + "/again" + kind.suffix, kind.compression);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "write_records: %s\n", error.what());
  return 1;
}
