// All four functions are one: a queue, what enqueues into it, a summary of how full it is, a dequeue of many.
#include "train/input/batch.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/queue_ops.h"
#include "train/input/fullness.h"
#include "train/supervisor/queue_runner.h"

namespace runnel {
namespace {

using Sets = std::vector<Outputs>;

// What goes into the queue and how it comes out.
struct Flow {
  const char* function;  // for errors
  const Sets& sets;      // one enqueue operation each
  int threads;           // that run each enqueue operation
  bool enqueue_many;
  const std::vector<Shape>& shapes;
  bool partial_shapes;
  bool smaller;
  Location where;

  [[noreturn]] void refuse(const std::string& why) const {
    throw InvalidArgument(cat(function, ": ", why), where);
  }
};

// An enqueue operation is listed once a thread. More threads than this mean a mistake.
constexpr int kMostThreads = 10000;

using Types = std::vector<DType>;
using Shapes = std::vector<Shape>;

Types types_of(const Flow& flow) {
  if (flow.sets.empty() || flow.sets[0].empty()) flow.refuse("there is no tensor to put into batches");
  if (flow.threads < 1) flow.refuse(cat("num_threads is ", flow.threads, "; give 1 or more"));
  if (flow.threads > kMostThreads)
    flow.refuse(cat("num_threads is ", flow.threads, "; give ", kMostThreads, " or fewer"));
  if (flow.sets.size() > kMostThreads)
    flow.refuse(cat(flow.sets.size(), " lists, each with a thread; give ", kMostThreads, " or fewer"));
  Types types;
  for (const Output& tensor : flow.sets[0]) types.push_back(base_of(tensor.dtype()));
  for (const Outputs& set : flow.sets) {
    if (set.size() != types.size())
      flow.refuse(cat("one list has ", types.size(), " tensors, another ", set.size()));
    for (std::size_t i = 0; i < types.size(); ++i)
      if (base_of(set[i].dtype()) != types[i])
        flow.refuse(cat(set[i].name(), " is ", name_of(set[i].dtype()), " where ", flow.sets[0][i].name(),
                        " is ", name_of(types[i])));
  }
  return types;
}

// The shape of one example in `tensor`.
Shape example_shape(const Flow& flow, const Output& tensor) {
  const Shape& shape = tensor.shape();
  if (!shape.has_rank())
    flow.refuse(
        cat("the rank of ", tensor.name(), " is not known; say the shapes of an example as `shapes`"));
  if (!flow.enqueue_many) return shape;
  if (shape.rank() == 0)
    flow.refuse(cat(tensor.name(), " is a scalar, so enqueue_many finds no examples in it"));
  return Shape(shape.dims().subspan(1));
}

// The same for all lists, as TensorFlow has it: the first list's.
Shapes inferred_shapes(const Flow& flow) {
  Shapes shapes;
  for (std::size_t i = 0; i < flow.sets[0].size(); ++i) {
    shapes.push_back(example_shape(flow, flow.sets[0][i]));
    for (const Outputs& set : flow.sets)
      if (const Shape other = example_shape(flow, set[i]); !other.compatible_with(shapes.back()))
        flow.refuse(cat(set[i].name(), " holds examples of shape ", other.text(), ", ",
                        flow.sets[0][i].name(), " of shape ", shapes.back().text()));
  }
  return shapes;
}

Shapes shapes_of(const Flow& flow) {
  const Shapes shapes = flow.shapes.empty() ? inferred_shapes(flow) : flow.shapes;
  if (shapes.size() != flow.sets[0].size())
    flow.refuse(cat(shapes.size(), " shapes are given for ", flow.sets[0].size(), " tensors"));
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!shapes[i].has_rank() || (!flow.partial_shapes && !shapes[i].is_known()))
      flow.refuse(cat("examples of ", flow.sets[0][i].name(), " have the shape ", shapes[i].text(),
                      ", which is not known in full; say it as `shapes`",
                      flow.partial_shapes ? "" : ", or batch with dynamic_pad"));
  return shapes;
}

void fill(const QueueBase& queue, const Flow& flow) {
  std::vector<Operation> enqueues;
  for (const Outputs& set : flow.sets) {
    const std::vector<Operand> values(set.begin(), set.end());
    const Operation enqueue = flow.enqueue_many ? queue.enqueue_many(values) : queue.enqueue(values);
    enqueues.insert(enqueues.end(), static_cast<std::size_t>(flow.threads), enqueue);
  }
  add_queue_runner(queue.queue_ref().graph(), QueueRunner(queue, enqueues, {.where = flow.where}));
}

Outputs batches(const QueueBase& queue, const Flow& flow, const Operand& batch_size,
                const std::string& scope) {
  const OpOptions named{.name = scope, .where = flow.where};
  return (flow.smaller ? queue.dequeue_up_to(batch_size, named) : queue.dequeue_many(batch_size, named))
      .components();
}

// TensorFlow's `keep_input`, which is true here.
void keep_all(Graph& g) { constant(g, Tensor::scalar(true)); }

Outputs in_order(const Flow& flow, const Operand& batch_size, std::int64_t capacity,
                 const std::string& shared_name, const std::string& name) {
  const Types types = types_of(flow);
  Graph& g = flow.sets[0][0].graph();
  const MadeAt at(g, flow.where);
  const NameScope scope(g, name);
  keep_all(g);
  const Shapes shapes = shapes_of(flow);
  const QueueBase queue =
      flow.partial_shapes
          ? QueueBase(PaddingFIFOQueue(g, capacity, types, shapes, {.shared_name = shared_name}))
          : FIFOQueue(g, capacity, types, {.shapes = shapes, .shared_name = shared_name});
  fill(queue, flow);
  summarize_fullness(queue, capacity, cat("fraction_of_", capacity, "_full"));
  return batches(queue, flow, batch_size, scope.name());
}

struct Shuffle {
  std::int64_t capacity, min_after_dequeue;
  std::optional<std::int64_t> seed;
};

Outputs shuffled(const Flow& flow, const Operand& batch_size, const Shuffle& shuffle,
                 const std::string& shared_name, const std::string& name) {
  if (shuffle.capacity <= shuffle.min_after_dequeue)
    flow.refuse(cat("capacity is ", shuffle.capacity, ", min_after_dequeue ", shuffle.min_after_dequeue,
                    "; the capacity must be larger"));
  const Types types = types_of(flow);
  Graph& g = flow.sets[0][0].graph();
  const MadeAt at(g, flow.where);
  const NameScope scope(g, name);
  keep_all(g);
  const QueueBase queue =
      RandomShuffleQueue(g, shuffle.capacity, shuffle.min_after_dequeue, types,
                         {.shapes = shapes_of(flow), .seed = shuffle.seed, .shared_name = shared_name});
  fill(queue, flow);
  summarize_fullness_over(queue, shuffle.min_after_dequeue, shuffle.capacity);
  return batches(queue, flow, batch_size, scope.name());
}

std::string or_default(const std::string& name, const char* fallback) {
  return name.empty() ? fallback : name;
}

// Runs `function` on the tensors in order of their names, and names what comes back.
std::map<std::string, Output> by_name(const std::map<std::string, Output>& tensors,
                                      const std::function<Outputs(const Outputs&)>& function) {
  Outputs list;
  for (const auto& [name, tensor] : tensors) list.push_back(tensor);
  const Outputs batched = function(list);
  std::map<std::string, Output> out;
  std::size_t next = 0;
  for (const auto& [name, tensor] : tensors) out[name] = batched[next++];
  return out;
}

}  // namespace

Outputs batch(const Outputs& tensors, Operand batch_size, BatchOptions o) {
  const Sets sets{tensors};
  return in_order({"batch", sets, o.num_threads, o.enqueue_many, o.shapes, o.dynamic_pad,
                   o.allow_smaller_final_batch, o.where},
                  batch_size, o.capacity, o.shared_name, or_default(o.name, "batch"));
}

std::map<std::string, Output> batch_by_name(const std::map<std::string, Output>& tensors, Operand batch_size,
                                            BatchOptions options) {
  return by_name(tensors, [&](const Outputs& list) { return batch(list, batch_size, options); });
}

Outputs batch_join(const std::vector<Outputs>& tensors_list, Operand batch_size, BatchJoinOptions o) {
  return in_order({"batch_join", tensors_list, 1, o.enqueue_many, o.shapes, o.dynamic_pad,
                   o.allow_smaller_final_batch, o.where},
                  batch_size, o.capacity, o.shared_name, or_default(o.name, "batch_join"));
}

Outputs shuffle_batch(const Outputs& tensors, Operand batch_size, ShuffleBatchOptions o) {
  const Sets sets{tensors};
  return shuffled({"shuffle_batch", sets, o.num_threads, o.enqueue_many, o.shapes, false,
                   o.allow_smaller_final_batch, o.where},
                  batch_size, {o.capacity, o.min_after_dequeue, o.seed}, o.shared_name,
                  or_default(o.name, "shuffle_batch"));
}

std::map<std::string, Output> shuffle_batch_by_name(const std::map<std::string, Output>& tensors,
                                                    Operand batch_size, ShuffleBatchOptions options) {
  return by_name(tensors, [&](const Outputs& list) { return shuffle_batch(list, batch_size, options); });
}

Outputs shuffle_batch_join(const std::vector<Outputs>& tensors_list, Operand batch_size,
                           ShuffleBatchJoinOptions o) {
  return shuffled({"shuffle_batch_join", tensors_list, 1, o.enqueue_many, o.shapes, false,
                   o.allow_smaller_final_batch, o.where},
                  batch_size, {o.capacity, o.min_after_dequeue, o.seed}, o.shared_name,
                  or_default(o.name, "shuffle_batch_join"));
}

}  // namespace runnel
