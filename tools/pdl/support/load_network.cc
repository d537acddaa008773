#include "tools/pdl/support/load_network.h"

#include <utility>

#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/training.h"
#include "pdl/op/op_registry.h"
#include "tools/pdl/support/console.h"

namespace pdl {

LoadOptions ToLoadOptions(const CommonOptions& options) {
  LoadOptions load;
  load.settings = options.settings;
  load.folder = options.folder;
  load.without_weights = options.without_weights;
  load.training_step = options.training_step;
  load.warn_unused = options.warn_unused;
  return load;
}

/// Prints warnings and notes, or returns the warnings as errors if the options say so.
static llvm::Error ReportWarnings(const Diagnostics& warnings, const CommonOptions& options) {
  if (warnings.all().empty() || options.without_warnings) return llvm::Error::success();
  Diagnostics errors;
  for (Diagnostic diagnostic : warnings.all()) {
    if (!options.werror || diagnostic.severity != Severity::kWarning) continue;
    diagnostic.severity = Severity::kError;
    errors.Add(std::move(diagnostic));
  }
  if (!errors.all().empty()) return llvm::make_error<SourceErrors>(std::move(errors));
  PrintDiagnostics(warnings);
  return llvm::Error::success();
}

static llvm::Expected<LoadedNetwork> WithWarnings(llvm::Expected<LoadedNetwork> loaded,
                                                  const CommonOptions& options) {
  if (!loaded) return loaded;
  if (llvm::Error error = ReportWarnings(loaded->warnings, options)) return error;
  return loaded;
}

llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const CommonOptions& options) {
  if (llvm::Error error = LoadPlugins(options)) return error;
  const TimedStage stage(options.pass_timings.get(), "load");
  return WithWarnings(LoadNetwork(path, ToLoadOptions(options)), options);
}

llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const CommonOptions& options) {
  const TimedStage stage(options.pass_timings.get(), "load");
  return WithWarnings(LoadNetwork(file, ToLoadOptions(options)), options);
}

llvm::Expected<GivenWeights> OpenGivenWeights(const CommonOptions& options, const Graph& graph) {
  Diagnostics warnings;
  llvm::Expected<GivenWeights> given = OpenGivenWeights(options.weights, options.weight_rules,
                                                        graph, &warnings, WeightRuleForm::kOption);
  if (!given) return given;
  if (llvm::Error error = ReportWarnings(warnings, options)) return error;
  return given;
}

/// Of a training step, or of runs on the device. If the CPU cannot multiply in the precision, a
/// warning, or an Error if the options say so.
static llvm::Error SetPrecision(const CommonOptions& options, NetworkOptions* network_options) {
  const DType precision = PrecisionOf(options);
  if (options.training_step) {
    network_options->precision = precision;
    return llvm::Error::success();
  }
  const std::string no_effect = SetPrecision(precision, options.device.kind, network_options);
  if (no_effect.empty()) return llvm::Error::success();
  if (options.werror) return MakeUserError(Code::kNoKernel, "{0}", no_effect);
  PrintWarning(Code::kNoKernel, no_effect + "; the network runs in f32");
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             const CommonOptions& options) {
  const TimedStage stage(options.pass_timings.get(), "create");
  NetworkOptions network_options;
  network_options.pass_observer =
      options.pass_observer ? options.pass_observer : options.pass_timings.get();
  network_options.seed = options.seed;
  if (llvm::Error error = SetPrecision(options, &network_options)) return error;
  if (!options.weights.empty()) {
    llvm::Expected<GivenWeights> given = OpenGivenWeights(options, loaded.graph);
    if (!given) return given.takeError();
    if (llvm::Error error = given->AddTo(&network_options.weights)) return error;
  }
  return CreateNetwork(std::move(loaded), std::move(network_options));
}

llvm::Error MakeStep(Graph& graph, const CommonOptions& options) {
  PassContext context{GlobalRegistry(), options.pass_timings.get()};
  if (options.pass_observer != nullptr) context.observer = options.pass_observer;
  const llvm::SmallVector<unsigned, 2> all = AllTrainings(graph);
  context.active = all;
  if (PrecisionOf(options) == DType::kF16) context.scale.emplace().state = NameOfScale(graph);
  return StepPipeline().Run(graph, context);
}

}  // namespace pdl
