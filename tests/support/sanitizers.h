// Which sanitizer this program was compiled with.
#pragma once

// gcc defines macros; clang answers __has_feature.
#if defined(__has_feature)
#define MINDTORCH_HAS_SANITIZER(name) __has_feature(name)
#else
#define MINDTORCH_HAS_SANITIZER(name) 0
#endif

namespace mindtorch::tests {

#if defined(__SANITIZE_ADDRESS__) || MINDTORCH_HAS_SANITIZER(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || MINDTORCH_HAS_SANITIZER(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

// Both keep freed memory.
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace mindtorch::tests
