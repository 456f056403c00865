// The step that a save puts behind its path. One that is a tensor of the graph is read together with the
// values that will be saved, in one run, so that a training step which comes between cannot make the name and
// the content differ.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "graph/dataflow.h"
#include "graph/runtime/session.h"

namespace runnel {

// None, a number, or an integer scalar of the graph.
class SaveStep {
 public:
  SaveStep() = default;
  template <std::integral T>
  SaveStep(T number) : value_(static_cast<std::int64_t>(number)) {}
  SaveStep(Output tensor) : value_(tensor) {}
  SaveStep(const Variable& variable) : value_(variable.value()) {}

  const std::int64_t* number() const { return std::get_if<std::int64_t>(&value_); }
  const Output* tensor() const { return std::get_if<Output>(&value_); }

 private:
  std::variant<std::monostate, std::int64_t, Output> value_;
};

// What SaveV2 nodes write when `save` is fetched, each tensor once. None if another node comes before one of
// them, by a control edge: then only that run can tell what they write.
Outputs saved_tensors(Output save);

// The step's number, and the saved tensors' values of the same moment, to be fed to the run that saves. For a
// step that is no tensor there are values only if `always`: the run that saves reads them itself.
struct SaveCut {
  std::optional<std::int64_t> step;
  std::vector<Feed> values = {};
};

// `save`: the tensor whose fetch saves; none if nothing will be saved. Throws InvalidArgument for a step that
// is no integer scalar.
SaveCut read_cut(Session& session, const SaveStep& step, std::optional<Output> save, bool always = false);

}  // namespace runnel
