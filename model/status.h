#ifndef PDL_MODEL_STATUS_H_
#define PDL_MODEL_STATUS_H_

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "pdl/pdl.h"

namespace pdl {

struct Status::Detail {
  Kind kind = Kind::kError;
  std::string code, message, file, text;
  int line = 0, column = 0;
};

/// Converts an Error to a Status; success to success.
Status ToStatus(llvm::Error error);

/// The Status of a lack of memory while doing something. It is made without memory if there is
/// none.
Status OutOfMemoryStatus(const llvm::Twine& doing);

/// Returns f(), or OutOfMemoryStatus if it runs out of memory. Results and Statuses are made in
/// `f`, which takes memory, too.
template <class F>
std::invoke_result_t<F> WithOutOfMemoryStatus(const llvm::Twine& doing, F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than a container can ever hold
  }
  return OutOfMemoryStatus(doing);
}

/// Converts the result of `f`, an llvm::Error, to a Status. Running out of memory becomes one, too.
template <class F>
Status AsStatus(const llvm::Twine& doing, F f) {
  return WithOutOfMemoryStatus(doing, [&] { return ToStatus(f()); });
}

/// Converts the result of `f`, an llvm::Expected<T>, to a Result<T>. Errors, including running out
/// of memory, become a Status.
template <class F>
auto AsResult(const llvm::Twine& doing, F f) {
  using T = std::remove_reference_t<decltype(*std::declval<std::invoke_result_t<F>&>())>;
  return WithOutOfMemoryStatus(doing, [&]() -> Result<T> {
    auto result = f();
    if (!result) return ToStatus(result.takeError());
    return std::move(*result);
  });
}

}  // namespace pdl

#endif  // PDL_MODEL_STATUS_H_
