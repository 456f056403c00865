// See model_fn.h.
#include "train/estimator/model_fn.h"

#include "graph/error.h"

namespace runnel {
namespace {

void require(bool there, const char* what, ModeKeys mode) {
  if (!there)
    throw InvalidArgument(
        cat("EstimatorSpec: ", what, " is missing; a model in mode '", name_of(mode), "' must return it"));
}

void require_scalar(const Output& loss) {
  const Shape& shape = loss.shape();
  const bool scalar = !shape.has_rank() || shape.rank() == 0 ||
                      (shape.rank() == 1 && (shape[0] == 1 || shape[0] == kUnknown));
  if (!scalar)
    throw InvalidArgument(cat("EstimatorSpec: the loss must be a scalar, but ", loss.name(), " is ",
                              name_of(loss.dtype()), shape));
}

void require_of(const Graph& graph, const Output& output, const char* what) {
  if (output && !(output.graph() == graph))
    throw InvalidArgument(cat("EstimatorSpec: ", what, " ", output.name(),
                              " is of another graph than the one the model function was given"));
}

}  // namespace

const char* name_of(ModeKeys mode) {
  switch (mode) {
    case ModeKeys::kTrain: return "train";
    case ModeKeys::kEval: return "eval";
    case ModeKeys::kPredict: return "infer";
  }
  return "";
}

void require_complete(const EstimatorSpec& spec, ModeKeys mode, const Graph& graph) {
  if (spec.mode != mode)
    throw InvalidArgument(cat("EstimatorSpec: the model function returned one of mode '", name_of(spec.mode),
                              "' when it was called in mode '", name_of(mode), "'"));
  if (mode == ModeKeys::kPredict) {
    require(!spec.predictions.empty(), "predictions", mode);
  } else {
    require(static_cast<bool>(spec.loss), "loss", mode);
    require_scalar(spec.loss);
  }
  if (mode == ModeKeys::kTrain) require(static_cast<bool>(spec.train_op), "train_op", mode);
  require_of(graph, spec.loss, "the loss");
  if (spec.train_op && !(spec.train_op.graph() == graph))
    throw InvalidArgument(cat("EstimatorSpec: the train_op ", spec.train_op.name(),
                              " is of another graph than the one the model function was given"));
  for (const auto& [name, output] : spec.predictions.all()) require_of(graph, output, "the prediction");
}

}  // namespace runnel
