// Records one run of a plan for RunMetadata. What a kernel took is noted as it ends, on the thread that ran
// it; texts are made when the run is over. A run that is not recorded has no StepTrace and pays nothing but
// the question, once a step and once a kernel of a group.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "graph/runtime/plan.h"
#include "graph/runtime/run_metadata.h"

namespace runnel {

// note() and tried() may be called from the threads of the run.
class StepTrace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Begins now, on the caller's thread. Borrows the run.
  explicit StepTrace(Execution& execution);

  // The step began at `start` and ends now. Nodes that are dead are left out.
  void note(const StepInfo& info, Time start);
  // The step parked; it is noted when it has run.
  void tried(const StepInfo& info, Time start);
  RunMetadata finish() const;

 private:
  struct Record {
    const StepInfo* info = nullptr;
    Time scheduled, start, end;
    std::uint32_t thread = 0;
    std::vector<std::vector<OutputStats>> outputs;  // by node of the step; of a dead one none
    std::vector<char> ran;                          // by node of the step
  };
  void add(const Record& record, DeviceStats& device) const;
  std::int64_t since_1970(Time time) const;

  Execution& execution_;
  const std::chrono::system_clock::time_point epoch_;
  const Time start_;
  const std::uint32_t thread_;
  std::mutex mutex_;
  std::vector<Record> records_;
  std::map<const StepInfo*, Time> tried_;  // steps that parked, when for the first time
};

}  // namespace runnel
