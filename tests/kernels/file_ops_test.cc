// Files by name and by pattern.
#include "ops/file_ops.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/reader/file_pattern.h"
#include "reader_probe.h"

using namespace runnel;

namespace {

Tensor matching(ReaderProbe& p, const Tensor& patterns) {
  return p.session.run(matching_files(constant(p.g, patterns)));
}

}  // namespace

TEST_CASE("a file is read anew in each step") {
  ReaderProbe p;
  p.file("a", std::string("\0x", 2));
  const Output bytes = read_file_contents(constant(p.g, Tensor::scalar("a")));
  CHECK(p.session.run(bytes) == Tensor::scalar(std::string("\0x", 2)));
  p.file("a", "new");
  CHECK(p.session.run(bytes) == Tensor::scalar("new"));
  p.files.remove("a");
  CHECK(p.refusal(bytes).starts_with("NotFound: ReadFile 'ReadFile': "));
}

TEST_CASE("names that match are found in every folder, sorted") {
  ReaderProbe p;
  for (const char* folder : {"/d", "/d/x", "/d/y"}) p.files.make_directory(folder);
  for (const char* name : {"/d/x/b.csv", "/d/x/a.csv", "/d/y/c.csv", "/d/y/c.txt"}) p.file(name, "");
  CHECK(matching(p, Tensor::scalar("/d/*/*.csv")) ==
        Tensor::vector<std::string>({"/d/x/a.csv", "/d/x/b.csv", "/d/y/c.csv"}));
  CHECK(matching(p, Tensor::vector<std::string>({"/d/y/?.txt", "/d/x/[ac].csv"})) ==
        Tensor::vector<std::string>({"/d/x/a.csv", "/d/y/c.txt"}));
  CHECK(matching(p, Tensor::scalar("/d/y/c.txt")) == Tensor::vector<std::string>({"/d/y/c.txt"}));
  CHECK(matching(p, Tensor::scalar("/d/*")) == Tensor::vector<std::string>({"/d/x", "/d/y"}));
  CHECK(matching(p, Tensor::scalar("/none/*")).shape() == Shape{0});
  CHECK_NOTHROW(matching(p, Tensor::scalar(std::string(1'000'000, '/') + "*")));
  CHECK(matching(p, Tensor(DType::kString, {0})).shape() == Shape{0});
  CHECK_THROWS_AS(matching_files(constant(p.g, Tensor(DType::kString, {1, 1}))), InvalidArgument);
}

TEST_CASE("matching_filenames keeps what was there when it was initialised") {
  ReaderProbe p;
  p.files.make_directory("/d");
  p.file("/d/a", "");
  const Variable names = match_filenames_once(p.g, {"/d/*"});
  const Operation init = initialize_local_variables(p.g);
  p.session.run(init);
  p.file("/d/b", "");
  CHECK(p.session.run(names) == Tensor::vector<std::string>({"/d/a"}));
  CHECK(names.name() == "matching_filenames");
  p.session.run(init);
  CHECK(p.session.run(names) == Tensor::vector<std::string>({"/d/a", "/d/b"}));
}

TEST_CASE("match_filenames_once has the nodes of TensorFlow's") {
  Graph g;
  match_filenames_once(g, {"/d/*"});
  std::string names;
  for (const Node* node : g.nodes()) names += node->name() + " ";
  CHECK(names ==
        "matching_filenames/MatchingFiles/pattern matching_filenames/MatchingFiles matching_filenames "
        "matching_filenames/Assign matching_filenames/read ");
}

TEST_CASE("patterns match whole names") {
  const auto matches = matches_pattern;
  CHECK(matches("", "*"));
  CHECK(matches("abcabd", "*ab?"));
  CHECK(!matches("abcabde", "*ab?"));
  CHECK(matches("a-b]c", "[a-c][!x-z]b[]]c"));
  CHECK(!matches("y", "[^x-z]"));
  CHECK(matches("*", "\\*"));
  CHECK(!matches("a", "\\*"));
  CHECK(matches("[a", "[a"));
  CHECK(matches("a[", "a["));
  CHECK(!matches(std::string(5000, 'a'), "*a*a*a*a*a*a*a*b"));
}
