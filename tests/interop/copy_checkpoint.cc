// Copies a checkpoint, value by value, and names the copy in a state file: copy_checkpoint FROM TO. With a
// third argument "parts" each tensor whose first dimension allows is written as two parts.
#include <cstdio>
#include <string>

#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/checkpoint_writer.h"

using namespace runnel;

namespace {

// Rows [first, end) of the tensor's first dimension.
SliceSpec rows(const Shape& full, std::int64_t first, std::int64_t end) {
  SliceSpec spec{.full = full, .slice = {}};
  spec.slice.extents.resize(static_cast<std::size_t>(full.rank()));
  spec.slice.extents[0] = {first, end - first};
  return {.full = full, .slice = spec.slice.within(full)};
}

void copy(const CheckpointReader& from, CheckpointWriter& to, const VariableInfo& variable, bool parts) {
  if (!parts || variable.shape.rank() < 1 || variable.shape[0] < 2)
    return to.add(variable.name, from.read(variable.name));
  const std::int64_t half = variable.shape[0] / 2;
  for (const SliceSpec& spec : {rows(variable.shape, 0, half), rows(variable.shape, half, variable.shape[0])})
    to.add(variable.name, spec, from.read(variable.name, spec.slice));
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 3) return 2;
  const CheckpointReader from(arguments[1]);
  const std::string prefix = arguments[2];
  CheckpointWriter to(prefix);
  for (const auto& variable : from.variables()) copy(from, to, variable, count > 3);
  to.finish();
  update_checkpoint_state(parent_of(prefix), prefix);
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
