#ifndef PDL_TOOLS_PDL_LSP_STANDARD_FILES_H_
#define PDL_TOOLS_PDL_LSP_STANDARD_FILES_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/source.h"

// The standard layers as files that editors can open: they are embedded in the library. Files in a
// folder of the user's cache work in every editor; a virtual document would need support by each.

namespace pdl::lsp {

/// Whether the source is one of the standard layers' files.
bool IsStandardSource(const SourceFile& file);
/// Writes the source to the cache, if it is not there, and returns the path; empty if it cannot be
/// written.
std::string WriteStandardFile(const SourceFile& file);
/// Whether the path is one of those files.
bool IsStandardFile(llvm::StringRef path);

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_STANDARD_FILES_H_
