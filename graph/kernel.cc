// The registry of kernels and the checks of a binder's requests.
#include "graph/kernel.h"

#include <map>

#include "graph/error.h"

namespace runnel {
namespace {

std::map<std::string, std::vector<Kernel>, std::less<>>& registry() {
  static auto* kernels = new std::map<std::string, std::vector<Kernel>, std::less<>>;
  return *kernels;
}

// The attribute that a registration without one goes by.
std::string_view type_attr(const Node& node, const Kernel& kernel) {
  if (!kernel.attr.empty()) return kernel.attr;
  return node.attr("T") ? "T" : "dtype";
}

}  // namespace

const Tensor& Bind::value(std::string_view arg, int k) const {
  const Tensor& value = values_[static_cast<std::size_t>(node_->input_position(arg, k))];
  if (!value) throw Internal(cat("the value of ", arg, " is not listed in the op's bind_values"));
  return value;
}

bool Bind::wants(std::string_view arg, int k) const {
  return wanted_[static_cast<std::size_t>(node_->output_position(arg, k))];
}

void Bind::check_type(DType wanted, DType actual, std::string_view arg) const {
  if (wanted != actual) throw Internal(cat("the kernel takes ", arg, " as ", wanted, ", but it is ", actual));
}

const Node& Bind::maker(std::string_view arg, const char* kind) const {
  const auto at = static_cast<std::size_t>(node_->input_position(arg));
  const Node* maker = at < makers_.size() ? makers_[at] : nullptr;
  if (!maker)
    throw InvalidArgument(
        cat(arg, " is no handle that a node of this graph makes: a handle cannot be fed; feed the ",
            "tensors that come out of the ", kind));
  return *maker;
}

std::shared_ptr<NodeState> Bind::find_resource(std::string_view arg, const std::type_info& type,
                                               const char* kind) const {
  const Node& from = maker(arg, kind);
  std::shared_ptr<NodeState> state = resource_({.maker = &from, .type = &type});
  if (!state)
    throw InvalidArgument(cat(arg, " is made by ", from.op(), " '", from.name(), "', which makes no ", kind));
  return state;
}

void KernelRegistration::add(const char* op, const char* attr, DType type, BindFunction bind,
                             KernelOptions options) {
  registry()[op].push_back({attr, type, std::move(bind), options});
}

const Kernel* find_kernel(const Node& node) {
  for (const Kernel& kernel : kernels_of(node.op())) {
    if (kernel.type == DType::kInvalid) return &kernel;
    const AttrValue* attr = node.attr(type_attr(node, kernel));
    const DType* type = attr ? attr->if_is<DType>() : nullptr;
    if (type && *type == kernel.type) return &kernel;
  }
  return nullptr;
}

const std::vector<Kernel>& kernels_of(std::string_view op) {
  static const std::vector<Kernel> kNone;
  const auto at = registry().find(op);
  return at == registry().end() ? kNone : at->second;
}

}  // namespace runnel
