// StringJoin: strings one after another, element by element; scalars are repeated.
#include <string>
#include <vector>

#include "graph/kernel.h"

namespace runnel {
namespace {

const KernelRegistration kStringJoin{
    "StringJoin", any, [](Bind& b) {
      struct Part {
        In<std::string> in;
        std::int64_t step;  // 0: one string for all elements
      };
      std::vector<Part> parts;
      for (int k = 0; k < b.count("inputs"); ++k)
        parts.push_back({b.in<std::string>("inputs", k), b.input("inputs", k).shape.rank() == 0 ? 0 : 1});
      b.run([parts, separator = b.node().bytes("separator"), n = b.output("output").shape.elements(),
             out = b.out<std::string>("output")](Context& c) {
        for (std::int64_t i = 0; i < n; ++i) {
          std::string text;
          for (std::size_t k = 0; k < parts.size(); ++k)
            text.append(k == 0 ? "" : separator).append(c[parts[k].in][i * parts[k].step]);
          c[out][i] = std::move(text);
        }
      });
    }};

}  // namespace
}  // namespace runnel
