#include "pdl/compiler/load.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "model/onnx_file.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
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
  CompileResult result = Compile(request);
  if (!result.graph) return llvm::make_error<SourceErrors>(std::move(result.diagnostics));
  return LoadedNetwork{
      std::move(*result.graph), file.folder, result.has_tests, {}, std::move(result.diagnostics)};
}

}  // namespace

char SourceErrors::ID = 0;

llvm::Expected<WeightInfo> LookUpWeight(WeightFiles& files, llvm::StringRef file,
                                        llvm::StringRef tensor) {
  llvm::Expected<WeightFiles::Found> found = files.Find(file, tensor);
  if (!found) return found.takeError();
  WeightInfo info;
  info.dtype = found->entry->dtype;
  info.sizes.assign(found->entry->sizes.begin(), found->entry->sizes.end());
  return info;
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
  llvm::Expected<Graph> graph =
      DeserializeNetwork(file->bytes->getBuffer(), file->name, GlobalRegistry());
  if (!graph) return graph.takeError();
  return std::make_shared<const SourceFile>(file->name, EmitPdl(*graph));
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
  if (!options.without_weights) {
    request.find_weight = [weights](llvm::StringRef weight_file, llvm::StringRef tensor) {
      return LookUpWeight(*weights, weight_file, tensor);
    };
  }
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
    model.bytes = llvm::MemoryBuffer::getMemBuffer("");
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

llvm::Expected<WeightFiles::Found> WeightFiles::Find(llvm::StringRef file, llvm::StringRef tensor) {
  auto opened = opened_.find(file);
  if (opened == opened_.end()) {
    llvm::Expected<std::string> path = ResolveInFolder(folder_, file);
    if (!path) return path.takeError();
    llvm::Expected<SafetensorsFile> weights = SafetensorsFile::Open(*path);
    if (!weights) return weights.takeError();
    llvm::SmallString<256> real;
    if (std::error_code code = llvm::sys::fs::real_path(*path, real))
      return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", *path, code.message());
    opened = opened_.try_emplace(file, Opened{std::move(*weights), real.str().str()}).first;
  }
  const SafetensorsFile& weights = opened->second.file;
  if (const SafetensorsFile::Entry* entry = weights.Find(tensor))
    return Found{&weights, entry, opened->second.path};
  std::vector<llvm::StringRef> names;
  for (const SafetensorsFile::Entry& entry : weights.entries()) names.push_back(entry.name);
  return MakeUserError(Code::kWeightMismatch, "\"{0}\" has no tensor '{1}'{2}", file, tensor,
                       DidYouMean(tensor, names));
}

llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const LoadOptions& options) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  if (!options.folder.empty()) file->folder = options.folder;
  return LoadNetwork(*file, options);
}

llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const LoadOptions& options) {
  if (file.is_onnx) {
    llvm::Expected<ImportedModel> imported =
        ImportOnnxFile(file.name, options.settings, options.setting_place);
    if (!imported) return imported.takeError();
    LoadedNetwork network;
    network.graph = std::move(imported->graph);
    network.folder = file.folder;
    network.weights = std::move(imported->weights);
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
  if (!graph) return graph.takeError();
  if (!options.training_step || graph->trainings().empty())
    return LoadedNetwork{std::move(*graph), file.folder};
  // The flat source contains the optimizers.
  InputFile text{llvm::MemoryBuffer::getMemBufferCopy(EmitPdl(*graph), file.name), file.name,
                 file.folder};
  llvm::Expected<LoadedNetwork> network = CompileSource(text, options);
  if (network) return network;
  // The source was valid when it was compiled, so the error is a name that the flat source lacks.
  llvm::consumeError(network.takeError());
  return MakeUserError(Code::kBadMinimize,
                       "'{0}' is compiled and lacks values that its minimize statements refer to: "
                       "train the source that it was compiled from",
                       file.name);
}

llvm::Expected<WeightFiles::Found> FindWeight(const Value& variable, WeightFiles& files) {
  const WeightRef& weight = *variable.variable().weight;
  llvm::Expected<WeightFiles::Found> found = files.Find(weight.file, weight.tensor);
  if (!found) return found.takeError();
  if (llvm::Error error = CheckWeightType(variable, *found->entry, weight.file)) return error;
  if (!weight.sha256.empty() && weight.sha256 != Sha256(found->file->Read(*found->entry))) {
    return MakeUserError(
        Code::kWeightMismatch,
        "'{0}' in \"{1}\" has changed since '{2}' was compiled (its SHA-256 differs)",
        weight.tensor, weight.file, variable.name());
  }
  return found;
}

llvm::Error CheckWeightType(const Value& variable, const SafetensorsFile::Entry& entry,
                            llvm::StringRef file) {
  const Type& type = variable.type();
  const Type stored(entry.dtype, Shape(entry.sizes.begin(), entry.sizes.end()));
  bool fits = stored.dtype == type.dtype && stored.rank() == type.rank();
  // The size of a state may depend on the run.
  for (unsigned axis = 0; fits && axis < type.rank(); ++axis)
    fits = !type.dims[axis].is_constant() || type.dims[axis] == stored.dims[axis];
  if (fits) return llvm::Error::success();
  return MakeUserError(Code::kWeightMismatch, "'{0}' in \"{1}\" is {2}, but '{3}' is {4}",
                       entry.name, file, stored.ToString(), variable.name(), type.ToString());
}

/// The names of optimizer states begin with those of parameters; `step` counts steps.
static bool IsOfTraining(llvm::StringRef tensor, const Graph& graph) {
  if (tensor == "step") return true;
  for (size_t dot = tensor.rfind('.'); dot != llvm::StringRef::npos; dot = tensor.rfind('.', dot)) {
    const Value* above = graph.FindValue(tensor.take_front(dot));
    if (above != nullptr && above->kind() == ValueKind::kParameter) return true;
    if (dot == 0) break;
  }
  return false;
}

llvm::Expected<SafetensorsFile> OpenGivenWeights(llvm::StringRef path, const Graph& graph,
                                                 Diagnostics* warnings) {
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file) return file.takeError();
  std::vector<llvm::StringRef> unused;
  for (const SafetensorsFile::Entry& entry : file->entries()) {
    const Value* value = graph.FindValue(entry.name);
    const bool is_variable = value != nullptr && (value->kind() == ValueKind::kParameter ||
                                                  value->kind() == ValueKind::kState);
    if (!is_variable && !IsOfTraining(entry.name, graph)) unused.push_back(entry.name);
  }
  // Report all mismatches at once.
  llvm::Error errors = llvm::Error::success();
  std::vector<std::string> missing, missing_states;
  bool has_some = false;
  for (const Value* variable : Variables(graph)) {
    if (IsOfTraining(graph, *variable)) continue;
    if (const SafetensorsFile::Entry* entry = file->Find(variable->name())) {
      has_some = true;
      errors = llvm::joinErrors(std::move(errors), CheckWeightType(*variable, *entry, path));
    } else if (variable->variable().weight) {
      continue;  // stored in a separate file
    } else if (variable->kind() == ValueKind::kState) {
      missing_states.push_back(variable->name());
    } else {
      missing.push_back("'" + variable->name() + "': " + variable->type().ToString() +
                        DidYouMean(variable->name(), unused));
    }
  }
  if (!missing.empty()) {
    errors = llvm::joinErrors(std::move(errors),
                              MakeUserError(Code::kWeightMismatch, "\"{0}\" has no tensor for {1}",
                                            path, llvm::join(missing, ", ")));
  }
  if (errors) return errors;
  // A checkpoint contains values that only training needs, so they are not reported.
  if (!unused.empty() && (!has_some || !IsCheckpoint(*file))) {
    warnings->Warning(Code::kWeightMismatch, nullptr, {},
                      "in " + path.str() + ", but no parameter or state of the network: " +
                          llvm::join(unused, ", "));
  }
  if (!missing_states.empty()) {
    warnings->Warning(Code::kWeightMismatch, nullptr, {},
                      "not in " + path.str() +
                          ": these states get the initial values of the network: " +
                          llvm::join(missing_states, ", "));
  }
  return file;
}

bool IsOfTraining(const Graph& graph, const Value& variable) {
  if (variable.kind() != ValueKind::kState) return false;
  if (!graph.trainings().empty() && variable.name() == "step" &&
      variable.type() == Type(DType::kI64, {}))
    return true;
  return llvm::any_of(graph.trainings(), [&](const GraphTraining& training) {
    return llvm::any_of(training.updates,
                        [&](const GraphUpdate& update) { return update.state == &variable; });
  });
}

std::vector<Value*> Variables(const Graph& graph) {
  std::vector<Value*> all = graph.parameters().vec();
  all.insert(all.end(), graph.states().begin(), graph.states().end());
  return all;
}

llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             NetworkOptions options) {
  options.weight_folder = loaded.folder;
  for (auto& weight : loaded.weights)
    options.weights.try_emplace(weight.getKey(), std::move(weight.second));
  return Network::Create(std::move(loaded.graph), std::move(options), GlobalRegistry());
}

}  // namespace pdl
