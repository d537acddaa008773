#include "pdl/runtime/plugin.h"

#include <dlfcn.h>

#include <mutex>
#include <string>

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FileSystem.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/version.h"
#include "runtime/io/file.h"

namespace pdl {
namespace {

/// The messages without their codes, one on each line.
std::string TextOf(llvm::Error errors) {
  std::string text;
  llvm::handleAllErrors(std::move(errors), [&](const UserError& error) {
    text += (text.empty() ? "" : "\n") + error.text();
  });
  return text;
}

using VersionFunction = const char* (*)();
using RegisterFunction = void (*)(OpRegistry*);

}  // namespace

llvm::Error LoadPlugin(llvm::StringRef path) {
  static std::mutex mutex;
  static auto& accepted = *new llvm::DenseSet<void*>;
  std::lock_guard<std::mutex> lock(mutex);

  // Without a slash, dlopen would search the system's folders.
  std::string file = path.contains('/') ? path.str() : "./" + path.str();
  // dlopen would wait for a writer of a pipe. Missing files are reported by dlopen.
  if (llvm::sys::fs::exists(file))
    if (llvm::Error error = CheckRegularFile(file)) return error;
  // A rejected library stays loaded, because it may already be referenced.
  const internal::CountRegistrations of_program;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return MakeUserError(Code::kPlugin, "cannot load plugin '{0}': {1}", path, dlerror());
  if (accepted.contains(library)) return llvm::Error::success();

  auto version = reinterpret_cast<VersionFunction>(dlsym(library, "pdl_plugin_version"));
  auto add_ops = reinterpret_cast<RegisterFunction>(dlsym(library, "pdl_plugin_register"));
  if (of_program.count() > 0)
    return MakeUserError(
        Code::kPlugin,
        "'{0}' has operators, but is not compiled as a plugin: pdl_add_plugin does "
        "it, and so does the option -DPDL_BUILD_PLUGIN",
        path);
  if (version == nullptr || add_ops == nullptr)
    return MakeUserError(Code::kPlugin,
                         "'{0}' is not a pdl plugin: it does not define {1} (see pdl_add_plugin)",
                         path, version == nullptr ? "pdl_plugin_version" : "pdl_plugin_register");
  if (llvm::StringRef(version()) != PDL_PLUGIN_VERSION) {
    return MakeUserError(Code::kPlugin, "plugin '{0}' was built against pdl {1}, this is pdl {2}",
                         path, version(), PDL_PLUGIN_VERSION);
  }

  llvm::Error faults = llvm::Error::success();
  OpRegistry ops(&faults);
  add_ops(&ops);
  if (faults)
    return MakeUserError(Code::kPlugin, "plugin '{0}': {1}", path, TextOf(std::move(faults)));
  for (const OpDef* def : ops.All()) {
    if (GlobalRegistry().Find(def->name()) != nullptr) {
      return MakeUserError(Code::kPlugin,
                           "plugin '{0}' has an operator '{1}', which already exists", path,
                           def->name());
    }
  }
  for (const OpDef* def : ops.All()) GlobalRegistry().Add(*def);
  accepted.insert(library);
  return llvm::Error::success();
}

}  // namespace pdl
