#include "tools/pdl/lsp/uri.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Path.h"
#include "mlir/Tools/lsp-server-support/Protocol.h"

namespace pdl::lsp {

std::string PathOfUri(llvm::StringRef uri) {
  // Without this, an unknown scheme is an Error that is also logged.
  if (!uri.starts_with_insensitive("file:")) return "";
  llvm::Expected<mlir::lsp::URIForFile> file = mlir::lsp::URIForFile::fromURI(uri);
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  llvm::SmallString<128> path(file->file());
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}

std::string UriOfPath(llvm::StringRef path) {
  llvm::Expected<mlir::lsp::URIForFile> file = mlir::lsp::URIForFile::fromFile(path);
  if (file) return file->uri().str();
  llvm::consumeError(file.takeError());
  return "";
}

}  // namespace pdl::lsp
