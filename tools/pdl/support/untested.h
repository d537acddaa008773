#ifndef PDL_TOOLS_PDL_SUPPORT_UNTESTED_H_
#define PDL_TOOLS_PDL_SUPPORT_UNTESTED_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/op_def.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// Lists, one line each, everything that the tests in `folder` do not cover for these operators:
/// "cos: dtype f16 of x". The tests of `cos` are `folder`/cos.pdl. They must call it with each
/// dtype that an input accepts, each choice and one value other than the default of each attribute,
/// an empty tensor, a size of 0 next to other sizes, and, if floats are accepted, nan, inf and
/// -inf.
///
/// A line of the file `folder`/waivers.txt, "cos: dtype f16 of x: the reason", allows one of them,
/// or, with `*`, all of an operator; waivers that are not needed are listed, too.
llvm::Expected<std::vector<std::string>> FindUntested(llvm::StringRef folder,
                                                      llvm::ArrayRef<const OpDef*> ops,
                                                      const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_UNTESTED_H_
