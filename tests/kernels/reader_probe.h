// Files in memory, a queue of their names, and a session that reads them.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"

namespace runnel {

using Records = std::vector<std::pair<std::string, std::string>>;  // keys and values

struct ReaderProbe {
  MemoryFileSystem files;
  Graph g;
  FIFOQueue names{g, 20, {DType::kString}, {.shapes = {Shape{}}, .name = "names"}};
  Output more = placeholder<std::string>(g, {kUnknown}, "more");
  Operation add = names.enqueue_many({more}), close = names.close();
  Session session{g, {.inter_op_parallelism_threads = 1, .file_system = &files}};

  void file(const std::string& path, const std::string& bytes) {
    files.open_for_writing(path, WriteMode::kTruncate)->append(bytes);
  }
  void queue(const std::vector<std::string>& paths, bool closed = true) {
    session.run(add, {{more, Tensor::vector(paths)}});
    if (closed) session.run(close);
  }
  std::pair<std::string, std::string> one(const KeyValue& record) {
    const auto got = session.run({record.key, record.value});
    return {got[0].scalar<std::string>(), got[1].scalar<std::string>()};
  }
  // Until the queue, which is closed, has no more names.
  Records all(const ReaderBase& reader) {
    const KeyValue record = reader.read(names);
    Records out;
    try {
      for (;;) out.push_back(one(record));
    } catch (const OutOfRange&) {
    }
    return out;
  }
  Records batch(const KeyValue& records) {
    const auto got = session.run({records.key, records.value});
    Records out;
    for (std::size_t i = 0; i < got[0].values<std::string>().size(); ++i)
      out.emplace_back(got[0].values<std::string>()[i], got[1].values<std::string>()[i]);
    return out;
  }
  // "NotFound: ..." of a run.
  std::string refusal(const Fetch& fetch) {
    return error_of([&] { session.run(fetch); });
  }
};

}  // namespace runnel
