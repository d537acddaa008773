#include "tools/pdl/support/first_run.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/graph_walk.h"
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

/// The first output that can be computed from the inputs that were fed, or an empty string; also if
/// that would not suffice for the updates.
llvm::StringRef OutputWithoutMissing(const Graph& graph, const Scope& fed) {
  auto is_missing = [&](const Value* value) {
    return value->kind() == ValueKind::kInput && fed.Find(value->name()) == nullptr;
  };
  auto can_run = [&](Value* value) { return llvm::none_of(BackwardSlice({value}), is_missing); };
  for (const GraphUpdate& update : graph.updates())
    if (!can_run(update.value)) return "";
  for (const GraphOutput& output : graph.outputs())
    if (can_run(output.value)) return output.name;
  return "";
}

/// Adds to the error of a missing input which output does not need it.
llvm::Error WithHint(llvm::Error error, const FirstRun& run, const RunOptions& options) {
  if (!options.outputs.empty()) return error;
  return llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> e) -> llvm::Error {
    const llvm::StringRef output =
        e->code() == Code::kMissingInput ? OutputWithoutMissing(run.network->graph(), run.fed) : "";
    if (output.empty()) return llvm::Error(std::move(e));
    return MakeUserError(e->code(), "{0}; --output {1} does not need it", e->text(), output);
  });
}

llvm::Expected<std::unique_ptr<FirstRun>> RunOnce(llvm::StringRef path, RunInputs& inputs,
                                                  CommonOptions& common, const RunOptions& options,
                                                  bool is_retried) {
  auto run = std::make_unique<FirstRun>();
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, common);
  if (!loaded) return loaded.takeError();
  if (llvm::Error error = inputs.Feed(loaded->graph, common, &run->fed)) return error;
  if (common.training_step)
    if (llvm::Error error = MakeStep(loaded->graph, common)) return error;
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
  if (error) return WithHint(std::move(error), *run, options);
  return run;
}

}  // namespace

llvm::Expected<std::unique_ptr<FirstRun>> RunOnce(llvm::StringRef path, RunInputs& inputs,
                                                  CommonOptions& common,
                                                  const RunOptions& options) {
  return RunOnce(path, inputs, common, options, /*is_retried=*/false);
}

}  // namespace pdl
