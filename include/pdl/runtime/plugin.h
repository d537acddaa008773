#ifndef PDL_RUNTIME_PLUGIN_H_
#define PDL_RUNTIME_PLUGIN_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Loads a shared library of operators (REGISTER_OP) into the GlobalRegistry. An Error where it
/// cannot be loaded, is no plugin, or was built against another version of libpdl; nothing of it is
/// registered then. A plugin is never unloaded; loading one again does nothing.
PDL_API llvm::Error LoadPlugin(llvm::StringRef path);

}  // namespace pdl

#endif  // PDL_RUNTIME_PLUGIN_H_
