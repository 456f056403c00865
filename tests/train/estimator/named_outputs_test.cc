// Tensors by name: one alone, several, and what is said of names that there are not.
#include "train/estimator/named_outputs.h"

#include <doctest/doctest.h>

#include "graph/dataflow.h"
#include "ops/array_ops.h"

using namespace runnel;

TEST_CASE("one tensor without a name stands for itself, several are asked for by name") {
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.0f)), b = constant(g, Tensor::scalar(2.0f));
  const NamedOutputs one = a;
  CHECK(static_cast<Output>(one) == a);
  CHECK(one.is_single());
  const NamedOutputs two = {{"a", a}, {"b", b}};
  CHECK(two["b"] == b);
  CHECK(two.has("a"));
  CHECK_FALSE(two.is_single());
  CHECK(NamedOutputs(Output()).empty());
}

TEST_CASE("a name that there is not is refused with those that there are") {
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.0f));
  const NamedOutputs two = {{"age", a}, {"sex", a}};
  CHECK_THROWS_WITH_AS(two["size"], "there is no tensor called 'size' here; there are 'age', 'sex'",
                       NotFound);
  CHECK_THROWS_WITH_AS(two.only(), "one tensor is wanted here, but there are 'age', 'sex'", NotFound);
  CHECK_THROWS_WITH_AS(NamedOutputs().only(), "one tensor is wanted here, but there are none", NotFound);
  const NamedOutputs alone = a;
  CHECK_THROWS_WITH_AS(alone["x"], "there is no tensor called 'x' here; there is one without a name",
                       NotFound);
}
