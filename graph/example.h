// A training example as TFRecord files hold it: lists of bytes, floats or integers under names. For programs
// that write such files, or look into one; a graph reads them with parse_example (ops/example_ops.h). Source:
// TensorFlow's message Example. Leaves out SequenceExample.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runnel {

// A feature of no kind (monostate) is one that a file names without values.
using Feature =
    std::variant<std::monostate, std::vector<std::string>, std::vector<float>, std::vector<std::int64_t>>;

//   Example example{{{"x", std::vector<float>{0.5f}}, {"label", std::vector<std::int64_t>{3}}}};
//   writer.write(example.serialize());
struct Example {
  std::map<std::string, Feature, std::less<>> features = {};

  // Equal examples give equal bytes. Throws InvalidArgument for 2 GB or more.
  std::string serialize() const;
  // Throws DataLoss for bytes that are no Example.
  static Example parse(std::string_view bytes);

  bool operator==(const Example&) const = default;
};

}  // namespace runnel
