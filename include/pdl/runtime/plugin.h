#ifndef PDL_RUNTIME_PLUGIN_H_
#define PDL_RUNTIME_PLUGIN_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Loads a plugin, a shared library of operators (REGISTER_OP), into the GlobalRegistry. An Error
/// if it cannot be loaded, is not a plugin, or was built against another version of libpdl; nothing
/// is registered then. A plugin is never unloaded; loading it again has no effect.
PDL_API llvm::Error LoadPlugin(llvm::StringRef path);

}  // namespace pdl

#endif  // PDL_RUNTIME_PLUGIN_H_
