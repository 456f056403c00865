// See evaluation_result.h.
#include "train/estimator/evaluation_result.h"

#include <array>
#include <charconv>

#include "graph/error.h"
#include "train/checkpoint/step_number.h"

namespace runnel {
namespace {

// With the fewest digits that read back as the same number.
template <class T>
std::string shortest(T number) {
  std::array<char, 40> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return std::string(text.data(), end.ptr);
}

std::string text_of(const Tensor& value) {
  if (value.elements() == 1 && value.shape().rank() == 0) {
    if (value.dtype() == DType::kFloat) return shortest(value.scalar<float>());
    if (value.dtype() == DType::kDouble) return shortest(value.scalar<double>());
    if (value.dtype() == DType::kInt32 || value.dtype() == DType::kInt64) return shortest(integers(value)[0]);
  }
  return value.text();
}

}  // namespace

double EvaluationResult::number(const std::string& name) const {
  const auto at = values.find(name);
  if (at == values.end())
    throw NotFound(
        cat("the evaluation has no '", name, "'", empty() ? ": it is empty" : "; it has ", text()));
  const Tensor& value = at->second;
  if (value.elements() == 1) {
    if (value.dtype() == DType::kFloat) return static_cast<double>(value.values<float>()[0]);
    if (value.dtype() == DType::kDouble) return value.values<double>()[0];
    if (value.dtype() == DType::kInt32 || value.dtype() == DType::kInt64)
      return static_cast<double>(integers(value)[0]);
  }
  throw InvalidArgument(cat("'", name, "' of the evaluation is no number: ", value.text()));
}

std::int64_t EvaluationResult::global_step() const {
  const auto at = values.find("global_step");
  if (at == values.end()) throw NotFound("the evaluation has no global_step: it is empty");
  return step_number(at->second, "global_step");
}

std::string EvaluationResult::text() const {
  std::string all;
  for (const auto& [name, value] : values) all += (all.empty() ? "" : ", ") + name + " = " + text_of(value);
  return all;
}

}  // namespace runnel
