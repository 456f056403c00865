// The ops that make queues. What they give is a handle; the queue itself is a resource of the session, found
// again by container and name. The ops of old graphs give the two as strings, which nobody reads here.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "graph/error.h"
#include "kernels/queue/queue.h"

namespace runnel {
namespace {

// What an int32 can count, as in TensorFlow.
std::int64_t require_count(const char* what, std::int64_t number) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (number > kMost || number < -kMost - 1)
    throw InvalidArgument(cat("the ", what, " is ", number, "; at most ", kMost, " elements can be counted"));
  return number;
}

QueueForm form_of(const Bind& b, const char* kind) {
  const Node& node = b.node();
  const std::string& shared = node.bytes("shared_name");
  QueueForm form{.kind = kind,
                 .name = shared.empty() ? node.name() : shared,
                 .capacity = require_count("capacity", b.integer("capacity")),
                 .types = node.types("component_types"),
                 .shapes = {}};
  const AttrValue* shapes = node.attr("shapes");
  if (const auto* list = shapes ? shapes->if_is<std::vector<Shape>>() : nullptr) form.shapes = *list;
  if (!form.shapes.empty() && form.shapes.size() != form.types.size())
    throw InvalidArgument(cat("there are ", form.types.size(), " component types, but ", form.shapes.size(),
                              " shapes: give a shape for each, or none"));
  return form;
}

void require_known(const QueueForm& form) {
  for (const Shape& shape : form.shapes)
    if (!shape.is_known())
      throw InvalidArgument(cat("the shape ", shape, " is known in part only: a PaddingFIFOQueue takes it"));
}

// Makes the queue, or finds one of the same name, which must be the same.
void bind_queue(Bind& b, QueueForm form, const std::function<std::unique_ptr<QueueOrder>()>& order) {
  const auto queue = b.make_resource<Queue>([&] { return std::make_shared<Queue>(form, order()); });
  queue->require_same(form);
  if (b.output("handle").dtype != DType::kString) return b.run([](Context&) {});
  b.run([out = b.out<std::string>("handle"), container = b.node().bytes("container"),
         name = form.name](Context& c) {
    c[out][0] = container;
    c[out][1] = name;
  });
}

void bind_fifo(Bind& b) {
  QueueForm form = form_of(b, "FIFOQueue");
  require_known(form);
  bind_queue(b, std::move(form), first_in_first_out);
}

void bind_padding(Bind& b) {
  QueueForm form = form_of(b, "PaddingFIFOQueue");
  if (form.shapes.empty()) throw InvalidArgument("there are no shapes: give one for each component");
  for (const Shape& shape : form.shapes)
    if (!shape.has_rank()) throw InvalidArgument("a shape has no rank: only dimensions can be padded");
  bind_queue(b, std::move(form), first_in_first_out);
}

void bind_random(Bind& b) {
  QueueForm form = form_of(b, "RandomShuffleQueue");
  require_known(form);
  form.min_after_dequeue = require_count("min_after_dequeue", b.integer("min_after_dequeue"));
  if (form.min_after_dequeue < 0)
    throw InvalidArgument(cat("min_after_dequeue is ", form.min_after_dequeue, "; it must be at least 0"));
  if (form.capacity >= 0 && form.capacity <= form.min_after_dequeue)
    throw InvalidArgument(cat("the capacity is ", form.capacity,
                              ", which must be larger than min_after_dequeue, ", form.min_after_dequeue,
                              ", or nothing could ever be dequeued"));
  bind_queue(b, std::move(form),
             [seed = b.integer("seed"), seed2 = b.integer("seed2")] { return at_random(seed, seed2); });
}

// Component 0 is the priority, which the attributes do not list.
void bind_priority(Bind& b) {
  QueueForm form = form_of(b, "PriorityQueue");
  require_known(form);
  if (!form.shapes.empty()) form.shapes.insert(form.shapes.begin(), Shape{});
  form.types.insert(form.types.begin(), DType::kInt64);
  form.whole_batches = true;
  bind_queue(b, std::move(form), by_priority);
}

const KernelRegistration kFIFOQueue{"FIFOQueue", any, bind_fifo};
const KernelRegistration kFIFOQueueV2{"FIFOQueueV2", any, bind_fifo};
const KernelRegistration kPaddingFIFOQueue{"PaddingFIFOQueue", any, bind_padding};
const KernelRegistration kPaddingFIFOQueueV2{"PaddingFIFOQueueV2", any, bind_padding};
const KernelRegistration kRandomShuffleQueue{"RandomShuffleQueue", any, bind_random};
const KernelRegistration kRandomShuffleQueueV2{"RandomShuffleQueueV2", any, bind_random};
const KernelRegistration kPriorityQueue{"PriorityQueue", any, bind_priority};
const KernelRegistration kPriorityQueueV2{"PriorityQueueV2", any, bind_priority};

}  // namespace
}  // namespace runnel
