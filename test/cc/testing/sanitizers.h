#ifndef PDL_TEST_CC_TESTING_SANITIZERS_H_
#define PDL_TEST_CC_TESTING_SANITIZERS_H_

namespace pdl {

/// Whether AddressSanitizer or ThreadSanitizer is in the program: it runs five to ten times slower,
/// and reserves more address space than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(PDL_THREAD_SANITIZER)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_SANITIZERS_H_
