#ifndef PDL_TOOLS_PDL_LSP_URI_H_
#define PDL_TOOLS_PDL_LSP_URI_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace pdl::lsp {

/// The absolute path of a `file:` URI, without "." and ".."; empty for other URIs, such as those of
/// documents that are not saved yet.
std::string PathOfUri(llvm::StringRef uri);
/// The URI of an absolute path.
std::string UriOfPath(llvm::StringRef path);

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_URI_H_
