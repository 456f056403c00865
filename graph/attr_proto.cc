// One overload a kind, in both directions.
#include "graph/attr_proto.h"

#include <algorithm>

#include "runnel/attr_value.pb.h"

namespace runnel {
namespace {

FunctionName function_of(const pb::NameAttrList& proto, TensorBudget& budget) {
  FunctionName out{proto.name(), nullptr};
  if (proto.attr().empty()) return out;
  Attrs attrs;
  for (const auto& [name, value] : proto.attr()) attrs.emplace(name, attr_of(value, budget));
  out.attrs = std::make_shared<const Attrs>(std::move(attrs));
  return out;
}

void write_function(const FunctionName& value, pb::NameAttrList& proto) {
  proto.set_name(value.name);
  if (!value.attrs) return;
  for (const auto& [name, attr] : *value.attrs) write_attr(attr, (*proto.mutable_attr())[name]);
}

// Kinds of elements that the list holds; more than one is nothing that Runnel knows.
int kinds_in(const pb::AttrValue::ListValue& list) {
  const int sizes[] = {list.s_size(),    list.i_size(),     list.f_size(),      list.b_size(),
                       list.type_size(), list.shape_size(), list.tensor_size(), list.func_size()};
  return static_cast<int>(std::ranges::count_if(sizes, [](int n) { return n > 0; }));
}

bool has_unknown_fields(const google::protobuf::Message& message) {
  return message.GetReflection()->GetUnknownFields(message).field_count() > 0;
}

bool is_raw(const pb::AttrValue& proto) {
  if (has_unknown_fields(proto) || proto.value_case() == pb::AttrValue::VALUE_NOT_SET) return true;
  if (proto.has_tensor()) return !can_hold(proto.tensor().dtype());
  if (proto.has_func()) return has_unknown_fields(proto.func());
  if (!proto.has_list()) return false;
  const auto& list = proto.list();
  return has_unknown_fields(list) || kinds_in(list) > 1 ||
         std::ranges::any_of(list.tensor(), [](const auto& tensor) { return !can_hold(tensor.dtype()); });
}

AttrValue list_of(const pb::AttrValue::ListValue& list, TensorBudget& budget) {
  if (list.s_size() > 0) return std::vector<std::string>(list.s().begin(), list.s().end());
  if (list.i_size() > 0) return std::vector<std::int64_t>(list.i().begin(), list.i().end());
  if (list.f_size() > 0) return std::vector<float>(list.f().begin(), list.f().end());
  if (list.b_size() > 0) return std::vector<bool>(list.b().begin(), list.b().end());
  if (list.type_size() > 0) {
    std::vector<DType> types;
    for (const int type : list.type()) types.push_back(static_cast<DType>(type));
    return types;
  }
  if (list.shape_size() > 0) {
    std::vector<Shape> shapes;
    for (const auto& shape : list.shape()) shapes.push_back(shape_of(shape));
    return shapes;
  }
  if (list.tensor_size() > 0) {
    std::vector<Tensor> tensors;
    for (const auto& tensor : list.tensor()) tensors.push_back(tensor_of(tensor, budget));
    return tensors;
  }
  if (list.func_size() == 0) return EmptyList{};
  std::vector<FunctionName> functions;
  for (const auto& function : list.func()) functions.push_back(function_of(function, budget));
  return functions;
}

void write(const EmptyList&, pb::AttrValue& to) { to.mutable_list(); }
void write(const std::string& value, pb::AttrValue& to) { to.set_s(value); }
void write(std::int64_t value, pb::AttrValue& to) { to.set_i(value); }
void write(float value, pb::AttrValue& to) { to.set_f(value); }
void write(bool value, pb::AttrValue& to) { to.set_b(value); }
void write(DType value, pb::AttrValue& to) { to.set_type(static_cast<pb::DataType>(value)); }
void write(const Shape& value, pb::AttrValue& to) { write_shape(value, *to.mutable_shape()); }
void write(const Tensor& value, pb::AttrValue& to) { write_tensor(value, *to.mutable_tensor()); }
void write(const FunctionName& value, pb::AttrValue& to) { write_function(value, *to.mutable_func()); }
void write(const AttrPlaceholder& value, pb::AttrValue& to) { to.set_placeholder(value.name); }
void write(const RawAttr& value, pb::AttrValue& to) { to.ParseFromString(value.bytes); }

void add(const std::string& value, pb::AttrValue::ListValue& to) { to.add_s(value); }
void add(std::int64_t value, pb::AttrValue::ListValue& to) { to.add_i(value); }
void add(float value, pb::AttrValue::ListValue& to) { to.add_f(value); }
void add(bool value, pb::AttrValue::ListValue& to) { to.add_b(value); }
void add(DType value, pb::AttrValue::ListValue& to) { to.add_type(static_cast<pb::DataType>(value)); }
void add(const Shape& value, pb::AttrValue::ListValue& to) { write_shape(value, *to.add_shape()); }
void add(const Tensor& value, pb::AttrValue::ListValue& to) { write_tensor(value, *to.add_tensor()); }
void add(const FunctionName& value, pb::AttrValue::ListValue& to) { write_function(value, *to.add_func()); }

template <class T>
void write(const std::vector<T>& values, pb::AttrValue& to) {
  pb::AttrValue::ListValue& list = *to.mutable_list();
  for (const auto& value : values) add(static_cast<const T&>(value), list);
}

bool is_empty_list(const AttrValue& value) {
  return std::visit(
      []<class T>(const T& held) {
        if constexpr (std::is_same_v<T, EmptyList>) {
          return true;
        } else if constexpr (requires { held.begin(); } && !std::is_same_v<T, std::string>) {
          return held.empty();
        } else {
          return false;
        }
      },
      value.value());
}

}  // namespace

AttrValue attr_of(const pb::AttrValue& proto, TensorBudget& budget) {
  if (is_raw(proto)) return RawAttr{proto.SerializeAsString()};
  switch (proto.value_case()) {
    case pb::AttrValue::kS: return AttrValue(std::string_view(proto.s()));
    case pb::AttrValue::kI: return proto.i();
    case pb::AttrValue::kF: return static_cast<double>(proto.f());
    case pb::AttrValue::kB: return proto.b();
    case pb::AttrValue::kType: return static_cast<DType>(proto.type());
    case pb::AttrValue::kShape: return shape_of(proto.shape());
    case pb::AttrValue::kTensor: return tensor_of(proto.tensor(), budget);
    case pb::AttrValue::kPlaceholder: return AttrPlaceholder{proto.placeholder()};
    case pb::AttrValue::kFunc: return function_of(proto.func(), budget);
    default: return list_of(proto.list(), budget);
  }
}

void write_attr(const AttrValue& value, pb::AttrValue& proto) {
  std::visit([&](const auto& held) { write(held, proto); }, value.value());
}

bool same_attr(const AttrValue& a, const AttrValue& b) {
  return a == b || (is_empty_list(a) && is_empty_list(b));
}

}  // namespace runnel
