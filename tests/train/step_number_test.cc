// Steps out of tensors and names.
#include "train/checkpoint/step_number.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "graph/error.h"

using namespace runnel;

TEST_CASE("a step is the one number of an integer tensor, whatever its shape and width") {
  CHECK(step_number(Tensor::scalar(std::int64_t{5'000'000'000}), "global_step") == 5'000'000'000);
  CHECK(step_number(Tensor::vector<std::int32_t>({-7}), "global_step") == -7);
  for (const Tensor& wrong : {Tensor(DType::kInt64, Shape{0}), Tensor::vector<std::int64_t>({1, 2})})
    CHECK_THROWS_AS(step_number(wrong, "global_step"), InvalidArgument);
  CHECK_THROWS_WITH_AS(step_number(Tensor::scalar(1.0f), "s:0"),
                       "global_step 's:0' is float[]: it must be an integer scalar", InvalidArgument);
}

TEST_CASE("a checkpoint's step is the number behind the last dash of its name, if there is one") {
  CHECK(step_behind("d/model.ckpt-7") == 7);
  CHECK(step_behind("a-3-0012") == 12);
  for (const char* const none :
       {"", "model.ckpt", "model.ckpt-", "a-7b", "a-3/m", "m-99999999999999999999"}) {
    CAPTURE(none);
    CHECK_FALSE(step_behind(none));
  }
}
