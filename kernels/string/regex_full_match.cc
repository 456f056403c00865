// StaticRegexFullMatch, by RE2: the library whose syntax and answers TensorFlow's op has. Patterns and texts
// come from files: RE2 takes time linear in the text and bounded memory, where std::regex takes a stack frame
// a character and may try every way to cut a text.
#include <memory>
#include <string>

#include <re2/re2.h>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

std::shared_ptr<const RE2> compiled(const std::string& pattern) {
  auto out = std::make_shared<const RE2>(pattern, RE2::Quiet);  // the library never prints, and RE2 does
  if (!out->ok()) throw InvalidArgument(cat("the pattern is none of RE2's: ", out->error()));
  return out;
}

const KernelRegistration kStaticRegexFullMatch{
    "StaticRegexFullMatch", any, [](Bind& b) {
      b.run([pattern = compiled(b.node().bytes("pattern")), n = b.input("input").shape.elements(),
             in = b.in<std::string>("input"), out = b.out<bool>("output")](Context& c) {
        for (std::int64_t i = 0; i < n; ++i) c[out][i] = RE2::FullMatch(c[in][i], *pattern);
      });
    }};

}  // namespace
}  // namespace runnel
