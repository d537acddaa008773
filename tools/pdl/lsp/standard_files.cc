#include "tools/pdl/lsp/standard_files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/layers.h"
#include "pdl/version.h"

namespace pdl::lsp {

// The folder of this version's files; empty if there is no cache.
static llvm::SmallString<128> Folder() {
  llvm::SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder)) return llvm::SmallString<128>();
  llvm::sys::path::append(folder, "pdl", llvm::Twine("layers-") + version_string);
  return folder;
}

bool IsStandardSource(const SourceFile& file) {
  return llvm::any_of(StandardLayerTexts(),
                      [&](const auto& standard) { return standard.get() == &file; });
}

std::string WriteStandardFile(const SourceFile& file) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> path = Folder();
  if (path.empty() || fs::create_directories(path)) return "";
  llvm::sys::path::append(path, llvm::sys::path::filename(file.name()));
  const auto known = llvm::MemoryBuffer::getFile(path);
  if (known && (*known)->getBuffer() == file.text()) return path.str().str();
  llvm::Expected<fs::TempFile> temporary =
      fs::TempFile::create(path + ".%%%%%%", fs::all_read | fs::owner_write);
  if (!temporary) return llvm::consumeError(temporary.takeError()), "";
  llvm::raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
  os << file.text();
  os.flush();
  const bool failed = os.has_error();
  os.clear_error();
  if (failed) return llvm::consumeError(temporary->discard()), "";
  if (llvm::Error error = temporary->keep(path)) return llvm::consumeError(std::move(error)), "";
  return path.str().str();
}

bool IsStandardFile(llvm::StringRef path) {
  const llvm::SmallString<128> folder = Folder();
  return !folder.empty() && llvm::sys::path::parent_path(path) == folder;
}

}  // namespace pdl::lsp
