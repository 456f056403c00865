// Logs without a graph; then: tensorboard --logdir logs
#include <cmath>
#include <vector>

#include <runnel/summary.h>

int main() {
  runnel::FileWriter log("logs");
  std::vector<float> weights(1000);
  for (int step = 0; step < 1000; ++step) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = std::sin(0.1f * static_cast<float>(i)) / (1 + step);
    log.scalar("train/loss", std::exp(-0.01 * step), step);
    if (step % 100 == 0) log.histogram("weights", std::span<const float>(weights), step);
  }
  log.close();
}
