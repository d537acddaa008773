#include "pdl/compiler/load.h"

#include "frontend/elaborate/compile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "model/onnx_file.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/compiler/trace.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/out_of_memory.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"
#include "pdl/train/trainer.h"

namespace pdl {
namespace {

/// A NetworkDesc begins with its format version, field 1; no source begins with that byte.
constexpr char kCompiledStart = 0x08;

llvm::Expected<LoadedNetwork> CompileSource(const InputFile& file, const LoadOptions& options) {
  auto source = ToSource(file);
  if (!source) return source.takeError();
  WeightFiles weights(file.folder);
  const CompileRequest request = MakeCompileRequest(file, *source, options, &weights);
  CompileResult result = CompileOrThrow(request);
  if (!result.graph) return llvm::make_error<SourceErrors>(std::move(result.diagnostics));
  return LoadedNetwork{
      std::move(*result.graph), file.folder, result.has_tests, {}, std::move(result.diagnostics)};
}

}  // namespace

char SourceErrors::ID = 0;

/// The source of a stored network that calls layers. `error` is that of DeserializeNetwork, which
/// is returned for other networks.
static llvm::Expected<std::string> SourceOfLayerCalls(llvm::StringRef bytes, llvm::StringRef name,
                                                      llvm::Error error) {
  llvm::Expected<std::string> source = SourceOfIncomplete(bytes, name, GlobalRegistry());
  if (source && source->empty()) return error;
  llvm::consumeError(std::move(error));
  return source;
}

InputFile FileInMemory(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder) {
  InputFile file;
  file.bytes = llvm::MemoryBuffer::getMemBuffer(bytes, name, /*RequiresNullTerminator=*/false);
  file.name = name.str();
  file.folder = folder.str();
  const llvm::StringRef extension = llvm::sys::path::extension(name);
  file.is_compiled = extension == ".pdlc";
  file.is_onnx = extension == ".onnx";
  return file;
}

/// A compiled network as source of the same name. Refers to `source`, which must outlive it.
static InputFile AsSource(const InputFile& file, llvm::StringRef source) {
  InputFile result = FileInMemory(source, file.name, file.folder);
  result.is_compiled = false;
  return result;
}

llvm::Expected<std::shared_ptr<const SourceFile>> ReadImported(llvm::StringRef folder,
                                                               llvm::StringRef path) {
  llvm::Expected<std::string> resolved = ResolveInFolder(folder, path);
  if (!resolved) return resolved.takeError();
  llvm::Expected<InputFile> file = ReadInputFile(*resolved);
  if (!file) return file.takeError();
  llvm::SmallString<128> name(folder == "." ? "" : folder);
  llvm::sys::path::append(name, path);
  file->name = name.str().str();
  if (!file->is_compiled) return ToSource(*file);
  // A stored network is imported as the flat source that reproduces it.
  const llvm::StringRef bytes = file->bytes->getBuffer();
  llvm::Expected<Graph> graph = DeserializeNetwork(bytes, file->name, GlobalRegistry());
  llvm::Expected<std::string> source =
      graph ? EmitPdl(*graph) : SourceOfLayerCalls(bytes, file->name, graph.takeError());
  if (!source) return source.takeError();
  return std::make_shared<const SourceFile>(file->name, std::move(*source));
}

CompileRequest MakeCompileRequest(const InputFile& file, std::shared_ptr<const SourceFile> source,
                                  const LoadOptions& options, WeightFiles* weights) {
  CompileRequest request;
  request.file = std::move(source);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.settings = options.settings;
  request.setting_place = options.setting_place;
  request.training_step = options.training_step;
  request.warn_unused = options.warn_unused;
  if (!options.without_weights) request.open_weights = weights->Opener();
  if (file.name != "<stdin>") {
    request.read_file = [folder = file.folder](llvm::StringRef path) {
      return ReadImported(folder, path);
    };
  }
  return request;
}

llvm::Expected<InputFile> ReadInputFile(llvm::StringRef path) {
  const bool is_stdin = path == "-";
  const llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".onnx") {
    InputFile model;
    model.name = path.str();
    model.folder = FolderOf(path);
    model.is_onnx = true;
    return model;
  }
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      is_stdin ? ReadStandardInput(SourceFile::kMaxSize) : ReadFile(path);
  if (!buffer) return buffer.takeError();
  InputFile file;
  file.bytes = std::move(*buffer);
  file.name = is_stdin ? "<stdin>" : path.str();
  file.folder = FolderOf(path);
  file.is_compiled = extension == ".pdlc" ||
                     (extension != ".pdl" && file.bytes->getBuffer().starts_with(kCompiledStart));
  return file;
}

std::string FolderOf(llvm::StringRef path) {
  const llvm::StringRef parent = llvm::sys::path::parent_path(path);
  return parent.empty() ? "." : parent.str();
}

llvm::Expected<std::shared_ptr<const SourceFile>> ToSource(const InputFile& file) {
  if (!file.is_source()) {
    return MakeUserError(Code::kBadFile, "'{0}' is {1}, but pdl source is required; see: {2}",
                         file.name, file.is_onnx ? "an ONNX model" : "a compiled network",
                         file.is_onnx ? "pdl import" : "pdl dump --emit=pdl");
  }
  if (file.bytes->getBufferSize() > SourceFile::kMaxSize)
    return MakeUserError(Code::kTextTooLong, "'{0}' is longer than 2 GiB", file.name);
  return std::make_shared<const SourceFile>(file.name, file.bytes->getBuffer().str());
}

llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const LoadOptions& options) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  if (!options.folder.empty()) file->folder = options.folder;
  return LoadNetwork(*file, options);
}

static llvm::Expected<LoadedNetwork> Load(const InputFile& file, const LoadOptions& options) {
  const TraceSpan span("load");
  if (file.is_onnx) {
    llvm::Expected<ImportedModel> imported =
        ImportOnnxFile(file, options.settings, options.setting_place);
    if (!imported) return imported.takeError();
    LoadedNetwork network;
    network.graph = std::move(imported->graph);
    network.folder = file.folder;
    network.weights = std::move(imported->weights);
    network.warnings = std::move(imported->warnings);
    return network;
  }
  if (!file.is_compiled) return CompileSource(file, options);
  if (!options.settings.empty()) {
    return MakeUserError(
        Code::kUnknownSetting,
        "'{0}' is compiled: the values of its attrs are fixed, so {1} cannot change them",
        file.name, options.setting_place ? "settings" : "--set");
  }
  llvm::Expected<Graph> graph =
      DeserializeNetwork(file.bytes->getBuffer(), file.name, GlobalRegistry());
  if (!graph) {
    llvm::Expected<std::string> source =
        SourceOfLayerCalls(file.bytes->getBuffer(), file.name, graph.takeError());
    if (!source) return source.takeError();
    return CompileSource(AsSource(file, *source), options);
  }
  if (!options.training_step || graph->trainings().empty())
    return LoadedNetwork{std::move(*graph), file.folder};
  // The flat source contains the optimizers.
  llvm::Expected<LoadedNetwork> network = CompileSource(AsSource(file, EmitPdl(*graph)), options);
  if (network) return network;
  // The source was valid when it was compiled, so the error is a name that the flat source lacks.
  llvm::consumeError(network.takeError());
  return MakeUserError(Code::kBadMinimize,
                       "'{0}' is compiled and lacks values that its minimize statements refer to: "
                       "train the source that it was compiled from",
                       file.name);
}

llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const LoadOptions& options) {
  return WithOutOfMemory("loading '" + file.name + "'", [&] { return Load(file, options); });
}

llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             NetworkOptions options) {
  options.weight_folder = loaded.folder;
  for (auto& weight : loaded.weights)
    options.weights.try_emplace(weight.getKey(), std::move(weight.second));
  return Network::Create(std::move(loaded.graph), std::move(options), GlobalRegistry());
}

}  // namespace pdl
