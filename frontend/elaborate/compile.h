#ifndef PDL_FRONTEND_ELABORATE_COMPILE_H_
#define PDL_FRONTEND_ELABORATE_COMPILE_H_

#include "pdl/compiler/compiler.h"

namespace pdl {

/// As Compile, but throws std::bad_alloc or std::length_error if it runs out of memory, which is
/// not an error of the source.
CompileResult CompileOrThrow(const CompileRequest& request);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_COMPILE_H_
