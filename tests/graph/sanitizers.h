// Whether a sanitizer slows this program down: tests that go round and round do fewer rounds then.
#pragma once

namespace runnel {

#if defined(_GLIBCXX_TSAN) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace runnel
