// ReadFile and MatchingFiles. A pattern is matched folder by folder, name by name.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/kernel.h"
#include "kernels/reader/file_pattern.h"

namespace runnel {
namespace {

const KernelRegistration kReadFile{"ReadFile", any, [](Bind& b) {
                                     b.run([&files = b.files(), name = b.in<std::string>("filename"),
                                            contents = b.out<std::string>("contents")](Context& c) {
                                       *c[contents] = read_file(files, *c[name]);
                                     });
                                   }};

const KernelRegistration kMatchingFiles{
    "MatchingFiles", any, [](Bind& b) {
      b.run([&files = b.files(), n = b.input("pattern").shape.elements(),
             patterns = b.in<std::string>("pattern"), out = b.out<std::string>("filenames")](Context& c) {
        std::vector<std::string> found;
        for (std::int64_t i = 0; i < n; ++i) add_matching_files(files, c[patterns][i], found);
        std::sort(found.begin(), found.end());
        std::string* const names = c.room(out, {static_cast<std::int64_t>(found.size())});
        std::copy(found.begin(), found.end(), names);
      });
    }};

}  // namespace
}  // namespace runnel
