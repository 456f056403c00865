// Flushes denormal floats to zero while it lives, on inputs and results, and puts the thread's state back
// after; as TensorFlow's kernels run. On processors other than x86 it does nothing.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace runnel {

class FloatState {
 public:
#if defined(__SSE__)
  FloatState() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlush); }
  ~FloatState() { _mm_setcsr(before_); }
#else
  FloatState() = default;
#endif
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kFlush = 0x8040;  // MXCSR: flush to zero, denormals are zero
  unsigned before_;
#endif
};

}  // namespace runnel
