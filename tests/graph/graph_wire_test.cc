// Graphs written without protobuf's messages: the bytes are those that protobuf would have written.
#include <doctest/doctest.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "graph/graph.h"
#include "graph/io/file_system.h"
#include "graph/meta_graph.h"
#include "runnel/meta_graph.pb.h"

using namespace runnel;

namespace {

std::string canonical(const google::protobuf::Message& message) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

// The messages of TensorFlow's own files, read and written.
template <class Check>
void for_golden_metas(Check check) {
  for (const char* name : {"meta/kitchen.meta", "meta/dense.meta", "meta/stripped.meta",
                           "partitioned/part.ckpt.meta", "linear_resource/linear.ckpt-100.meta"}) {
    CAPTURE(name);
    Graph g;
    import_meta_graph_def(g, read_file(real_file_system(), std::string(RUNNEL_GOLDEN) + "/" + name));
    check(g);
  }
}

}  // namespace

TEST_CASE("a graph's bytes are what protobuf writes when it has read them, and say what the text says") {
  for_golden_metas([](Graph& g) {
    for (const bool shapes : {false, true}) {
      const GraphDefOptions options{.add_shapes = shapes};
      const std::string bytes = g.to_graph_def(options);
      pb::GraphDef def;
      REQUIRE(def.ParseFromString(bytes));
      CHECK(canonical(def) == bytes);
      def.DiscardUnknownFields();  // text has none
      std::string text;
      google::protobuf::TextFormat::PrintToString(def, &text);
      CHECK(text == g.to_graph_def_text(options));
    }
  });
}

TEST_CASE("a meta graph's bytes are what protobuf writes when it has read them, and say what the text says") {
  for_golden_metas([](Graph& g) {
    const std::string bytes = export_meta_graph_def(g);
    pb::MetaGraphDef def;
    REQUIRE(def.ParseFromString(bytes));
    CHECK(canonical(def) == bytes);
    def.DiscardUnknownFields();
    std::string text;
    google::protobuf::TextFormat::PrintToString(def, &text);
    CHECK(text == export_meta_graph_def(g, {.as_text = true}));
  });
}
