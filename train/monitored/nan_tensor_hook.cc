// Sixteen-bit floats are told by their bits: all ones in the exponent, and a fraction.
#include "train/monitored/nan_tensor_hook.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "graph/log.h"

namespace runnel {
namespace {

bool is_nan(float value) { return std::isnan(value); }
bool is_nan(double value) { return std::isnan(value); }
bool is_nan(Half value) { return (value.bits & 0x7fff) > 0x7c00; }
bool is_nan(Bfloat16 value) { return (value.bits & 0x7fff) > 0x7f80; }

template <class T>
bool any_nan(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return std::any_of(values.begin(), values.end(), [](T value) { return is_nan(value); });
}

bool has_nan(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat: return any_nan<float>(tensor);
    case DType::kDouble: return any_nan<double>(tensor);
    case DType::kHalf: return any_nan<Half>(tensor);
    case DType::kBfloat16: return any_nan<Bfloat16>(tensor);
    default: return false;
  }
}

}  // namespace

NanTensorHook::NanTensorHook(Output loss_tensor, NanTensorHookOptions options)
    : loss_(loss_tensor), options_(options) {
  if (!is_floating(base_of(loss_.dtype())))
    throw InvalidArgument(cat("NanTensorHook: '", loss_.name(), "' is ", loss_.dtype(),
                              ", which is never NaN: give it a tensor of floating-point numbers"),
                          options_.where);
}

std::optional<SessionRunArgs> NanTensorHook::before_run(SessionRunContext&) {
  return SessionRunArgs{.fetches = {loss_}};
}

void NanTensorHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  if (!has_nan(values.results.front())) return;
  const std::string line = "Model diverged with loss = NaN.";
  if (!options_.fail_on_nan_loss) {
    log_warning(line);
    return context.request_stop(cat("'", loss_.name(), "' is NaN"));
  }
  log_error(line);
  throw NanLossDuringTrainingError(cat("NanTensorHook: the loss '", loss_.name(),
                                       "' is NaN: try a lower learning rate, clipped gradients, or look at "
                                       "the input"));
}

Hook nan_tensor(Output loss_tensor, NanTensorHookOptions options) {
  return std::make_shared<NanTensorHook>(loss_tensor, options);
}

}  // namespace runnel
