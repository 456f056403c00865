// Functions of one number: Neg, Abs, Sign, roots, exponentials and the ops for their derivatives. The C
// library's functions throughout, so every element comes out the same wherever it stands (formats 10 says
// where TensorFlow differs).
#include <cmath>

#include "graph/error.h"
#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

// Functions of the C library cost some 10 ns an element.
constexpr std::int64_t kFunctionGrain = 4096;

struct Negated {
  template <class T>
  static T apply(T x) {
    return static_cast<T>(-static_cast<Wrapping<T>>(x));
  }
};
struct Magnitude {
  template <class T>
  static T apply(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else
      return x < 0 ? Negated::apply(x) : x;
  }
};
struct Signum {
  template <class T>
  static T apply(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return x > 0 ? T{1} : x < 0 ? T{-1} : x != x ? x : T{0};
    else
      return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Root {
  template <class T>
  static T apply(T x) {
    return std::sqrt(x);
  }
};
struct InverseRoot {
  template <class T>
  static T apply(T x) {
    return T{1} / std::sqrt(x);
  }
};
struct Inverse {
  template <class T>
  static T apply(T x) {
    return T{1} / x;
  }
};
struct Exponential {
  template <class T>
  static T apply(T x) {
    return std::exp(x);
  }
};
struct Logarithm {
  template <class T>
  static T apply(T x) {
    return std::log(x);
  }
};
struct HyperbolicTangent {
  template <class T>
  static T apply(T x) {
    return std::tanh(x);
  }
};
struct Logistic {
  template <class T>
  static T apply(T x) {
    return T{1} / (T{1} + std::exp(-x));
  }
};

const KernelRegistration kNeg{"Neg",
                              on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t>,
                              []<class T>(Bind& b) { bind_unary<Negated, T>(b); },
                              {.in_place = true}};
const KernelRegistration kAbs{"Abs",
                              on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t>,
                              []<class T>(Bind& b) { bind_unary<Magnitude, T>(b); },
                              {.in_place = true}};
const KernelRegistration kSign{"Sign",
                               on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t>,
                               []<class T>(Bind& b) { bind_unary<Signum, T>(b); },
                               {.in_place = true}};
const KernelRegistration kSqrt{
    "Sqrt", on<float, double>, []<class T>(Bind& b) { bind_unary<Root, T>(b); }, {.in_place = true}};
const KernelRegistration kRsqrt{
    "Rsqrt", on<float, double>, []<class T>(Bind& b) { bind_unary<InverseRoot, T>(b); }, {.in_place = true}};
const KernelRegistration kReciprocal{
    "Reciprocal", on<float, double>, []<class T>(Bind& b) { bind_unary<Inverse, T>(b); }, {.in_place = true}};
const KernelRegistration kInv{
    "Inv", on<float, double>, []<class T>(Bind& b) { bind_unary<Inverse, T>(b); }, {.in_place = true}};
const KernelRegistration kExp{"Exp",
                              on<float, double>,
                              []<class T>(Bind& b) { bind_unary<Exponential, T>(b, kFunctionGrain); },
                              {.in_place = true}};
const KernelRegistration kLog{"Log",
                              on<float, double>,
                              []<class T>(Bind& b) { bind_unary<Logarithm, T>(b, kFunctionGrain); },
                              {.in_place = true}};
const KernelRegistration kTanh{"Tanh",
                               on<float, double>,
                               []<class T>(Bind& b) { bind_unary<HyperbolicTangent, T>(b, kFunctionGrain); },
                               {.in_place = true}};
const KernelRegistration kSigmoid{"Sigmoid",
                                  on<float, double>,
                                  []<class T>(Bind& b) { bind_unary<Logistic, T>(b, kFunctionGrain); },
                                  {.in_place = true}};

// --- derivatives out of the function's value y and the gradient dy

struct RootGradient {  // 0.5 dy / y
  template <class T>
  static T apply(T y, T dy) {
    return dy * T(0.5) / y;
  }
};
struct InverseRootGradient {  // -0.5 dy y^3
  template <class T>
  static T apply(T y, T dy) {
    return T(-0.5) * dy * y * y * y;
  }
};
struct InverseGradient {  // -dy y^2
  template <class T>
  static T apply(T y, T dy) {
    return -dy * y * y;
  }
};
struct TangentGradient {  // dy (1 - y^2)
  template <class T>
  static T apply(T y, T dy) {
    return dy * (T{1} - y * y);
  }
};
struct LogisticGradient {  // dy y (1 - y)
  template <class T>
  static T apply(T y, T dy) {
    return dy * y * (T{1} - y);
  }
};

template <class F, class T>
void bind_gradient(Bind& b) {
  if (b.input("dy").shape != b.input("y").shape)
    throw InvalidArgument(cat("y and dy differ: ", b.input("y").shape, " and ", b.input("dy").shape));
  const std::int64_t n = b.input("y").shape.elements();
  b.run([n, y = b.in<T>("y"), dy = b.in<T>("dy"), z = b.out<T>("z")](Context& c) {
    Loops<F, T, T>::both(c[y], c[dy], c[z], {.n = n});
  });
}

const KernelRegistration kSqrtGrad{"SqrtGrad",
                                   on<float, double>,
                                   []<class T>(Bind& b) { bind_gradient<RootGradient, T>(b); },
                                   {.in_place = true}};
const KernelRegistration kRsqrtGrad{"RsqrtGrad",
                                    on<float, double>,
                                    []<class T>(Bind& b) { bind_gradient<InverseRootGradient, T>(b); },
                                    {.in_place = true}};
const KernelRegistration kReciprocalGrad{"ReciprocalGrad",
                                         on<float, double>,
                                         []<class T>(Bind& b) { bind_gradient<InverseGradient, T>(b); },
                                         {.in_place = true}};
const KernelRegistration kInvGrad{"InvGrad",
                                  on<float, double>,
                                  []<class T>(Bind& b) { bind_gradient<InverseGradient, T>(b); },
                                  {.in_place = true}};
const KernelRegistration kTanhGrad{"TanhGrad",
                                   on<float, double>,
                                   []<class T>(Bind& b) { bind_gradient<TangentGradient, T>(b); },
                                   {.in_place = true}};
const KernelRegistration kSigmoidGrad{"SigmoidGrad",
                                      on<float, double>,
                                      []<class T>(Bind& b) { bind_gradient<LogisticGradient, T>(b); },
                                      {.in_place = true}};

}  // namespace
}  // namespace runnel
