#ifndef PDL_MODEL_LARGE_STACK_H_
#define PDL_MODEL_LARGE_STACK_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

/// Calls `f`, and rethrows what it throws. The limits of the compiler on nesting assume a stack of
/// some MiB: if less is left on this thread, `f` is called on another one, which has it. If no
/// thread can be created, it is called here.
void WithLargeStack(llvm::function_ref<void()> f);

/// The same for a function with a result.
template <class F>
auto OnLargeStack(F f) {
  std::optional<std::invoke_result_t<F>> result;
  WithLargeStack([&] { result.emplace(f()); });
  return std::move(*result);
}

}  // namespace pdl

#endif  // PDL_MODEL_LARGE_STACK_H_
