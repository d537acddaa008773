#include "pdl/op/error.h"

namespace pdl {

llvm::StringRef CodeExplanation(Code code) {
  // Without a default, so that the compiler reports a code that has no explanation.
  switch (code) {
#define PDL_EXPLANATION(enumerator, explanation) \
  case Code::enumerator:                         \
    return explanation;
#include "ir/explanations.def"
#undef PDL_EXPLANATION
  }
  return "";
}

}  // namespace pdl
