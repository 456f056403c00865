// See global_step_of.h.
#include "train/estimator/global_step_of.h"

#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/step_number.h"

namespace runnel {

std::int64_t global_step_of(const std::string& prefix, FileSystem& files) {
  if (prefix.empty()) return 0;
  const CheckpointReader reader(prefix, {.file_system = &files});
  return reader.has("global_step") ? step_number(reader.read("global_step"), "global_step") : 0;
}

}  // namespace runnel
