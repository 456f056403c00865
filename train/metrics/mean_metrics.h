// Streaming means: of values, and of what predictions are off by. All keep a sum and a weight, `total` and
// `count` under the metric's scope, and are their quotient. Source: tf.metrics (compat.v1), behaviours 20.2.
#pragma once

#include "train/metrics/metric.h"

namespace runnel::metrics {

// The mean of all values so far: sum of weight * value over sum of weights, 0 before the first.
//
//   values   T[...]
//   returns  float[] twice, nodes `mean/value` and `mean/update_op`
//   T        float, double, integers, bool
//   errors   InvalidArgument if weights can not be spread over the values: here if known, else from
//            Session::run
//   grad     none
//   source   tf.metrics.mean; variables mean/total, mean/count, float[]
Metric mean(Output values, MetricOptions options = {});

// The same for each element by itself.
//
//   values   T[dims], known in full
//   returns  float[dims] twice
//   errors   as mean; InvalidArgument if the shape is not known
//   source   tf.metrics.mean_tensor; variables mean/total_tensor, mean/count_tensor, float[dims]
Metric mean_tensor(Output values, MetricOptions options = {});

// How often a prediction is the label.
//
//   labels       T[...]
//   predictions  U[...], cast to T if that is another dtype
//   returns      float[] twice
//   T            any with Equal
//   errors       InvalidArgument if the shapes differ (a last dimension of 1 apart), and as mean
//   source       tf.metrics.accuracy; scope `accuracy`, variables as mean's
Metric accuracy(Output labels, Output predictions, MetricOptions options = {});

// The means of (label - prediction)^2, the root of that mean, and of |label - prediction|.
//
//   labels, predictions  T[...]
//   returns              float[] twice
//   T                    float, double, integers
//   errors               as accuracy
//   source               tf.metrics.mean_squared_error, ...; scopes of those names
Metric mean_squared_error(Output labels, Output predictions, MetricOptions options = {});
Metric root_mean_squared_error(Output labels, Output predictions, MetricOptions options = {});
Metric mean_absolute_error(Output labels, Output predictions, MetricOptions options = {});

// The mean of |label - prediction| / normalizer; an element whose normalizer is 0 counts as 0.
//
//   labels, predictions, normalizer  T[...]
//   returns                          float[] twice
//   T                                float, double
//   errors                           as accuracy
//   source                           tf.metrics.mean_relative_error
Metric mean_relative_error(Output labels, Output predictions, Output normalizer, MetricOptions options = {});

// One minus the mean of label * prediction added up along `dim`: the cosine distance if both have length 1.
//
//   labels, predictions  float[...]
//   dim                  weights, if any, are 1 there
//   returns              float[] twice
//   errors               as accuracy
//   source               tf.metrics.mean_cosine_distance
Metric mean_cosine_distance(Output labels, Output predictions, int dim, MetricOptions options = {});

// Which share of the values is below `threshold`.
//
//   values   T[...]
//   returns  float[] twice
//   T        float, double, integers
//   errors   as mean
//   source   tf.metrics.percentage_below; scope `percentage_below_threshold`
Metric percentage_below(Output values, const Operand& threshold, MetricOptions options = {});

}  // namespace runnel::metrics
