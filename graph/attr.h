// The value of an attribute of a node, as NodeDef.attr holds it: a string of bytes, number, flag, dtype,
// shape, tensor, function name, or a list of one of these. Kinds that Runnel does not know are kept as raw
// bytes, so that a graph goes out as it came in.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace runnel {

class AttrValue;
using Attrs = std::map<std::string, AttrValue, std::less<>>;

// A function and the attributes it is called with (NameAttrList).
struct FunctionName {
  std::string name;
  std::shared_ptr<const Attrs> attrs;  // null for none
  bool operator==(const FunctionName& other) const;
};

// A name standing for an attribute of the enclosing function (AttrValue.placeholder).
struct AttrPlaceholder {
  std::string name;
  bool operator==(const AttrPlaceholder&) const = default;
};

// A serialized AttrValue message that no kind below fits.
struct RawAttr {
  std::string bytes;
  bool operator==(const RawAttr&) const = default;
};

// A list without elements whose kind is not known.
struct EmptyList {
  bool operator==(const EmptyList&) const = default;
};

class AttrValue {
 public:
  using Value =
      std::variant<EmptyList, std::string, std::int64_t, float, bool, DType, Shape, Tensor, FunctionName,
                   AttrPlaceholder, RawAttr, std::vector<std::string>, std::vector<std::int64_t>,
                   std::vector<float>, std::vector<bool>, std::vector<DType>, std::vector<Shape>,
                   std::vector<Tensor>, std::vector<FunctionName>>;

  AttrValue() = default;
  AttrValue(const char* text) : value_(std::string(text)) {}
  AttrValue(std::string_view text) : value_(std::string(text)) {}
  AttrValue(bool flag) : value_(flag) {}
  AttrValue(double number) : value_(static_cast<float>(number)) {}
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) AttrValue(T number)
      : value_(static_cast<std::int64_t>(number)) {}
  template <class T>
  requires(!std::is_arithmetic_v<std::remove_cvref_t<T>> && std::is_constructible_v<Value, T> &&
           !std::is_same_v<std::remove_cvref_t<T>, AttrValue>) AttrValue(T&& value)
      : value_(std::forward<T>(value)) {}

  const Value& value() const { return value_; }
  template <class T>
  const T* if_is() const {
    return std::get_if<T>(&value_);
  }

  bool operator==(const AttrValue& other) const { return value_ == other.value_; }
  // For messages and listings: `true`, `float`, `[2,3]`, `"text"`, `[1, 2]`.
  std::string text() const;

 private:
  Value value_;
};

}  // namespace runnel
