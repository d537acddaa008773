#include "model/large_stack.h"

#include <pthread.h>

#include <cstddef>
#include <exception>

namespace pdl {
namespace {

/// Networks at the limits of nesting take less than 2 MiB; with AddressSanitizer, several times as
/// much.
constexpr size_t kEnough = size_t{4} << 20;
constexpr size_t kLarge = size_t{32} << 20;

/// The lowest address of this thread's stack; 0 if that is unknown.
size_t StackEnd() {
  // For the main thread, a file of the system is read.
  static thread_local size_t end = [] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return size_t{0};
    void* address = nullptr;
    size_t size = 0;
    const bool is_known = pthread_attr_getstack(&attributes, &address, &size) == 0;
    pthread_attr_destroy(&attributes);
    return is_known ? reinterpret_cast<size_t>(address) : size_t{0};
  }();
  return end;
}

bool HasEnough() {
  const auto here = reinterpret_cast<size_t>(__builtin_frame_address(0));
  const size_t end = StackEnd();
  return end == 0 || here < end || here - end >= kEnough;
}

struct Call {
  llvm::function_ref<void()> f;
  std::exception_ptr thrown;
};

void* Run(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  try {
    call.f();
  } catch (...) {
    call.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void WithLargeStack(llvm::function_ref<void()> f) {
  if (HasEnough()) return f();
  Call call{f, nullptr};
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return f();
  pthread_t thread;
  const bool starts = pthread_attr_setstacksize(&attributes, kLarge) == 0 &&
                      pthread_create(&thread, &attributes, Run, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!starts) return f();
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace pdl
