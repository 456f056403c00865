// Shape, VariableShape, ShapeN, Size, Rank and BroadcastGradientArgs: all that they say is known when they
// are bound.
#include <limits>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

template <class T>
T checked(std::int64_t number) {
  if (number > std::numeric_limits<T>::max())
    throw InvalidArgument(cat(number, " does not fit ", dtype_of<T>(), "; ask for int64 with out_type"));
  return static_cast<T>(number);
}

template <class T>
std::vector<T> checked(std::span<const std::int64_t> numbers) {
  std::vector<T> out;
  for (const std::int64_t number : numbers) out.push_back(checked<T>(number));
  return out;
}

template <class T>
void bind_shape(Bind& b) {
  b.run([dims = checked<T>(b.input("input").shape.dims()), y = b.out<T>("output")](Context& c) {
    std::copy(dims.begin(), dims.end(), c[y]);
  });
}

constexpr auto kOutTypes = on<std::int32_t, std::int64_t>("out_type");
const KernelRegistration kShape{"Shape", kOutTypes, []<class T>(Bind& b) { bind_shape<T>(b); }};
const KernelRegistration kVariableShape{"VariableShape", kOutTypes,
                                        []<class T>(Bind& b) { bind_shape<T>(b); }};

const KernelRegistration kShapeN{
    "ShapeN", kOutTypes, []<class T>(Bind& b) {
      std::vector<std::pair<std::vector<T>, Out<T>>> all;
      for (int k = 0; k < b.count("input"); ++k)
        if (b.wants("output", k))
          all.push_back({checked<T>(b.input("input", k).shape.dims()), b.out<T>("output", k)});
      b.run([all](Context& c) {
        for (const auto& [dims, y] : all) std::copy(dims.begin(), dims.end(), c[y]);
      });
    }};

const KernelRegistration kSize{"Size", kOutTypes, []<class T>(Bind& b) {
                                 b.run([n = checked<T>(b.input("input").shape.elements()),
                                        y = b.out<T>("output")](Context& c) { *c[y] = n; });
                               }};

const KernelRegistration kRank{"Rank", any, [](Bind& b) {
                                 b.run([n = b.input("input").shape.rank(),
                                        y = b.out<std::int32_t>("output")](Context& c) { *c[y] = n; });
                               }};

const KernelRegistration kBroadcastGradientArgs{
    "BroadcastGradientArgs", on<std::int32_t, std::int64_t>, []<class T>(Bind& b) {
      const BroadcastAxes axes =
          broadcast_axes(Shape(integers(b.value("s0"))), Shape(integers(b.value("s1"))));
      b.run([a = checked<T>(axes.a), of_b = checked<T>(axes.b), wants_a = b.wants("r0"),
             wants_b = b.wants("r1"), r0 = b.out<T>("r0"), r1 = b.out<T>("r1")](Context& c) {
        if (wants_a) std::copy(a.begin(), a.end(), c[r0]);
        if (wants_b) std::copy(of_b.begin(), of_b.end(), c[r1]);
      });
    }};

}  // namespace
}  // namespace runnel
