// Values and gradients that TensorFlow computed (golden/gradients/gradients.json, made by make_gradients.py),
// compared with ours. The reader knows just that file's layout: shapes, and values as hexadecimal floats, in
// order.
#pragma once

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradients.h"
#include "tests/kernels/larger_gap.h"

namespace runnel {

// All tensors of one case in the file's order: inputs, output, gradients.
inline std::vector<Tensor> golden_tensors(const std::string& name) {
  static const std::string text = read_file(real_file_system(), RUNNEL_GOLDEN "/gradients/gradients.json");
  const std::size_t start = text.find("\n \"" + name + "\": {");
  if (start == std::string::npos) throw NotFound("no golden case " + name);
  const std::string body = text.substr(start, text.find("\n }", start) - start);
  std::vector<Tensor> out;
  for (std::size_t at = body.find("\"shape\": ["); at != std::string::npos;
       at = body.find("\"shape\": [", at)) {
    const char* p = body.c_str() + at + 10;
    Shape shape;
    for (; *p != ']'; ++p)
      if (std::isdigit(static_cast<unsigned char>(*p))) {
        char* end = nullptr;
        shape.push_back(std::strtol(p, &end, 10));
        p = end - 1;
      }
    Tensor tensor(DType::kFloat, shape);
    for (float& value : tensor.mutable_values<float>()) {
      while (*p != '-' && *p != '0') ++p;
      char* end = nullptr;
      value = std::strtof(p, &end);
      p = end;
    }
    out.push_back(tensor);
    at = static_cast<std::size_t>(p - body.c_str());
  }
  return out;
}

// The largest difference of our value and gradients from the golden ones; the file's grad_ys are 0.5,
// -1, 1.5, 0.25, repeated. A shape that differs gives infinity.
inline double golden_gap(const std::string& name, const std::function<Output(const Outputs&)>& f,
                         std::size_t inputs) {
  const std::vector<Tensor> golden = golden_tensors(name);
  Graph g;
  Outputs xs;
  for (std::size_t i = 0; i < inputs; ++i) xs.push_back(constant(g, golden[i]));
  const Output y = f(xs);
  Tensor by(DType::kFloat, golden[inputs].shape());
  constexpr float kBy[] = {0.5f, -1.f, 1.5f, 0.25f};
  for (std::int64_t i = 0; i < by.elements(); ++i)
    by.mutable_values<float>()[static_cast<std::size_t>(i)] = kBy[i % 4];
  std::vector<Fetch> fetches{y};
  const Grads grads = gradients({y}, {xs.begin(), xs.end()}, {.grad_ys = {constant(g, by)}});
  for (const Grad& grad : grads) fetches.push_back(grad.dense());
  const std::vector<Tensor> ours = Session(g).run(fetches);
  double gap = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Tensor& want = golden[inputs + i];
    if (want.shape() != ours[i].shape()) return HUGE_VAL;
    for (std::size_t k = 0; k < static_cast<std::size_t>(want.elements()); ++k)
      gap = larger_gap(gap,
                       std::abs(static_cast<double>(want.values<float>()[k]) - ours[i].values<float>()[k]));
  }
  return gap;
}

}  // namespace runnel
