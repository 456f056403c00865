// The projector's files: their bytes, and what is refused before any is written.
#include "summary/values/embedding.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "graph/io/memory_file_system.h"

using namespace runnel;

namespace {

struct Folder {
  Folder() { files.make_directory("logs"); }
  void write(const std::string& name, const Tensor& values, const EmbeddingOptions& options = {}) {
    write_embedding(files, "logs", name, values, options);
  }
  std::string text(const std::string& path) { return read_file(files, "logs/" + path); }
  MemoryFileSystem files;
};

const Tensor kPoints = Tensor::matrix<float>({{0.1f, -2}, {1e10f, 1e-30f}, {3, 4}});

}  // namespace

TEST_CASE("points are a table of the shortest numbers that give the same floats") {
  Folder folder;
  folder.write("words", kPoints);
  CHECK(folder.text("projector/words/tensors.tsv") == "0.1\t-2\n1e+10\t1e-30\n3\t4\n");
  CHECK(folder.text("projector_config.pbtxt") ==
        "embeddings {\n  tensor_name: \"words\"\n  tensor_shape: 3\n  tensor_shape: 2\n"
        "  tensor_path: \"projector/words/tensors.tsv\"\n}\n");
}

TEST_CASE("one column needs no name, several have a line of names") {
  Folder folder;
  folder.write("a", kPoints, {.metadata = {{"label", {"x", "y", "z"}}}});
  CHECK(folder.text("projector/a/metadata.tsv") == "x\ny\nz\n");
  folder.write("b", kPoints, {.metadata = {{"label", {"x", "y", "z"}}, {"size", {"1", "", "3"}}}});
  CHECK(folder.text("projector/b/metadata.tsv") == "label\tsize\nx\t1\ny\t\nz\t3\n");
}

TEST_CASE("a point without a label keeps its line, which TensorBoard would pass over if it were blank") {
  Folder folder;
  folder.write("a", kPoints, {.metadata = {{"label", {"x", "", "z"}}}});
  CHECK(folder.text("projector/a/metadata.tsv") == "x\n\xe2\x80\x8b\nz\n");
}

TEST_CASE("a folder shows all embeddings written to it, and of each the newest") {
  Folder folder;
  folder.write("a", kPoints, {.metadata = {{"label", {"x", "y", "z"}}}});
  folder.write("b", kPoints);
  folder.write("a", Tensor::matrix<float>({{7}}));
  const std::string config = folder.text("projector_config.pbtxt");
  CHECK(config.find("tensor_name: \"b\"") != std::string::npos);
  CHECK(config.find("tensor_name: \"a\"") == config.rfind("tensor_name: \"a\""));
  CHECK(config.find("metadata_path") == std::string::npos);
  CHECK(folder.text("projector/a/tensors.tsv") == "7\n");
}

TEST_CASE("pictures are one file, whose tiles are given as width and height") {
  Folder folder;
  folder.write("a", kPoints, {.sprite = Tensor::zeros(DType::kUint8, {3, 4, 2, 3})});
  CHECK(folder.text("projector/a/sprite.png").starts_with("\x89PNG"));
  CHECK(folder.text("projector_config.pbtxt")
            .find("  sprite {\n    image_path: \"projector/a/sprite.png\"\n"
                  "    single_image_dim: 2\n    single_image_dim: 4\n  }\n") != std::string::npos);
  CHECK_THROWS_WITH_AS(folder.write("a", kPoints, {.sprite = Tensor::zeros(DType::kUint8, {2, 4, 2, 3})}),
                       "the sprite is uint8[2,4,2,3] for 3 points: give one picture each", InvalidArgument);
}

TEST_CASE("any name becomes one folder below projector/, different ones different folders") {
  Folder folder;
  for (const char* name : {"../up", "..", "a/b", "a_b", "a%2Fb", "/", "\xc3\xa4"})
    folder.write(name, kPoints);
  CHECK(folder.files.list("logs/projector") ==
        std::vector<std::string>{"%2E.", "%2E.%2Fup", "%2F", "%C3%A4", "a%252Fb", "a%2Fb", "a_b"});
}

TEST_CASE("what the page could not show is refused before a file is written") {
  Folder folder;
  const auto refuses = [&](const Tensor& values, const EmbeddingOptions& options, const char* message) {
    CHECK_THROWS_WITH_AS(folder.write("a", values, options), message, InvalidArgument);
  };
  refuses(Tensor::vector<float>({1}), {},
          "the values are float[1]: give float[points, dimensions], none of them 0");
  refuses(Tensor::matrix<float>({{1, 2}, {3, NAN}}), {}, "values[1,1] is nan");
  refuses(kPoints, {.metadata = {{"l", {"x"}}}}, "column 'l' has 1 values for 3 points");
  refuses(kPoints, {.metadata = {{"l", {"x", "a\tb", "z"}}}}, "column 'l' holds a tab or a line end: 'a\tb'");
  refuses(kPoints, {.metadata = {{"l", {"x", "\xff", "z"}}}},
          "a cell is no UTF-8, so TensorBoard would drop the event: '\xff'");
  CHECK_THROWS_AS(folder.write("", kPoints), InvalidArgument);
  CHECK_THROWS_AS(folder.write(std::string(81, 'x'), kPoints), InvalidArgument);
  CHECK(folder.files.list("logs").empty());
}

TEST_CASE("a configuration that is none is left alone") {
  Folder folder;
  write_file_atomically(folder.files, "logs/projector_config.pbtxt", "embeddings {");
  CHECK_THROWS_WITH_AS(folder.write("a", kPoints),
                       "logs/projector_config.pbtxt is no configuration of the projector: move it away",
                       FailedPrecondition);
  CHECK(folder.text("projector_config.pbtxt") == "embeddings {");
}
