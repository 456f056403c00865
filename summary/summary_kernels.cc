// Kernels of the summary ops. They run once a summary, not once a step, so they may allocate.
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/error.h"
#include "graph/float16.h"
#include "graph/kernel.h"
#include "graph/log.h"
#include "summary/values/histogram.h"
#include "summary/values/value.h"

namespace runnel {
namespace {

constexpr auto kReal = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                          std::uint16_t, std::uint32_t, std::uint64_t, Half, Bfloat16>;

float as_float(Half value) { return static_cast<float>(value_of(value)); }
float as_float(Bfloat16 value) { return static_cast<float>(value_of(value)); }
float as_float(auto value) { return static_cast<float>(value); }

template <class T>
std::vector<float> as_floats(std::span<const T> values) {
  std::vector<float> out;
  out.reserve(values.size());
  for (const T value : values) out.push_back(as_float(value));
  return out;
}

template <class T>
Histogram counted(std::span<const T> values) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>)
    return histogram_of(std::span<const float>(as_floats(values)));
  else
    return histogram_of(values);
}

const KernelRegistration kScalarSummary{
    "ScalarSummary", kReal, []<class T>(Bind& b) {
      const Shape &tag_shape = b.input("tags").shape, &shape = b.input("values").shape;
      if (!(tag_shape == shape))
        throw InvalidArgument(cat("tags and values are not the same shape: ", tag_shape, " and ", shape));
      const auto n = static_cast<std::size_t>(shape.elements());
      b.run([n, tags = b.in<std::string>("tags"), values = b.in<T>("values"),
             out = b.out<std::string>("summary")](Context& c) {
        *c[out] = scalar_values({c[tags], n}, as_floats(std::span<const T>(c[values], n)));
      });
    }};

const KernelRegistration kHistogramSummary{
    "HistogramSummary", kReal, []<class T>(Bind& b) {
      const auto n = static_cast<std::size_t>(b.input("values").shape.elements());
      const AttrValue* attr = b.node().attr("_strict");
      b.run([n, strict = attr && b.flag("_strict"), warned = std::make_shared<std::atomic<bool>>(false),
             tag = b.in<std::string>("tag"), values = b.in<T>("values"),
             out = b.out<std::string>("summary")](Context& c) {
        const Histogram counts = counted(std::span<const T>(c[values], n));
        if (!counts.all_finite()) {
          const std::string what = cat("histogram '", *c[tag], "': ", left_out(counts));
          if (strict) throw InvalidArgument(what);
          if (!warned->exchange(true)) log_warning(what + " left out; this is said once");
        }
        *c[out] = histogram_value(*c[tag], counts);
      });
    }};

const KernelRegistration kMergeSummary{"MergeSummary", any, [](Bind& b) {
                                         std::vector<In<std::string>> inputs;
                                         for (int i = 0; i < b.count("inputs"); ++i)
                                           inputs.push_back(b.in<std::string>("inputs", i));
                                         b.run([inputs, out = b.out<std::string>("summary")](Context& c) {
                                           std::vector<const std::string*> summaries;
                                           for (const In<std::string> in : inputs) summaries.push_back(c[in]);
                                           *c[out] = merged_values(summaries);
                                         });
                                       }};

}  // namespace
}  // namespace runnel
