// A loss that is no number.
#include "train/monitored/nan_tensor_hook.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Fed {
  Graph graph;
  Output loss = placeholder<float>(graph, {kUnknown}, "loss");
  Operation init = no_op(graph);
  std::vector<float> value;
  Hook feeds = feed();
  Hook feed() {
    struct Feeds final : SessionRunHook {
      explicit Feeds(Fed& of) : of(of) {}
      std::string name() const override { return "Feeds"; }
      std::optional<SessionRunArgs> before_run(SessionRunContext&) override {
        return SessionRunArgs{.feed_dict = {{of.loss, Tensor::vector(of.value)}}};
      }
      Fed& of;
    };
    return std::make_shared<Feeds>(*this);
  }
};

}  // namespace

TEST_CASE("a NaN anywhere in the loss is an error that names it, and a line in the log") {
  Fed m;
  HookDriver driver(m.graph, m.init, {m.feeds, nan_tensor(m.loss)});
  m.value = {1, kInfinity};
  driver.run({});
  m.value = {1, kNan};
  const LoggedLines log;
  CHECK_THROWS_WITH_AS(driver.run({}),
                       "NanTensorHook: the loss 'loss:0' is NaN: try a lower learning rate, clipped "
                       "gradients, or look at the input",
                       NanLossDuringTrainingError);
  CHECK(log.has("error: Model diverged with loss = NaN."));
}

TEST_CASE("a NaN that is no failure is a warning and a stop") {
  Fed m;
  HookDriver driver(m.graph, m.init, {m.feeds, nan_tensor(m.loss, {.fail_on_nan_loss = false})});
  m.value = {kNan};
  const LoggedLines log;
  driver.run({});
  REQUIRE(driver.stop);
  CHECK(driver.stop->why == "'loss:0' is NaN");
  CHECK_FALSE(driver.stop->cause);
  CHECK(log.has("warning: Model diverged with loss = NaN."));
}

TEST_CASE("a NaN is told from an infinity in each type of floating-point numbers") {
  const auto stops = [](const Tensor& loss) {
    Graph graph;
    const LoggedLines quiet;
    NanTensorHook hook(constant(graph, loss), {.fail_on_nan_loss = false});
    Session session(graph);
    const SessionRunArgs none;
    SessionRunContext context(none, session);
    hook.after_run(context, {.results = std::span(&loss, 1)});
    return context.stop_requested();
  };
  CHECK_FALSE(stops(Tensor::scalar(-double{kInfinity})));
  CHECK(stops(Tensor::scalar(double{kNan})));
  CHECK_FALSE(stops(Tensor::scalar(Half{0xfc00})));
  CHECK(stops(Tensor::scalar(Half{0xfe00})));
  CHECK_FALSE(stops(Tensor::scalar(Bfloat16{0x7f80})));
  CHECK(stops(Tensor::scalar(Bfloat16{0x7fc0})));
}

TEST_CASE("a loss of integers is refused") {
  Graph g;
  const Output x = placeholder<std::int32_t>(g, {}, "x");
  CHECK_THROWS_WITH_AS(nan_tensor(x),
                       "NanTensorHook: 'x:0' is int32, which is never NaN: give it a tensor of "
                       "floating-point numbers",
                       InvalidArgument);
}
