// Single examples put together to batches, by threads that run ahead of the step. The examples go into a
// queue (a QueueRunner in the collection `queue_runners` fills it), and what is returned is a dequeue of
// `batch_size` of them. Names, attributes, collections and static shapes are TensorFlow's (tf.train.batch and
// its kin, behaviours 6.3). Left out: sparse tensors, and the maybe_ forms, which need an enqueue under a
// conditional.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

struct BatchOptions {
  int num_threads = 1;             // that run the one enqueue operation; more mix the order
  std::int64_t capacity = 32;      // examples in the queue
  bool enqueue_many = false;       // each tensor holds many examples, along its first dimension
  std::vector<Shape> shapes = {};  // of an example; empty: those of the tensors, which must be known then
  bool dynamic_pad = false;        // dimensions may be unknown: a batch pads with zeros to its largest
  bool allow_smaller_final_batch = false;  // what is left at the end of the input comes, too
  std::string shared_name = "";
  std::string name = "";  // empty: "batch"
  Location where = Location::here();
};

// Batches of `batch_size` examples in order of their coming.
//
//   tensors     T_i[dims_i] each, an example (with enqueue_many T_i[n, dims_i]: n examples)
//   batch_size  int32[], or a number
//   returns     T_i[batch_size, dims_i] each; the first dimension is unknown with allow_smaller_final_batch
//   T_i         any
//   errors      InvalidArgument for an empty list, a shape that is not known well enough, num_threads
//               below 1 or over 10,000; OutOfRange from Session::run at the end of the input
//   source      tf.train.batch
Outputs batch(const Outputs& tensors, Operand batch_size, BatchOptions options = {});
// The same of named tensors; components of the queue are sorted by name.
std::map<std::string, Output> batch_by_name(const std::map<std::string, Output>& tensors, Operand batch_size,
                                            BatchOptions options = {});

struct BatchJoinOptions {
  std::int64_t capacity = 32;
  bool enqueue_many = false;
  std::vector<Shape> shapes = {};
  bool dynamic_pad = false;
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";  // empty: "batch_join"
  Location where = Location::here();
};

// The same of examples from several places, each with a thread and an enqueue operation of its own.
//
//   tensors_list  one list of tensors a thread; dtypes and shapes of all must fit
//   errors        as batch(), and InvalidArgument if lists do not fit
//   source        tf.train.batch_join
Outputs batch_join(const std::vector<Outputs>& tensors_list, Operand batch_size,
                   BatchJoinOptions options = {});

struct ShuffleBatchOptions {
  std::int64_t capacity;           // of the queue, more than min_after_dequeue
  std::int64_t min_after_dequeue;  // as many examples are in the queue at least, to choose from
  int num_threads = 1;
  std::optional<std::int64_t> seed = {};
  bool enqueue_many = false;
  std::vector<Shape> shapes = {};
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";  // empty: "shuffle_batch"
  Location where = Location::here();
};

// Batches of examples drawn at random from those in the queue.
//
//   errors  as batch(), and InvalidArgument if capacity is not over min_after_dequeue
//   source  tf.train.shuffle_batch
Outputs shuffle_batch(const Outputs& tensors, Operand batch_size, ShuffleBatchOptions options);
std::map<std::string, Output> shuffle_batch_by_name(const std::map<std::string, Output>& tensors,
                                                    Operand batch_size, ShuffleBatchOptions options);

struct ShuffleBatchJoinOptions {
  std::int64_t capacity;
  std::int64_t min_after_dequeue;
  std::optional<std::int64_t> seed = {};
  bool enqueue_many = false;
  std::vector<Shape> shapes = {};
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";  // empty: "shuffle_batch_join"
  Location where = Location::here();
};

// The same of examples from several places.
//
//   source  tf.train.shuffle_batch_join
Outputs shuffle_batch_join(const std::vector<Outputs>& tensors_list, Operand batch_size,
                           ShuffleBatchJoinOptions options);

}  // namespace runnel
