// The ops that use queues. Each starts an attempt at its first try in a step, keeps it with the step, and is
// done when the attempt is; what comes out goes on without a copy.
#include <utility>

#include "graph/error.h"
#include "kernels/queue/queue.h"

namespace runnel {
namespace {

// A tensor may lie in memory that once held more; beyond this it is copied, since the queue keeps it.
constexpr std::size_t kMostSlack = 4, kSmallBytes = 4096;

std::vector<int> slots_in(const Bind& b) {
  std::vector<int> out;
  for (int k = 0; k < b.count("components"); ++k) out.push_back(b.in<std::byte>("components", k).slot);
  return out;
}

QueueElement given(Context& c, const std::vector<int>& slots) {
  QueueElement out;
  out.reserve(slots.size());
  for (const int slot : slots) {
    out.push_back(c.tensor(slot));
    Tensor& tensor = out.back();
    if (tensor.buffer()->bytes() > kMostSlack * tensor.bytes() + kSmallBytes) tensor.mutable_data();
  }
  return out;
}

// Starts the attempt, or looks whether it is done. Null while it is not.
template <class Start>
QueueAttempt* attempted(Context& c, Start start) {
  std::shared_ptr<Parked>& parked = c.parked();
  if (!parked) parked = start();
  auto* attempt = static_cast<QueueAttempt*>(parked.get());
  return attempt->done() ? attempt : nullptr;
}

void require_no_timeout(const Bind& b) {
  if (b.integer("timeout_ms") != -1)
    throw InvalidArgument("timeout_ms is not supported: give the run a timeout_in_ms (RunOptions)");
}

void require_types(const std::vector<DType>& asked, const Queue& queue) {
  if (asked.size() != queue.form().types.size())
    throw InvalidArgument(cat(asked.size(), " components are asked for, but ", queue.text(), " holds ",
                              queue.form().types.size()));
  for (std::size_t k = 0; k < asked.size(); ++k)
    if (asked[k] != queue.form().types[k])
      throw InvalidArgument(cat("component ", k, " is asked for as ", asked[k], ", but ", queue.text(),
                                " holds ", queue.form().types[k], " there"));
}

template <bool kMany>
void bind_enqueue(Bind& b) {
  require_no_timeout(b);
  b.run([queue = b.resource<Queue>("handle"), slots = slots_in(b)](Context& c) -> bool {
    QueueAttempt* attempt = attempted(c, [&] {
      return kMany ? queue->enqueue_many(given(c, slots), c.waker())
                   : queue->enqueue(given(c, slots), c.waker());
    });
    if (attempt) attempt->take();
    return attempt != nullptr;
  });
}

// `start` gives the attempt.
template <class Start>
void bind_taking(Bind& b, const std::shared_ptr<Queue>& queue, Start start) {
  require_no_timeout(b);
  require_types(b.node().types("component_types"), *queue);
  std::vector<int> slots;
  for (std::size_t k = 0; k < queue->form().types.size(); ++k)
    slots.push_back(b.out<std::byte>("components", static_cast<int>(k)).slot);
  b.run([slots = std::move(slots), start = std::move(start)](Context& c) -> bool {
    QueueAttempt* attempt = attempted(c, [&] { return start(c); });
    if (!attempt) return false;
    std::vector<Tensor> element = attempt->take();
    for (std::size_t k = 0; k < slots.size(); ++k) c.set_output(slots[k], std::move(element[k]));
    return true;
  });
}

void bind_dequeue(Bind& b) {
  const auto queue = b.resource<Queue>("handle");
  bind_taking(b, queue, [queue](Context& c) { return queue->dequeue(c.waker()); });
}

template <bool kUpTo>
void bind_dequeue_many(Bind& b) {
  const auto queue = b.resource<Queue>("handle");
  bind_taking(b, queue, [queue, n = b.in<std::int32_t>("n")](Context& c) {
    return queue->dequeue_many(*c[n], kUpTo, c.waker());
  });
}

void bind_close(Bind& b) {
  const auto queue = b.resource<Queue>("handle");
  b.run([queue, cancels = b.flag("cancel_pending_enqueues")](Context& c) -> bool {
    if (cancels) {
      queue->close_and_cancel();
      return true;
    }
    QueueAttempt* attempt = attempted(c, [&] { return queue->close(c.waker()); });
    if (attempt) attempt->take();
    return attempt != nullptr;
  });
}

void bind_size(Bind& b) {
  b.run([queue = b.resource<Queue>("handle"), out = b.out<std::int32_t>("size")](Context& c) {
    *c[out] = static_cast<std::int32_t>(queue->size());
  });
}

void bind_is_closed(Bind& b) {
  b.run([queue = b.resource<Queue>("handle"), out = b.out<bool>("is_closed")](Context& c) {
    *c[out] = queue->is_closed();
  });
}

const KernelRegistration kEnqueue{"QueueEnqueue", any, bind_enqueue<false>};
const KernelRegistration kEnqueueV2{"QueueEnqueueV2", any, bind_enqueue<false>};
const KernelRegistration kEnqueueMany{"QueueEnqueueMany", any, bind_enqueue<true>};
const KernelRegistration kEnqueueManyV2{"QueueEnqueueManyV2", any, bind_enqueue<true>};
const KernelRegistration kDequeue{"QueueDequeue", any, bind_dequeue};
const KernelRegistration kDequeueV2{"QueueDequeueV2", any, bind_dequeue};
const KernelRegistration kDequeueMany{"QueueDequeueMany", any, bind_dequeue_many<false>};
const KernelRegistration kDequeueManyV2{"QueueDequeueManyV2", any, bind_dequeue_many<false>};
const KernelRegistration kDequeueUpTo{"QueueDequeueUpTo", any, bind_dequeue_many<true>};
const KernelRegistration kDequeueUpToV2{"QueueDequeueUpToV2", any, bind_dequeue_many<true>};
const KernelRegistration kClose{"QueueClose", any, bind_close};
const KernelRegistration kCloseV2{"QueueCloseV2", any, bind_close};
const KernelRegistration kSize{"QueueSize", any, bind_size};
const KernelRegistration kSizeV2{"QueueSizeV2", any, bind_size};
const KernelRegistration kIsClosed{"QueueIsClosed", any, bind_is_closed};
const KernelRegistration kIsClosedV2{"QueueIsClosedV2", any, bind_is_closed};

}  // namespace
}  // namespace runnel
