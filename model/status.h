#ifndef PDL_MODEL_STATUS_H_
#define PDL_MODEL_STATUS_H_

#include <string>

#include "llvm/Support/Error.h"
#include "pdl/op/out_of_memory.h"
#include "pdl/pdl.h"

namespace pdl {

struct Status::Detail {
  Kind kind = Kind::kError;
  std::string code, message, file, text;
  int line = 0, column = 0;
};

/// Converts an Error to a Status; success to success.
Status ToStatus(llvm::Error error);

/// Converts the result of `f`, an llvm::Expected<T>, to a Result<T>. Errors, including running out
/// of memory, become a Status.
template <class F>
auto AsResult(llvm::StringRef doing, F f)
    -> Result<std::remove_reference_t<decltype(*std::declval<std::invoke_result_t<F>&>())>> {
  auto result = WithOutOfMemory(doing, f);
  if (!result) return ToStatus(result.takeError());
  return std::move(*result);
}

}  // namespace pdl

#endif  // PDL_MODEL_STATUS_H_
