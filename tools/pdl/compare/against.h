#ifndef PDL_TOOLS_PDL_COMPARE_AGAINST_H_
#define PDL_TOOLS_PDL_COMPARE_AGAINST_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "tools/pdl/compare/report.h"
#include "tools/pdl/compare/sides.h"

namespace pdl {

/// Runs a network that was fed, and compares its outputs and intermediate values with the arrays of
/// the same names in a .npz file. Returns an Error if no array has the name of a value.
llvm::Error CompareWithFile(Side& side, llvm::StringRef file, RunOptions options,
                            const Tolerance& tolerance, CompareReport& report);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_COMPARE_AGAINST_H_
