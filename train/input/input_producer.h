// Queues that hand out the rows of a tensor, epoch after epoch: file names, numbers, slices. Each adds a
// QueueRunner to the graph's collection `queue_runners`, so start_queue_runners fills it, and (but for
// input_producer without a summary_name) a scalar summary of how full it is. Names, attributes and
// collections are TensorFlow's (tf.train.*_input_producer, behaviours 6.3). With num_epochs local variables
// must be initialised.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "ops/operand.h"
#include "ops/queue_ops.h"

namespace runnel {

struct InputProducerOptions {
  std::optional<Shape> element_shape = {};      // of a row, where the tensor's own shape does not tell
  std::optional<std::int64_t> num_epochs = {};  // then the queue is closed; none: for ever
  bool shuffle = true;                          // the rows anew for each epoch
  std::optional<std::int64_t> seed = {};
  std::int64_t capacity = 32;
  std::string shared_name = "";
  std::string summary_name = "";  // of how full the queue is; empty: no summary
  std::string name = "";          // of the scope and the queue; empty: "input_producer" and "FIFOQueueV2"
  Operation cancel_op = {};       // run on a stop; none: the queue is closed and enqueues are cancelled
  Location where = Location::here();
};

// Hands out the rows of `input_tensor`.
//
//   input_tensor  T[rows, dims]
//   returns       a queue of T[dims]
//   T             any
//   errors        InvalidArgument if the shape of a row is not known in full
//   source        tf.train.input_producer
FIFOQueue input_producer(Output input_tensor, InputProducerOptions options = {});

struct StringInputProducerOptions {
  std::optional<std::int64_t> num_epochs = {};
  bool shuffle = true;
  std::optional<std::int64_t> seed = {};
  std::int64_t capacity = 32;
  std::string shared_name = "";
  std::string name = "";  // empty: "input_producer"
  Operation cancel_op = {};
  Location where = Location::here();
};

// Hands out strings, names of files say.
//
//   string_tensor  string[n], or the strings themselves
//   returns        a queue of string[]
//   errors         InvalidArgument if there are none: here if that is known, else from Session::run
//   source         tf.train.string_input_producer
FIFOQueue string_input_producer(Output string_tensor, StringInputProducerOptions options = {});
FIFOQueue string_input_producer(Graph& graph, const std::vector<std::string>& strings,
                                StringInputProducerOptions options = {});

struct RangeInputProducerOptions {
  std::optional<std::int64_t> num_epochs = {};
  bool shuffle = true;
  std::optional<std::int64_t> seed = {};
  std::int64_t capacity = 32;
  std::string shared_name = "";
  std::string name = "";  // empty: "input_producer"
  Location where = Location::here();
};

// Hands out 0 ... limit - 1.
//
//   limit    int32[], or a number
//   returns  a queue of int32[]
//   source   tf.train.range_input_producer
FIFOQueue range_input_producer(Output limit, RangeInputProducerOptions options = {});
FIFOQueue range_input_producer(Graph& graph, std::int32_t limit, RangeInputProducerOptions options = {});

// One row of each tensor, all of the same place.
//
//   tensor_list  T_i[rows, dims_i] each
//   returns      T_i[dims_i] each: what a dequeue gives, so each run takes the next row
//   errors       InvalidArgument for an empty list
//   source       tf.train.slice_input_producer
Outputs slice_input_producer(const Outputs& tensor_list, RangeInputProducerOptions options = {});

}  // namespace runnel
