// The example of README.md: fits y = 0.1 x + 0.3.
#include <cstdio>
#include <vector>

#include <runnel/runnel.h>

using namespace runnel;

int main() {
  std::vector<float> xs, ys;
  for (int i = 0; i < 100; ++i) {
    xs.push_back(static_cast<float>(i) / 100);
    ys.push_back(0.1f * xs.back() + 0.3f);
  }

  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = placeholder<float>(g, {kUnknown}, "y");
  const Variable w = variable(g, 0.0f, "w");
  const Variable b = variable(g, 0.0f, "b");

  const Output loss = reduce_mean(square(w * x + b - y));
  const Operation step = GradientDescent(0.5f).minimize(loss);
  const Operation init = initialize_global_variables(g);

  Session session(g);
  session.run(init);
  for (int i = 0; i < 200; ++i) session.run(step, {{x, Tensor::vector(xs)}, {y, Tensor::vector(ys)}});
  std::printf("w = %.3f  b = %.3f\n", session.get<float>(w), session.get<float>(b));
}
