#ifndef PDL_COMPILER_KEYWORDS_H_
#define PDL_COMPILER_KEYWORDS_H_

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Whether the language gives the word a meaning of its own, anywhere: a program that writes texts
/// does not use it as a name.
PDL_API bool IsKeyword(llvm::StringRef word);

}  // namespace pdl

#endif  // PDL_COMPILER_KEYWORDS_H_
