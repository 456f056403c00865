// One job of `runnel run`: a model, where its values come from, what to feed, what to run how
// often, what to fetch and where to, where to save, and where to write what its kernels took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace runnel {

struct Job {
  std::string model, restore, init, out, save, trace;
  std::vector<std::string> feeds, targets, fetches;
  std::int64_t steps = 1;
};

void add_job_options(CLI::App& command, Job& job);

// Runs it and returns what to print: a line a fetch, or one line of JSON. Arrays are written only after all
// has run. Throws runnel::Error; CLI::ValidationError for a feed or fetch that is written wrongly.
std::string run_job(const Job& job, bool json);

}  // namespace runnel
