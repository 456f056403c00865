// Writing and reading whole variables: Assign, AssignAdd, AssignSub, their resource forms, ReadVariableOp and
// the questions whether a variable is initialised. Which variable an edge means is the plan's matter; here it
// is a slot.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

// Whole-value writes hand the tensor on without a look at its elements, so any dtype will do.
void bind_assign(Bind& b, const char* variable) {
  const DType held = b.input(variable).dtype, given = b.input("value").dtype;
  if (held != given)
    throw InvalidArgument(cat("the variable is ", held, ", the value ", given, ": they must be the same"));
  const int to = b.var<std::byte>(variable).slot, from = b.in<std::byte>("value").slot;
  b.run([to, from](Context& c) { c.assign(to, c.tensor(from)); });
}

const KernelRegistration kAssign{"Assign", any, [](Bind& b) { bind_assign(b, "ref"); }};
const KernelRegistration kAssignVariableOp{"AssignVariableOp", any,
                                           [](Bind& b) { bind_assign(b, "resource"); }};

// Integers wrap around, as in TensorFlow.
constexpr auto kAdd = []<class T>(T a, T b) -> T {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
};
constexpr auto kSubtract = []<class T>(T a, T b) -> T {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
};

template <class T, class Combine>
void bind_update(Bind& b, const char* variable, Combine combine) {
  const Shape& held = b.input(variable).shape;
  const Shape& value = b.input("value").shape;
  if (!(held == value))
    throw InvalidArgument(
        cat("the variable has shape ", held, ", the value ", value, ": they must be the same"));
  b.run([combine, n = held.elements(), to = b.var<T>(variable), from = b.in<T>("value")](Context& c) {
    T* v = c[to];
    const T* d = c[from];
    for (std::int64_t i = 0; i < n; ++i) v[i] = combine(v[i], d[i]);
  });
}

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t,
    std::uint8_t;
constexpr auto kNumbers =
    on<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;

const KernelRegistration kAssignAdd{"AssignAdd", kNumbers,
                                    []<class T>(Bind& b) { bind_update<T>(b, "ref", kAdd); }};
const KernelRegistration kAssignSub{"AssignSub", kNumbers,
                                    []<class T>(Bind& b) { bind_update<T>(b, "ref", kSubtract); }};
const KernelRegistration kAssignAddVariableOp{"AssignAddVariableOp", kNumbers,
                                              []<class T>(Bind& b) { bind_update<T>(b, "resource", kAdd); }};
const KernelRegistration kAssignSubVariableOp{
    "AssignSubVariableOp", kNumbers, []<class T>(Bind& b) { bind_update<T>(b, "resource", kSubtract); }};

// For plans that cannot make the read a view of the variable.
const KernelRegistration kReadVariableOp{
    "ReadVariableOp", any, [](Bind& b) {
      const int from = b.in<std::byte>("resource").slot, to = b.out<std::byte>("value").slot;
      const std::size_t size = size_of(b.output("value").dtype);
      if (size == 0) {
        b.run([from, to](Context& c) { c.set_output(to, c.tensor(from)); });
        return;
      }
      const std::size_t bytes = size * static_cast<std::size_t>(b.input("resource").shape.elements());
      b.run([bytes, from = In<std::byte>{from}, to = Out<std::byte>{to}](Context& c) {
        if (bytes != 0) std::memcpy(c[to], c[from], bytes);
      });
    }};

void bind_question(Bind& b, const char* variable) {
  b.run([of = b.var<std::byte>(variable).slot, out = b.out<bool>("is_initialized")](Context& c) {
    *c[out] = c.initialized(of);
  });
}

const KernelRegistration kIsVariableInitialized{"IsVariableInitialized", any,
                                                [](Bind& b) { bind_question(b, "ref"); }};
const KernelRegistration kVarIsInitializedOp{"VarIsInitializedOp", any,
                                             [](Bind& b) { bind_question(b, "resource"); }};

}  // namespace
}  // namespace runnel
