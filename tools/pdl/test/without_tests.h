#ifndef PDL_TOOLS_PDL_TEST_WITHOUT_TESTS_H_
#define PDL_TOOLS_PDL_TEST_WITHOUT_TESTS_H_

#include "llvm/Support/Error.h"
#include "pdl/compiler/load.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// Compiles a source file without tests, whose errors no test reports. Weight files may be missing,
/// and it is no error that an `attr` has no value or that a setting is that of another file: such a
/// file may be there only to be imported.
llvm::Error CheckWithoutTests(const InputFile& file, const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TEST_WITHOUT_TESTS_H_
