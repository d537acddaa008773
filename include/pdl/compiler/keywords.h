#ifndef PDL_COMPILER_KEYWORDS_H_
#define PDL_COMPILER_KEYWORDS_H_

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Whether the word is a keyword anywhere in the language. Generated source must not use it as a
/// name.
PDL_API bool IsKeyword(llvm::StringRef word);

}  // namespace pdl

#endif  // PDL_COMPILER_KEYWORDS_H_
