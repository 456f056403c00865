// Which class is taken for which: the matrix of one batch, and what is counted over many. Rows are labels,
// columns predictions. Source: tf.confusion_matrix, tf.metrics.mean_iou, mean_per_class_accuracy (compat.v1),
// behaviours 20.2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/metrics/metric.h"

namespace runnel::metrics {

struct ConfusionMatrixOptions {
  std::optional<std::int64_t> num_classes = {};  // none: one more than the highest number in the batch
  DType dtype = DType::kInt32;                   // of the matrix
  std::string name = "confusion_matrix";
  std::optional<Operand> weights = {};  // none: all are 1
  Location where = Location::here();
};

// Of one batch: how many elements (or which weight of them) of class i are predicted as class j.
//
//   labels, predictions  T[n]; numbers are cut to integers
//   returns              dtype[num_classes, num_classes]
//   T                    integers, float, double
//   dtype                int32, int64, float, double
//   errors               InvalidArgument if the shapes differ (a last dimension of 1 apart), num_classes is
//                        not in [1, 32768), or weights can not be spread: here if known, else from
//                        Session::run; from there if a number is not in [0, num_classes)
//   grad                 weights
//   source               tf.confusion_matrix
Output confusion_matrix(Output labels, Output predictions, ConfusionMatrixOptions options = {});

// The same over all batches. Labels and predictions of more dimensions are made flat.
//
//   labels, predictions  T[...]
//   returns              double[num_classes, num_classes] twice
//   errors               as confusion_matrix
//   source               what tf.metrics.mean_iou counts; variable confusion_matrix/total_confusion_matrix
Metric streaming_confusion_matrix(Output labels, Output predictions, std::int64_t num_classes,
                                  MetricOptions options = {});

// The mean over classes of intersection over union, TP / (TP + FP + FN); classes that never occurred are left
// out.
//
//   returns  float[]; the update gives the matrix, double[num_classes, num_classes]
//   errors   as confusion_matrix
//   source   tf.metrics.mean_iou; variable mean_iou/total_confusion_matrix
Metric mean_iou(Output labels, Output predictions, std::int64_t num_classes, MetricOptions options = {});

// The mean over classes of the share of a class's elements that are predicted as it; 0 for classes that never
// occurred.
//
//   returns  float[]; the update gives the share of each class, float[num_classes]
//   errors   as confusion_matrix
//   source   tf.metrics.mean_per_class_accuracy; variables mean_accuracy/total, mean_accuracy/count
Metric mean_per_class_accuracy(Output labels, Output predictions, std::int64_t num_classes,
                               MetricOptions options = {});

}  // namespace runnel::metrics
