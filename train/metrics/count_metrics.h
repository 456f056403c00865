// How many elements are found right and wrong, and what is made of such counts. Labels and predictions are
// true or false; numbers are true unless 0. Source: tf.metrics (compat.v1), behaviours 20.2.
#pragma once

#include "train/metrics/metric.h"

namespace runnel::metrics {

// The weight of elements whose label is true or false, and whose prediction is.
//
//   labels, predictions  T[...], made bool
//   returns              float[] twice
//   T                    bool, float, double, integers
//   errors               InvalidArgument if the shapes differ (a last dimension of 1 apart) or weights
//                        can not be spread over them: here if known, else from Session::run
//   grad                 none
//   source               tf.metrics.true_positives, ...; scopes of those names, variable SCOPE/count
Metric true_positives(Output labels, Output predictions, MetricOptions options = {});
Metric false_positives(Output labels, Output predictions, MetricOptions options = {});
Metric true_negatives(Output labels, Output predictions, MetricOptions options = {});
Metric false_negatives(Output labels, Output predictions, MetricOptions options = {});

// Which share of the predicted ones is right: TP / (TP + FP), 0 if none was predicted.
//
//   source  tf.metrics.precision; variables precision/true_positives/count, precision/false_positives/count
Metric precision(Output labels, Output predictions, MetricOptions options = {});

// Which share of the right ones is predicted: TP / (TP + FN), 0 if there are none.
//
//   source  tf.metrics.recall; variables recall/true_positives/count, recall/false_negatives/count
Metric recall(Output labels, Output predictions, MetricOptions options = {});

// The harmonic mean of the two, 2 / F1 = 1 / precision + 1 / recall, from the counts over all batches:
// 2 TP / (2 TP + FP + FN), 0 if all are 0. High only if both are high.
//
//   source  none in tf.metrics; variables f1/true_positives/count, f1/false_positives/count,
//           f1/false_negatives/count
Metric f1(Output labels, Output predictions, MetricOptions options = {});

}  // namespace runnel::metrics
