// Metrics over an input that ends: exact, whatever batches it comes in.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

// The numbers 0 to 9 twice, in batches of `size`, the last one smaller.
Output input(Graph& g, std::int64_t size) {
  const Output number = range_input_producer(g, 10, {.num_epochs = 2, .shuffle = false}).dequeue();
  return batch({number}, size, {.allow_smaller_final_batch = true})[0];
}

}  // namespace

TEST_CASE("at the end of the input every element has been counted once, whatever the size of batches") {
  for (const std::int64_t size : {1, 3, 7, 20, 64}) {
    CAPTURE(size);
    Graph g;
    const Output x = input(g, size);
    const Metric mean = metrics::mean(x), below = metrics::percentage_below(x, 3);
    const Metric cells = metrics::streaming_confusion_matrix(x, x, 10);
    Supervisor sv(g);
    sv.managed_session([&](Session& session) {
      try {
        while (true) session.run(std::vector<Fetch>{mean.update_op, below.update_op, cells.update_op});
      } catch (const OutOfRange&) {
        const auto [m, b, c] = session.run({mean.value, below.value, cells.value});
        CHECK(m.scalar<float>() == 4.5f);
        CHECK(b.scalar<float>() == 0.3f);
        for (std::size_t i = 0; i < 100; ++i) CHECK(c.values<double>()[i] == (i % 11 == 0 ? 2 : 0));
      }
    });
  }
}
