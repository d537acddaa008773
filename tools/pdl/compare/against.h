#ifndef PDL_TOOLS_PDL_COMPARE_AGAINST_H_
#define PDL_TOOLS_PDL_COMPARE_AGAINST_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "tools/pdl/compare/report.h"
#include "tools/pdl/compare/sides.h"

namespace pdl {

/// Runs a network that was fed and compares its outputs, and values on the way, with the arrays of
/// their names in a .npz file. An Error where none has such a name.
llvm::Error CompareWithFile(Side& side, llvm::StringRef file, RunOptions options,
                            const Tolerance& tolerance, CompareReport& report);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_AGAINST_H_
