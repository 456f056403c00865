// Each producer makes its tensor of rows and leaves the rest to input_producer. A name ending in '/' goes
// down to the queue, which so has the name of the scope, as in TensorFlow.
#include "train/input/input_producer.h"

#include <utility>

#include "graph/error.h"
#include "ops/array_gather_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/assert_ops.h"
#include "ops/comparison_ops.h"
#include "ops/random_ops.h"
#include "train/input/fullness.h"
#include "train/input/limit_epochs.h"
#include "train/supervisor/queue_runner.h"

namespace runnel {
namespace {

constexpr const char* kScope = "input_producer";

std::string or_default(const std::string& name) { return name.empty() ? kScope : name; }

// The shape of a row, from the tensor and from what the caller says.
Shape row_shape(const Output& tensor, const InputProducerOptions& options) {
  const Shape& whole = tensor.shape();
  Shape row = Shape::unknown();
  if (whole.has_rank() && whole.rank() > 0) row = Shape(whole.dims().subspan(1));
  const Shape& said = options.element_shape.value_or(Shape::unknown());
  if ((whole.has_rank() && whole.rank() == 0) || !row.compatible_with(said))
    throw InvalidArgument(cat("input_producer: ", tensor.name(), " of shape ", whole.text(),
                              " has no rows of shape ", said.text()),
                          options.where);
  row = row.merged_with(said);
  if (!row.is_known())
    throw InvalidArgument(cat("input_producer: rows of ", tensor.name(), " have the shape ", row.text(),
                              ", which is not known in full; say it as element_shape"),
                          options.where);
  return row;
}

// What the three producers below have in common.
FIFOQueue rows_of(Output tensor, const std::string& scope, RangeInputProducerOptions options,
                  Operation cancel_op) {
  return input_producer(tensor, {.element_shape = Shape{},
                                 .num_epochs = options.num_epochs,
                                 .shuffle = options.shuffle,
                                 .seed = options.seed,
                                 .capacity = options.capacity,
                                 .shared_name = options.shared_name,
                                 .summary_name = cat("fraction_of_", options.capacity, "_full"),
                                 .name = scope,
                                 .cancel_op = cancel_op,
                                 .where = options.where});
}

// Requires: its scope is open.
FIFOQueue strings_of(Output strings, const std::string& scope, const StringInputProducerOptions& options) {
  if (const DType type = base_of(strings.dtype()); type != DType::kString)
    throw InvalidArgument(
        cat("string_input_producer: ", strings.name(), " holds ", name_of(type), ", not strings"),
        options.where);
  const Tensor none_given =
      Tensor::scalar(std::string("string_input_producer: there is no string to hand out"));
  const Operation checked = assert_true(greater(size(strings), 0), {none_given});
  Output rows;
  {
    const ControlDependencies after(strings.graph(), {checked});
    rows = identity(strings);
  }
  return rows_of(rows, scope,
                 {.num_epochs = options.num_epochs,
                  .shuffle = options.shuffle,
                  .seed = options.seed,
                  .capacity = options.capacity,
                  .shared_name = options.shared_name,
                  .where = options.where},
                 options.cancel_op);
}

}  // namespace

FIFOQueue input_producer(Output input_tensor, InputProducerOptions options) {
  Graph& g = input_tensor.graph();
  const MadeAt at(g, options.where);
  const NameScope scope(g, or_default(options.name));
  const Shape row = row_shape(input_tensor, options);
  if (options.shuffle) input_tensor = random_shuffle(input_tensor, {.seed = options.seed});
  input_tensor = limit_epochs(input_tensor, options.num_epochs);
  const FIFOQueue queue(g, options.capacity, {base_of(input_tensor.dtype())},
                        {.shapes = {row},
                         .shared_name = options.shared_name,
                         .name = options.name.empty() ? "FIFOQueueV2" : options.name});
  add_queue_runner(g, QueueRunner(queue, {queue.enqueue_many({input_tensor})},
                                  {.cancel_op = options.cancel_op, .where = options.where}));
  if (!options.summary_name.empty()) summarize_fullness(queue, options.capacity, options.summary_name);
  return queue;
}

FIFOQueue string_input_producer(Output string_tensor, StringInputProducerOptions options) {
  const MadeAt at(string_tensor.graph(), options.where);
  const NameScope scope(string_tensor.graph(), or_default(options.name));
  return strings_of(string_tensor, scope.name(), options);
}

FIFOQueue string_input_producer(Graph& graph, const std::vector<std::string>& strings,
                                StringInputProducerOptions options) {
  if (strings.empty())
    throw InvalidArgument(
        "string_input_producer: there is no string to hand out; did a pattern match no file?", options.where);
  const MadeAt at(graph, options.where);
  const NameScope scope(graph, or_default(options.name));
  return strings_of(constant(graph, Tensor::vector(strings)), scope.name(), options);
}

FIFOQueue range_input_producer(Output limit, RangeInputProducerOptions options) {
  const MadeAt at(limit.graph(), options.where);
  const NameScope scope(limit.graph(), or_default(options.name));
  return rows_of(range(0, limit), scope.name(), options, {});
}

FIFOQueue range_input_producer(Graph& graph, std::int32_t limit, RangeInputProducerOptions options) {
  const MadeAt at(graph, options.where);
  const NameScope scope(graph, or_default(options.name));
  Output end;
  {
    const NameScope inner(graph, scope.name() + "range/");
    end = constant(graph, Tensor::scalar(limit), {.name = "limit"});
  }
  return rows_of(range(0, end), scope.name(), options, {});
}

Outputs slice_input_producer(const Outputs& tensor_list, RangeInputProducerOptions options) {
  if (tensor_list.empty())
    throw InvalidArgument("slice_input_producer: there is no tensor to take slices of", options.where);
  Graph& g = tensor_list[0].graph();
  const MadeAt at(g, options.where);
  const NameScope scope(g, or_default(options.name));
  const Output rows = shape(tensor_list[0])[0];
  options.name = "";
  const Output index = range_input_producer(rows, options).dequeue();
  Outputs out;
  for (const Output& tensor : tensor_list) out.push_back(gather(tensor, index));
  return out;
}

}  // namespace runnel
