#include "tools/pdl/support/first_run.h"

#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/support/onnx_network.h"

namespace pdl {
namespace {

llvm::Error RunTimed(FirstRun& run, const RunOptions& options, const CommonOptions& common) {
  const TimedStage stage(common.pass_timings.get(), "plan and run");
  return run.network->Run(&run.scope, run.context.get(), options);
}

/// Whether an ONNX model failed a check of sizes that were not statically known at import.
bool IsForSizes(llvm::StringRef path, llvm::Error& error) {
  bool is_for_sizes = false;
  error = llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> user) {
    is_for_sizes = user->code() == Code::kSizeCheck;
    return llvm::Error(std::move(user));
  });
  return is_for_sizes && llvm::sys::path::extension(path) == ".onnx";
}

llvm::Expected<std::unique_ptr<FirstRun>> RunOnce(llvm::StringRef path, RunInputs& inputs,
                                                  CommonOptions& common, const RunOptions& options,
                                                  bool is_retried) {
  auto run = std::make_unique<FirstRun>();
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, common);
  if (!loaded) return loaded.takeError();
  if (llvm::Error error = inputs.Feed(loaded->graph, common, &run->fed)) return error;
  auto context = OpenDevice(common);
  if (!context) return context.takeError();
  run->context = std::move(*context);
  auto network = CreateNetwork(std::move(*loaded), common);
  if (!network) return network.takeError();
  run->network = std::move(*network);
  llvm::Error error = RunTimed(*run, options, common);
  if (!is_retried && IsForSizes(path, error)) {
    if (auto sizes = SizesAsSettings(run->network->graph(), run->fed); !sizes.empty()) {
      llvm::consumeError(std::move(error));
      common.settings.insert(common.settings.end(), sizes.begin(), sizes.end());
      common.sizes.clear();
      return RunOnce(path, inputs, common, options, /*is_retried=*/true);
    }
  }
  if (error) return error;
  return run;
}

}  // namespace

llvm::Expected<std::unique_ptr<FirstRun>> RunOnce(llvm::StringRef path, RunInputs& inputs,
                                                  CommonOptions& common,
                                                  const RunOptions& options) {
  return RunOnce(path, inputs, common, options, /*is_retried=*/false);
}

}  // namespace pdl
