// Features out of serialized Example messages (graph/example.h), as TFRecord files hold them. Leaves out
// SequenceExample; ragged features run in graphs of others and are not made here.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "ops/operand.h"
#include "ops/sparse_tensor.h"

namespace runnel {

// A feature with the same number of values in every example.
struct FixedLenFeature {
  Shape shape = {};
  DType dtype = DType::kFloat;  // float, int64 or string
  Tensor default_value = {};    // for examples without it; none: it must be there
};

// A feature whose number of values differs: a SparseTensor.
struct VarLenFeature {
  DType dtype = DType::kFloat;
};

// Rows of `shape`, as many as an example has; parse_example fills up with `default_value` to the most of the
// batch. An example without it has none.
struct FixedLenSequenceFeature {
  Shape shape = {};
  DType dtype = DType::kFloat;
  Tensor default_value = {};  // one value; none: 0 or ""
};

using FeatureSpec = std::variant<FixedLenFeature, VarLenFeature, FixedLenSequenceFeature>;
using FeatureSpecs = std::map<std::string, FeatureSpec>;

// What was asked for, by name. Throws NotFound for a name that was not, InvalidArgument for the other kind.
class ParsedFeatures {
 public:
  using Feature = std::variant<Output, SparseTensor>;
  explicit ParsedFeatures(std::map<std::string, Feature> features) : features_(std::move(features)) {}

  const Output& dense(const std::string& name) const;
  const SparseTensor& sparse(const std::string& name) const;
  const Output& operator[](const std::string& name) const { return dense(name); }
  const std::map<std::string, Feature>& all() const { return features_; }

 private:
  const Feature& at(const std::string& name) const;
  std::map<std::string, Feature> features_;
};

struct ParseExampleOptions {
  Output example_names = {};  // string[n], for errors alone
  std::string name = "ParseExample";
  Location where = Location::here();
};

// The features of a batch of examples.
//
//   serialized  string[n]
//   features    which, and of what kind
//   returns     by name: T[n, shape...]; for sequences T[n, most rows, shape...]; for features of variable
//               length the values with (example, place) of each
//   T           float, int64, string
//   errors      InvalidArgument with example and feature, from Session::run: bytes that are no Example, a
//               feature of another dtype or number of values, or missing without default
//   grad        none
//   source      TensorFlow "ParseExample", tf.parse_example of 1.15
ParsedFeatures parse_example(Output serialized, const FeatureSpecs& features,
                             ParseExampleOptions options = {});

struct ParseSingleExampleOptions {
  std::string name = "ParseSingleExample";
  Location where = Location::here();
};

// The features of one example: as parse_example, without the dimension of the batch.
//
//   serialized  string[]
//   returns     by name: T[shape...]; for sequences T[rows, shape...]; for features of variable length the
//               values with the place of each
//   T           float, int64, string
//   errors      as parse_example
//   grad        none
//   source      TensorFlow "ParseSingleExample"
ParsedFeatures parse_single_example(Output serialized, const FeatureSpecs& features,
                                    ParseSingleExampleOptions options = {});

}  // namespace runnel
