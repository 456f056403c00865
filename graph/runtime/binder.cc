// Binding, and running a node by itself for constant folding.
#include "graph/runtime/binder.h"

#include "graph/error.h"
#include "graph/io/file_system.h"

namespace runnel {
namespace {

// An execution of a single kernel over tensors of its own.
class SoloContext final : public Context {
 public:
  explicit SoloContext(std::vector<Tensor> tensors, std::size_t inputs)
      : tensors_(std::move(tensors)), inputs_(inputs) {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      pointers_.push_back(i < inputs_ ? const_cast<void*>(tensors_[i].data()) : tensors_[i].mutable_data());
    table_ = pointers_.data();
  }
  Tensor tensor(int slot) override { return tensors_[static_cast<std::size_t>(slot)]; }
  void set_output(int slot, Tensor value) override {
    tensors_[static_cast<std::size_t>(slot)] = std::move(value);
    pointers_[static_cast<std::size_t>(slot)] = tensors_[static_cast<std::size_t>(slot)].mutable_data();
  }
  void set_dead(int) override { refuse(); }
  bool is_dead(int) const override { return false; }
  void assign(int, Tensor) override { refuse(); }
  bool initialized(int) const override { refuse(); }
  std::shared_ptr<Waker> waker() override { refuse(); }
  std::shared_ptr<Parked>& parked() override { refuse(); }
  bool cancelled() const override { return false; }
  std::vector<Tensor> outputs() {
    return {tensors_.begin() + static_cast<std::ptrdiff_t>(inputs_), tensors_.end()};
  }

 private:
  [[noreturn]] static void refuse() { throw Internal("a kernel with effects was folded as a constant"); }
  void parallel_ranges(std::int64_t n, std::int64_t,
                       const std::function<void(std::int64_t, std::int64_t)>& body) override {
    body(0, n);
  }
  void* make_room(int slot, const Shape& shape) override {
    set_output(slot, Tensor(tensors_[static_cast<std::size_t>(slot)].dtype(), shape));
    return pointers_[static_cast<std::size_t>(slot)];
  }
  std::vector<Tensor> tensors_;
  std::size_t inputs_;
  std::vector<void*> pointers_;
};

}  // namespace

BoundKernel Binder::bind(BindRequest request) {
  const Node& node = *request.node;
  try {
    const Kernel* kernel = find_kernel(node);
    if (!kernel) throw Unimplemented("has no kernel for these types");
    Bind bind;
    bind.node_ = &node;
    bind.inputs_ = std::move(request.inputs);
    bind.outputs_ = std::move(request.outputs);
    bind.values_ = std::move(request.values);
    bind.values_.resize(bind.inputs_.size());
    bind.input_slots_ = std::move(request.input_slots);
    bind.output_slots_ = std::move(request.output_slots);
    bind.wanted_ = std::move(request.wanted);
    bind.node_state_ = std::move(request.node_state);
    bind.makers_ = std::move(request.makers);
    bind.resource_ = std::move(request.resource);
    bind.files_ = request.files ? request.files : &real_file_system();
    kernel->bind(bind);
    if (!bind.kernel_) throw Internal("its binder gave no closure");
    bind.kernel_.nanoseconds_ = bind.nanoseconds_;
    bind.kernel_.elementwise_ = std::move(bind.elementwise_);
    return bind.kernel_;
  } catch (const Error& error) {
    throw_at_node(error, node.op(), node.name(), node.where());
  }
}

std::vector<Tensor> compute(const Node& node, const std::vector<TensorInfo>& inputs,
                            const std::vector<Tensor>& values, const std::vector<TensorInfo>& outputs) {
  BindRequest request;
  request.node = &node;
  request.inputs = inputs;
  request.outputs = outputs;
  request.values = values;
  std::vector<Tensor> tensors = values;
  for (std::size_t i = 0; i < inputs.size(); ++i) request.input_slots.push_back(static_cast<int>(i));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    request.output_slots.push_back(static_cast<int>(inputs.size() + i));
    tensors.emplace_back(outputs[i].dtype, outputs[i].shape);
  }
  request.wanted.assign(outputs.size(), true);
  const BoundKernel kernel = Binder::bind(std::move(request));
  SoloContext context(std::move(tensors), inputs.size());
  try {
    kernel.run()(kernel.closure(), context);
  } catch (const Error& error) {
    throw_at_node(error, node.op(), node.name(), node.where());
  }
  return context.outputs();
}

}  // namespace runnel
