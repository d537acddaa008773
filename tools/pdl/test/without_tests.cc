#include "tools/pdl/test/without_tests.h"

#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

/// Whether an error is about how the file was given, rather than about the file.
bool IsOfSettings(const Diagnostic& error) {
  if (error.code == Code::kUnknownSetting) return true;
  // An attr, not a call that lacks an attribute.
  if (error.code != Code::kMissingAttribute || error.file == nullptr) return false;
  return error.file->text().take_front(error.primary.begin).rtrim().ends_with("attr");
}

}  // namespace

llvm::Error CheckWithoutTests(const InputFile& file, const CommonOptions& options) {
  LoadOptions load = ToLoadOptions(options);
  load.without_weights = true;
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(file, load);
  return llvm::handleErrors(loaded.takeError(), [](const SourceErrors& errors) -> llvm::Error {
    Diagnostics kept;
    for (const Diagnostic& each : errors.diagnostics().all())
      if (!IsOfSettings(each)) kept.Add(each);
    if (!kept.has_errors()) return llvm::Error::success();
    return llvm::make_error<SourceErrors>(std::move(kept));
  });
}

}  // namespace pdl
