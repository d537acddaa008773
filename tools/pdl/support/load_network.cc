#include "tools/pdl/support/load_network.h"

#include <utility>

#include "tools/pdl/support/console.h"

namespace pdl {

LoadOptions ToLoadOptions(const CommonOptions& options) {
  LoadOptions load;
  load.settings = options.settings;
  load.folder = options.folder;
  load.without_weights = options.without_weights;
  load.training_step = options.training_step;
  return load;
}

static llvm::Expected<LoadedNetwork> PrintWarnings(llvm::Expected<LoadedNetwork> loaded,
                                                   const CommonOptions& options) {
  if (loaded && !options.without_warnings) PrintDiagnostics(loaded->warnings);
  return loaded;
}

llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const CommonOptions& options) {
  if (llvm::Error error = LoadPlugins(options)) return error;
  const TimedStage stage(options.pass_timings.get(), "load");
  return PrintWarnings(LoadNetwork(path, ToLoadOptions(options)), options);
}

llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const CommonOptions& options) {
  const TimedStage stage(options.pass_timings.get(), "load");
  return PrintWarnings(LoadNetwork(file, ToLoadOptions(options)), options);
}

llvm::Expected<SafetensorsFile> OpenGivenWeights(llvm::StringRef path, const Graph& graph) {
  Diagnostics warnings;
  llvm::Expected<SafetensorsFile> file = OpenGivenWeights(path, graph, &warnings);
  PrintDiagnostics(warnings);
  return file;
}

llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             const CommonOptions& options) {
  const TimedStage stage(options.pass_timings.get(), "create");
  NetworkOptions network_options;
  network_options.pass_observer =
      options.pass_observer ? options.pass_observer : options.pass_timings.get();
  network_options.seed = options.seed;
  network_options.precision = PrecisionOf(options);
  if (!options.weights.empty()) {
    llvm::Expected<SafetensorsFile> file = OpenGivenWeights(options.weights, loaded.graph);
    if (!file) return file.takeError();
    for (const SafetensorsFile::Entry& entry : file->entries())
      network_options.weights[entry.name] = file->Read(entry);
  }
  return CreateNetwork(std::move(loaded), std::move(network_options));
}

}  // namespace pdl
