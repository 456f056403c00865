// Queues of a session: nodes that put tensors in, nodes that take them out, and both wait for each other
// across steps and threads. One class a kind of queue, as in TensorFlow; they differ in the order in which
// elements come out. What the elements are is said once, where the queue is made.
//
//   const FIFOQueue queue(g, 32, {DType::kFloat}, {.shapes = {Shape{}}});
//   const Operation fill = queue.enqueue({x});
//   const Output batch = queue.dequeue_many(8);
//
// A queue holds its elements in the session, not in the graph. Leaves out from_list, since which queue a node
// uses must be known before a step runs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/dataflow.h"
#include "ops/operand.h"

namespace runnel {

// What comes out of a queue: a tensor a component, in the order of the queue's dtypes.
class QueueItem {
 public:
  QueueItem(Outputs components, std::vector<std::string> names)
      : components_(std::move(components)), names_(std::move(names)) {}

  const Outputs& components() const { return components_; }
  std::size_t size() const { return components_.size(); }
  // Throw InvalidArgument if there is no such component.
  Output operator[](std::size_t k) const;
  Output operator[](std::string_view name) const;
  // The only component. Throws InvalidArgument if there are more.
  operator Output() const;
  // By name; empty for a queue without names.
  std::map<std::string, Output> by_name() const;

 private:
  Outputs components_;
  std::vector<std::string> names_;
};

// What goes into a queue with names: {{"key", key}, {"value", value}}.
class NamedComponents {
 public:
  NamedComponents(std::map<std::string, Operand> values) : values_(std::move(values)) {}
  NamedComponents(std::initializer_list<std::pair<const std::string, Operand>> values) : values_(values) {}
  const std::map<std::string, Operand>& values() const { return values_; }

 private:
  std::map<std::string, Operand> values_;
};

struct QueueCloseOptions {
  bool cancel_pending_enqueues = false;
  std::string name = "";
  Location where = Location::here();
};

// What all queues can do. A small handle to a node; copies mean the same queue. Nodes are named after the
// queue's own name, as TensorFlow names them: "fifo_queue_enqueue", "fifo_queue_Dequeue".
class QueueBase {
 public:
  // The queue behind a handle that is in the graph already, an imported one say: the output of a queue op, or
  // an Identity of it. Throws InvalidArgument if it is no such thing.
  explicit QueueBase(Output handle, std::vector<std::string> names = {});

  const Output& queue_ref() const { return ref_; }
  const std::string& name() const { return ref_.node().name(); }
  const std::vector<DType>& dtypes() const { return dtypes_; }
  const std::vector<Shape>& shapes() const { return shapes_; }  // none: any
  const std::vector<std::string>& names() const { return names_; }

  // Puts one element in; waits while the queue is full.
  //
  //   values   a tensor a component, of its dtype and shape; by name for a queue with names
  //   errors   InvalidArgument for what does not fit: here as far as shapes are known, else from
  //            Session::run; Cancelled when the queue is closed
  //   source   TensorFlow "QueueEnqueueV2"
  Operation enqueue(const std::vector<Operand>& values, OpOptions options = {}) const;
  Operation enqueue(const NamedComponents& values, OpOptions options = {}) const;

  // Puts in each row of the first dimension, one after another as room appears.
  //
  //   values   T[batch, ...] a component, one batch for all; none is put in where batch is 0
  //   errors   as enqueue
  //   source   TensorFlow "QueueEnqueueManyV2"
  Operation enqueue_many(const std::vector<Operand>& values, OpOptions options = {}) const;
  Operation enqueue_many(const NamedComponents& values, OpOptions options = {}) const;

  // Takes one element out; waits while there is none.
  //
  //   errors   OutOfRange when the queue is closed and empty
  //   source   TensorFlow "QueueDequeueV2"
  QueueItem dequeue(OpOptions options = {}) const;

  // Takes n elements out, as they come, and stacks them. When the queue closes before they are there, those
  // taken go back.
  //
  //   n        int32[], at least 0
  //   returns  T[n, ...] a component
  //   errors   InvalidArgument if the queue does not know its shapes; OutOfRange when it is closed and has
  //            fewer
  //   source   TensorFlow "QueueDequeueManyV2"
  QueueItem dequeue_many(const Operand& n, OpOptions options = {}) const;

  // The same, but of a closed queue what is left, if that is less than n.
  //
  //   returns  T[at least 1 and at most n, ...] a component
  //   errors   as dequeue_many; OutOfRange when the queue is closed and empty
  //   source   TensorFlow "QueueDequeueUpToV2"
  QueueItem dequeue_up_to(const Operand& n, OpOptions options = {}) const;

  // Closes the queue once the enqueues that wait are served; with cancel_pending_enqueues at once, and those
  // end with Cancelled. What is in it can still be taken out.
  //
  //   errors   Cancelled if it is closed already (not with cancel_pending_enqueues)
  //   source   TensorFlow "QueueCloseV2"
  Operation close(QueueCloseOptions options = {}) const;

  // Elements now: int32[]. Never waits.  source: TensorFlow "QueueSizeV2"
  Output size(OpOptions options = {}) const;
  // bool[]. Never waits.  source: TensorFlow "QueueIsClosedV2"
  Output is_closed(OpOptions options = {}) const;

 private:
  std::string own_name(const char* suffix, std::string asked) const;
  std::vector<Operand> ordered(const NamedComponents& values, Location where) const;
  Operation put(const char* op, bool batch, const std::vector<Operand>& values, std::string name,
                Location where) const;
  QueueItem take(const char* op, const char* suffix, const Operand* n, OpOptions options) const;
  Node& add(const char* op, const std::vector<Argument>& inputs, Attrs attrs, std::string_view name,
            Location where) const;
  void require_form(const std::vector<Operand>& values, bool batch, Location where) const;

  Output ref_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  std::vector<std::string> names_;
};

struct FIFOQueueOptions {
  std::vector<Shape> shapes = {};       // a known shape a component; none: elements of any shape
  std::vector<std::string> names = {};  // of the components
  std::string shared_name = "";         // queues of one shared_name are one queue
  std::string name = "fifo_queue";
  Location where = Location::here();
};

// First in, first out. A capacity below 0 has no bound; of this and all queues it is at most 2^31 - 1, else
// InvalidArgument.  source: TensorFlow "FIFOQueueV2"
class FIFOQueue : public QueueBase {
 public:
  FIFOQueue(Graph& graph, std::int64_t capacity, const std::vector<DType>& dtypes,
            FIFOQueueOptions options = {});
};

struct RandomShuffleQueueOptions {
  std::vector<Shape> shapes = {};
  std::vector<std::string> names = {};
  // As for all random ops (Graph::seeds); with a shared_name and no seed of its own the op's seed comes from
  // that name.
  std::optional<std::int64_t> seed = {};
  std::string shared_name = "";
  std::string name = "random_shuffle_queue";
  Location where = Location::here();
};

// Any element with the same chance, in TensorFlow's order for the same seeds. While it is open,
// min_after_dequeue elements stay in it, so that what comes out is well mixed.
//
//   errors   from Session::run: InvalidArgument if the capacity is not larger than min_after_dequeue
//   source   TensorFlow "RandomShuffleQueueV2"
class RandomShuffleQueue : public QueueBase {
 public:
  RandomShuffleQueue(Graph& graph, std::int64_t capacity, std::int64_t min_after_dequeue,
                     const std::vector<DType>& dtypes, RandomShuffleQueueOptions options = {});
};

struct PaddingFIFOQueueOptions {
  std::vector<std::string> names = {};
  std::string shared_name = "";
  std::string name = "padding_fifo_queue";
  Location where = Location::here();
};

// First in, first out, of elements whose shapes are known in part: a batch takes the largest of its elements
// in each dimension and is filled up with zeros or empty strings.
//
//   shapes   one a component; dimensions may be unknown, the rank not
//   errors   InvalidArgument without a shape for each component
//   source   TensorFlow "PaddingFIFOQueueV2"
class PaddingFIFOQueue : public QueueBase {
 public:
  PaddingFIFOQueue(Graph& graph, std::int64_t capacity, const std::vector<DType>& dtypes,
                   const std::vector<Shape>& shapes, PaddingFIFOQueueOptions options = {});
};

struct PriorityQueueOptions {
  std::vector<Shape> shapes = {};
  std::vector<std::string> names = {};  // with one for the priority in front
  std::string shared_name = "";
  std::string name = "priority_queue";
  Location where = Location::here();
};

// The smallest priority first: component 0, int64[], which `types` and `shapes` do not list. dequeue_many
// takes nothing until all n are there, so n must not be over the capacity.
//
//   source   TensorFlow "PriorityQueueV2"
class PriorityQueue : public QueueBase {
 public:
  PriorityQueue(Graph& graph, std::int64_t capacity, const std::vector<DType>& types,
                PriorityQueueOptions options = {});
};

}  // namespace runnel
