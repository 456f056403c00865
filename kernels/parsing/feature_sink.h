// One feature's way from Example messages into the outputs of a step: fixed ones at their place, those whose
// number of values differs collected first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runnel/example.pb.h"

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {

// For one run. `take` is called for each example in turn, with null for one without the feature; both throw
// InvalidArgument that says what is wrong with the feature.
class FeatureSink {
 public:
  virtual ~FeatureSink() = default;
  virtual void take(const pb::Feature* feature) = 0;
  virtual void finish() {}
};

inline const auto& list_of(const pb::Feature& feature, float) { return feature.float_list().value(); }
inline const auto& list_of(const pb::Feature& feature, std::int64_t) { return feature.int64_list().value(); }
inline const auto& list_of(const pb::Feature& feature, const std::string&) {
  return feature.bytes_list().value();
}

// The values of the feature, which has some kind.
template <class T>
const auto& values_of(const pb::Feature& feature) {
  const auto kind = feature.kind_case();
  const DType type = kind == pb::Feature::kFloatList   ? DType::kFloat
                     : kind == pb::Feature::kInt64List ? DType::kInt64
                                                       : DType::kString;
  if (type != dtype_of<T>()) throw InvalidArgument(cat("holds ", type, ", not ", dtype_of<T>()));
  return list_of(feature, T());
}

inline bool is_there(const pb::Feature* feature) {
  return feature && feature->kind_case() != pb::Feature::KIND_NOT_SET;
}

// As many values in every example.
template <class T>
class FixedSink : public FeatureSink {
 public:
  // `filling` is the default, null if there is none.
  FixedSink(T* to, std::int64_t count, const T* filling) : to_(to), count_(count), filling_(filling) {}

  void take(const pb::Feature* feature) override {
    if (is_there(feature)) {
      const auto& values = values_of<T>(*feature);
      if (values.size() != count_) throw InvalidArgument(cat("has ", values.size(), " values, not ", count_));
      std::copy(values.begin(), values.end(), to_);
    } else {
      if (!filling_) throw InvalidArgument("is missing and has no default");
      std::copy_n(filling_, count_, to_);
    }
    to_ += count_;
  }

 private:
  T* to_;
  std::int64_t count_;
  const T* filling_;
};

// Collects the values of all examples, and where each one's end.
template <class T>
class CollectingSink : public FeatureSink {
 public:
  void take(const pb::Feature* feature) override {
    if (is_there(feature)) {
      const auto& values = values_of<T>(*feature);
      check(values.size());
      values_.insert(values_.end(), values.begin(), values.end());
    }
    ends_.push_back(values_.size());
  }

 protected:
  virtual void check(int) const {}
  std::int64_t most() const {
    std::size_t most = 0, before = 0;
    for (const std::size_t end : ends_) most = std::max(most, end - std::exchange(before, end));
    return static_cast<std::int64_t>(most);
  }
  std::vector<T> values_;
  std::vector<std::size_t> ends_;
};

// A sparse tensor: [examples, most values], or [values] of a single example.
template <class T>
class SparseSink : public CollectingSink<T> {
 public:
  struct Slots {
    Out<std::int64_t> indices;
    Out<T> values;
    Out<std::int64_t> shape;
    bool single;
  };
  SparseSink(Context& c, Slots slots) : c_(c), slots_(slots) {}

  void finish() override {
    const auto count = static_cast<std::int64_t>(this->values_.size());
    const std::int64_t rank = slots_.single ? 1 : 2;
    std::move(this->values_.begin(), this->values_.end(), c_.room(slots_.values, {count}));
    std::int64_t* place = c_.room(slots_.indices, {count, rank});
    for (std::size_t row = 0, at = 0; row < this->ends_.size(); ++row)
      for (std::int64_t column = 0; at < this->ends_[row]; ++at, ++column) {
        if (!slots_.single) *place++ = static_cast<std::int64_t>(row);
        *place++ = column;
      }
    std::int64_t* const shape = c_.room(slots_.shape, {rank});
    if (!slots_.single) shape[0] = static_cast<std::int64_t>(this->ends_.size());
    shape[rank - 1] = this->most();
  }

 private:
  Context& c_;
  Slots slots_;
};

// The values of all examples, and where each one's begin and end; of a single example the values alone, as in
// TensorFlow.
template <class T>
class RaggedSink : public CollectingSink<T> {
 public:
  struct Slots {
    Out<T> values;
    Out<std::byte> splits;
    DType split_type;  // int32 or int64
    bool single;
  };
  RaggedSink(Context& c, Slots slots) : c_(c), slots_(slots) {}

  void finish() override {
    const auto count = static_cast<std::int64_t>(this->values_.size());
    std::move(this->values_.begin(), this->values_.end(), c_.room(slots_.values, {count}));
    if (slots_.split_type == DType::kInt64) return split(Out<std::int64_t>{slots_.splits.slot});
    if (count > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument(cat(count, " values of a feature are more than row splits of int32 can tell"));
    split(Out<std::int32_t>{slots_.splits.slot});
  }

 private:
  template <class S>
  void split(Out<S> out) const {
    const auto examples = static_cast<std::int64_t>(this->ends_.size());
    S* to = c_.room(out, {slots_.single ? 0 : examples + 1});
    if (slots_.single) return;
    *to++ = 0;
    for (const std::size_t end : this->ends_) *to++ = static_cast<S>(end);
  }

  Context& c_;
  Slots slots_;
};

// Rows of `stride` values, filled up to the most that an example has.
template <class T>
class SequenceSink : public CollectingSink<T> {
 public:
  struct Slots {
    Out<T> out;
    In<T> filling;
    Shape row;  // of one row
    bool single;
  };
  SequenceSink(Context& c, Slots slots)
      : c_(c), slots_(std::move(slots)), stride_(std::max<std::int64_t>(slots_.row.elements(), 1)) {}

  void finish() override {
    const std::int64_t rows = this->most() / stride_;
    Shape whole;
    if (!slots_.single) whole.push_back(static_cast<std::int64_t>(this->ends_.size()));
    whole.push_back(rows);
    for (const std::int64_t dim : slots_.row.dims()) whole.push_back(dim);
    T* to = c_.room(slots_.out, whole);
    auto from = this->values_.begin();
    for (const std::size_t end : this->ends_) {
      const auto until = this->values_.begin() + static_cast<std::ptrdiff_t>(end);
      const std::int64_t missing = rows * stride_ - (until - from);
      to = std::move(from, until, to);
      to = std::fill_n(to, missing, *c_[slots_.filling]);
      from = until;
    }
  }

 private:
  void check(int count) const override {
    if (slots_.row.elements() == 0 ? count > 0 : count % stride_ != 0)
      throw InvalidArgument(cat("has ", count, " values, which are no rows of shape ", slots_.row));
  }
  Context& c_;
  Slots slots_;
  std::int64_t stride_;
};

}  // namespace runnel
