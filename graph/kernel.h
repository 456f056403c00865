// How the code that computes an op meets the plan that runs it. A kernel is *bound* once a plan: its binder
// reads attributes, dtypes and shapes and hands over a closure; the closure then runs every step and sees
// pointers only.
//
//   const KernelRegistration kNeg{"Neg", on<float, double>, []<class T>(Bind& b) {
//     const std::int64_t n = b.input("x").shape.elements();
//     b.run([n, x = b.in<T>("x"), y = b.out<T>("y")](Context& c) {
//       for (std::int64_t i = 0; i < n; ++i) c[y][i] = -c[x][i];
//     });
//   }};
//
// The closure is shared by all executions of the plan, so it holds no pointers: In, Out and Var are places in
// a table that each execution has for itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "graph/node.h"
#include "graph/op_spec.h"
#include "graph/tensor.h"

namespace runnel {

class FileSystem;

// Places in an execution's table. T may be std::byte for code that moves elements of any fixed-size dtype.
template <class T>
struct In {
  int slot = -1;
};
template <class T>
struct Out {
  int slot = -1;
};
// The elements of a variable that the op updates in place.
template <class T>
struct Var {
  int slot = -1;
};

// Where a parked kernel leaves word: `wake` may be called from any thread, also after the step has ended.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() = 0;
};

// What a kernel that parked keeps until it is tried again. Dropped when the kernel has run and when its step
// ends without that, whatever the reason: the destructor takes back what still waits.
class Parked {
 public:
  virtual ~Parked() = default;
  // Said when the step is stopped meanwhile: "Dequeue operation was cancelled".
  virtual std::string cancelled() const = 0;
};

// What a kernel sees while it runs. The subscripts are inline loads; everything else is off the hot path.
class Context {
 public:
  template <class T>
  const T* operator[](In<T> in) const {
    return static_cast<const T*>(table_[in.slot]);
  }
  template <class T>
  T* operator[](Out<T> out) const {
    return static_cast<T*>(table_[out.slot]);
  }
  template <class T>
  T* operator[](Var<T> var) const {
    return static_cast<T*>(table_[var.slot]);
  }

  // Calls body(begin, end) over [0, n) in ranges of at least `grain`, on the session's threads when it has
  // them and n is worth it. The ranges depend on n and grain alone, never on the number of threads. Rethrows
  // the first error.
  template <class F>
  void parallel(std::int64_t n, std::int64_t grain, F&& body) {
    if (!pooled_ || n <= grain) {
      body(std::int64_t{0}, n);
    } else {
      parallel_ranges(n, grain, std::function<void(std::int64_t, std::int64_t)>(std::ref(body)));
    }
  }

  // Memory for an output whose shape is known only now; the one of earlier steps where it is large enough.
  template <class T>
  T* room(Out<T> out, const Shape& shape) {
    return static_cast<T*>(make_room(out.slot, shape));
  }
  // The input as a tensor that shares the step's memory where it can; for kernels that hand tensors on.
  virtual Tensor tensor(int in_slot) = 0;
  // Gives an output a tensor of its own, whose shape may be known only now.
  virtual void set_output(int out_slot, Tensor value) = 0;
  // A merge's or switch's answer: this output does not exist in this step.
  virtual void set_dead(int out_slot) = 0;
  virtual bool is_dead(int in_slot) const = 0;
  // Gives the variable a whole new value (and initialises it).
  virtual void assign(int var_slot, Tensor value) = 0;
  virtual bool initialized(int var_slot) const = 0;
  // For a kernel that cannot go on: keep the waker, return false, and wake it when trying again may help.
  virtual std::shared_ptr<Waker> waker() = 0;
  // Of this kernel in this step: what it left here when it parked; null at its first try.
  virtual std::shared_ptr<Parked>& parked() = 0;
  // True when the step was cancelled or is over its deadline; long kernels look at it.
  virtual bool cancelled() const = 0;

 protected:
  ~Context() = default;
  virtual void parallel_ranges(std::int64_t n, std::int64_t grain,
                               const std::function<void(std::int64_t, std::int64_t)>& body) = 0;
  virtual void* make_room(int out_slot, const Shape& shape) = 0;
  void** table_ = nullptr;
  bool pooled_ = false;
};

// An operation on each element by itself, as a plan may run it over a few elements at a time and with memory
// of its own choice between one operation and the next.
struct Elementwise {
  struct Operand {
    int slot = -1;
    std::int64_t step = 0;  // bytes from one element to the next; 0: one element for all
  };
  std::int64_t n = 0;
  std::vector<Operand> inputs;
  Operand output;
  // Reads n elements of each input; the output may be an input that advances as it does.
  std::function<void(const void* const* inputs, void* output, std::int64_t n)> run;
};

// The closure of a bound kernel with its type erased: one function pointer, one object; and what the plan may
// know of it.
class BoundKernel {
 public:
  BoundKernel() = default;
  template <class F>
  static BoundKernel make(F f) {
    BoundKernel kernel;
    kernel.closure_ = std::make_shared<F>(std::move(f));
    if constexpr (std::is_same_v<std::invoke_result_t<F&, Context&>, bool>) {
      kernel.try_run_ = [](void* p, Context& c) { return (*static_cast<F*>(p))(c); };
    } else {
      kernel.run_ = [](void* p, Context& c) { (*static_cast<F*>(p))(c); };
    }
    return kernel;
  }

  using Run = void (*)(void*, Context&);
  using TryRun = bool (*)(void*, Context&);
  Run run() const { return run_; }
  TryRun try_run() const { return try_run_; }  // of a kernel that may park; false means parked
  void* closure() const { return closure_.get(); }
  explicit operator bool() const { return closure_ != nullptr; }
  double nanoseconds() const { return nanoseconds_; }  // Bind::costs
  const Elementwise* elementwise() const { return elementwise_.get(); }

 private:
  friend class Binder;
  std::shared_ptr<void> closure_;
  Run run_ = nullptr;
  TryRun try_run_ = nullptr;
  double nanoseconds_ = 0;
  std::shared_ptr<const Elementwise> elementwise_;
};

struct TensorInfo {
  DType dtype = DType::kInvalid;
  Shape shape;
};

// State of one node in one session, kept between steps (a random op's counter, a queue).
class NodeState {
 public:
  virtual ~NodeState() = default;
};

// Asks for the resource that a node makes: by its container, name and type.
struct ResourceRequest {
  const Node* maker = nullptr;
  const std::type_info* type = nullptr;
  std::function<std::shared_ptr<NodeState>()> make = nullptr;  // none: null if there is no such resource
};
using ResourceFinder = std::function<std::shared_ptr<NodeState>(const ResourceRequest&)>;

// What a binder may ask while a kernel is bound. All shapes are known, but those of outputs that only the
// kernel can tell (then Context::room or Context::set_output is due).
class Bind {
 public:
  const Node& node() const { return *node_; }
  bool flag(std::string_view name) const { return node_->flag(name); }
  std::int64_t integer(std::string_view name) const { return node_->integer(name); }
  float number(std::string_view name) const { return node_->number(name); }
  DType type(std::string_view name) const { return node_->type(name); }

  int count(std::string_view arg) const { return node_->input_count(arg); }
  const TensorInfo& input(std::string_view arg, int k = 0) const {
    return inputs_[static_cast<std::size_t>(node_->input_position(arg, k))];
  }
  const TensorInfo& output(std::string_view arg, int k = 0) const {
    return outputs_[static_cast<std::size_t>(node_->output_position(arg, k))];
  }
  // The value of an input listed in Traits::bind_values.
  const Tensor& value(std::string_view arg, int k = 0) const;
  // True if the step wants this output at all.
  bool wants(std::string_view arg, int k = 0) const;

  template <class T>
  In<T> in(std::string_view arg, int k = 0) const {
    require_type<T>(input(arg, k).dtype, arg);
    return {input_slots_[static_cast<std::size_t>(node_->input_position(arg, k))]};
  }
  template <class T>
  Out<T> out(std::string_view arg, int k = 0) const {
    require_type<T>(output(arg, k).dtype, arg);
    return {output_slots_[static_cast<std::size_t>(node_->output_position(arg, k))]};
  }
  // A variable (ref edge or handle) named in Traits::variables; its shape is input(arg).shape once
  // initialised.
  template <class T>
  Var<T> var(std::string_view arg) const {
    require_type<T>(input(arg).dtype, arg);
    return {input_slots_[static_cast<std::size_t>(node_->input_position(arg))]};
  }

  // This node's state in the session, made at first use.
  template <class S, class... Args>
  std::shared_ptr<S> state(Args&&... args) const {
    return std::static_pointer_cast<S>(node_state_(
        [&]() -> std::shared_ptr<NodeState> { return std::make_shared<S>(std::forward<Args>(args)...); }));
  }

  // For an op whose output is the handle of a resource (`resource`, or `string` on a ref edge): the state
  // behind it, which all nodes of one container and shared_name share; without shared_name it goes by the
  // node's name. `make` returns a shared_ptr<S> and is called once a session. S is a NodeState and says what
  // it is: S::kKind ("queue").
  template <class S, class F>
  std::shared_ptr<S> make_resource(F make) const {
    return std::static_pointer_cast<S>(
        resource_({node_, &typeid(S), [&]() -> std::shared_ptr<NodeState> { return make(); }}));
  }
  // The state behind the handle that comes in, found through Identity and the like. Throws InvalidArgument if
  // the node that makes the handle makes no S, or the handle is fed.
  template <class S>
  std::shared_ptr<S> resource(std::string_view arg) const {
    return std::static_pointer_cast<S>(find_resource(arg, typeid(S), S::kKind));
  }
  // The node that makes the handle. Throws as resource().
  const Node& maker(std::string_view arg, const char* kind) const;

  // The files that the session's ops read and write; outlives it.
  FileSystem& files() const { return *files_; }

  // Hands over the closure: void(Context&), or bool(Context&) for one that may park. Call once.
  template <class F>
  void run(F f) {
    kernel_ = BoundKernel::make(std::move(f));
  }
  // About how long a run takes on one thread. Kernels that do not say are judged by the bytes they touch.
  void costs(double nanoseconds) { nanoseconds_ = nanoseconds; }
  // Beside run(): the same results, element by element.
  void elementwise(Elementwise form) { elementwise_ = std::make_shared<const Elementwise>(std::move(form)); }

 private:
  friend class Binder;
  Bind() = default;
  template <class T>
  void require_type(DType actual, std::string_view arg) const {
    if constexpr (!std::is_same_v<T, std::byte>) check_type(dtype_of<T>(), actual, arg);
  }
  void check_type(DType wanted, DType actual, std::string_view arg) const;
  std::shared_ptr<NodeState> find_resource(std::string_view arg, const std::type_info& type,
                                           const char* kind) const;

  const Node* node_ = nullptr;
  std::vector<TensorInfo> inputs_, outputs_;  // flat; dtypes without ref; a variable input has the variable's
  std::vector<Tensor> values_;                // flat inputs; empty where not asked for
  std::vector<int> input_slots_, output_slots_;
  std::vector<bool> wanted_;
  std::function<std::shared_ptr<NodeState>(const std::function<std::shared_ptr<NodeState>()>&)> node_state_;
  std::vector<const Node*> makers_;  // by flat input: what makes the handle; null where no node does
  ResourceFinder resource_;
  FileSystem* files_ = nullptr;
  BoundKernel kernel_;
  double nanoseconds_ = 0;
  std::shared_ptr<const Elementwise> elementwise_;
};

using BindFunction = std::function<void(Bind&)>;

// The element types a kernel is made for, and the attribute that names the type ("" : "T" if the op has it,
// else "dtype").
template <class... Ts>
struct Types {
  const char* attr = "";
  constexpr Types operator()(const char* attr_name) const { return {attr_name}; }
};
template <class... Ts>
inline constexpr Types<Ts...> on{};

// A kernel whatever the types are.
struct AnyType {};
inline constexpr AnyType any{};

struct KernelOptions {
  // Output 0 may lie in the memory of an input of as many bytes (each element is read before it is written
  // there).
  bool in_place = false;
};

// Registers a kernel for the life of the program.
class KernelRegistration {
 public:
  template <class... Ts, class F>
  KernelRegistration(const char* op, Types<Ts...> types, F binder, KernelOptions options = {}) {
    (add(
         op, types.attr, dtype_of<Ts>(), [binder](Bind& b) { binder.template operator()<Ts>(b); }, options),
     ...);
  }
  template <class F>
  KernelRegistration(const char* op, AnyType, F binder, KernelOptions options = {}) {
    add(op, "", DType::kInvalid, binder, options);
  }

 private:
  static void add(const char* op, const char* attr, DType type, BindFunction bind, KernelOptions options);
};

struct Kernel {
  std::string attr;
  DType type = DType::kInvalid;  // kInvalid: any
  BindFunction bind;
  KernelOptions options;
};

// The kernel for this node's op and types, or null.
const Kernel* find_kernel(const Node& node);
// All kernels of an op; empty if there is none.
const std::vector<Kernel>& kernels_of(std::string_view op);

}  // namespace runnel
