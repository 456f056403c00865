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
