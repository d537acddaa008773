#include "runtime/own_folder.h"

#include <dlfcn.h>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace pdl {

std::string OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &info) == 0 || !info.dli_fname) return ".";
  llvm::SmallString<256> path;
  if (llvm::sys::fs::real_path(info.dli_fname, path)) path = info.dli_fname;
  return llvm::sys::path::parent_path(path).str();
}

}  // namespace pdl
