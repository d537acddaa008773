// Loading networks from files and saving them: source (.pdl), compiled networks (.pdlc), ONNX
// models (.onnx).
// Module: model
#ifndef PDL_COMPILER_LOAD_H_
#define PDL_COMPILER_LOAD_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/source.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/weight_source.h"

namespace pdl {

/// The errors of a source, each with its position.
class PDL_API SourceErrors : public llvm::ErrorInfo<SourceErrors> {
 public:
  static char ID;
  explicit SourceErrors(Diagnostics diagnostics) : diagnostics_(std::move(diagnostics)) {}
  const Diagnostics& diagnostics() const { return diagnostics_; }
  void log(llvm::raw_ostream& os) const override { diagnostics_.Render(os); }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

 private:
  Diagnostics diagnostics_;
};

/// The diagnostic for the error of a call, with the line of the source: a note for each call of a
/// layer around it, as for errors of the compiler. nullopt for other errors, and if the network was
/// not compiled from source by this process.
PDL_API std::optional<Diagnostic> DiagnosticOf(const llvm::ErrorInfoBase& error);

/// A file's bytes and name.
struct InputFile {
  /// Null for an ONNX model in a file, which is read when the network is loaded.
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  /// The name for messages.
  std::string name;
  /// The folder that paths in the file are relative to.
  std::string folder;
  /// A compiled network (.pdlc) rather than source.
  bool is_compiled = false;
  /// An ONNX model.
  bool is_onnx = false;
  bool is_source() const { return !is_compiled && !is_onnx; }
};
/// Reads a file; "-" is standard input, which is named "<stdin>". An ONNX model (.onnx) is not
/// opened.
PDL_API llvm::Expected<InputFile> ReadInputFile(llvm::StringRef path);
/// A file with these bytes, which must outlive it. Its format is that of the extension of `name`:
/// .onnx, .pdlc, or source.
PDL_API InputFile FileInMemory(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef folder);
/// The folder of a file; "." if the path names none.
PDL_API std::string FolderOf(llvm::StringRef path);
/// Returns the source of a file. An Error if the file is not source or is longer than
/// SourceFile::kMaxSize.
PDL_API llvm::Expected<std::shared_ptr<const SourceFile>> ToSource(const InputFile& file);

/// Reads the source that an import in a file of `folder` names; for a compiled network, its flat
/// source.
PDL_API llvm::Expected<std::shared_ptr<const SourceFile>> ReadImported(llvm::StringRef folder,
                                                                       llvm::StringRef path);

/// The weights files of a folder, each opened once on first use. Not thread-safe.
class PDL_API WeightFiles {
 public:
  explicit WeightFiles(std::string folder) : folder_(std::move(folder)) {}

  struct Found {
    const SafetensorsFile* file;
    const SafetensorsFile::Entry* entry;
    /// The path of the file, symlinks followed.
    std::string path;
  };
  /// Opens a file, an index or a pattern, see WeightSource::OpenInFolder.
  llvm::Expected<const WeightSource*> Open(llvm::StringRef file);
  /// Finds a tensor in a file. Returns a UserError if the path leaves the folder, or the file or
  /// tensor does not exist.
  llvm::Expected<Found> Find(llvm::StringRef file, llvm::StringRef tensor);
  /// Whether Open has failed for that file.
  bool IsUnreadable(llvm::StringRef file) const { return unreadable_.contains(file); }
  /// Open, for CompileRequest::open_weights. This must outlive the result.
  WeightOpener Opener();

 private:
  std::string folder_;
  llvm::StringMap<WeightSource> opened_;
  llvm::StringSet<> unreadable_;
};

/// Options for loading a network.
struct LoadOptions {
  /// Values of `attr`s, see CompileRequest::settings. For an ONNX model: inputs that become
  /// constants (a literal, or the path of a .npy file) and symbolic sizes that become constants.
  std::vector<std::pair<std::string, std::string>> settings;
  /// Describes in messages where a setting was given; see CompileRequest::setting_place.
  std::function<std::string(llvm::StringRef name)> setting_place;
  /// The folder that imports and weights are relative to; empty: the file's own folder.
  std::string folder;
  /// The weight files may be missing.
  bool without_weights = false;
  /// Also elaborate the computation of a training step; see CompileRequest::training_step.
  bool training_step = false;
  /// Also warn of names in source that nothing uses; see CompileRequest::warn_unused.
  bool warn_unused = false;
};

/// Returns a request to compile a file's source with the global operators, the standard layers,
/// imports below the file's folder, and its weights. `weights` must outlive the request. Source
/// from standard input must not import.
PDL_API CompileRequest MakeCompileRequest(const InputFile& file,
                                          std::shared_ptr<const SourceFile> source,
                                          const LoadOptions& options, WeightFiles* weights);

/// A network as it was loaded, before any pass.
struct LoadedNetwork {
  Graph graph;
  /// The folder that weight files are relative to.
  std::string folder;
  /// For source: whether it has `test` blocks.
  bool has_tests = false;
  /// Values of parameters that are not in weight files: those of an ONNX model.
  llvm::StringMap<Constant> weights = {};
  Diagnostics warnings = {};
};

/// Loads and checks a network. Errors are SourceErrors for errors in source, else a UserError.
PDL_API llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const LoadOptions& options);
/// As above, from a file that has been read.
PDL_API llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file,
                                                  const LoadOptions& options);

/// Finds the weight of a parameter or state, which must have a WeightRef. An Error if the tensor is
/// missing, has another type than `variable`, or is not the one that the network was compiled with.
PDL_API llvm::Expected<WeightFiles::Found> FindWeight(const Value& variable, WeightFiles& files);
/// A weights file that the user gave for a network, and its tensors for the network's parameters
/// and states.
struct GivenWeights {
  WeightSource source;
  std::vector<WeightMatch> matches;

  /// Adds the values of the parameters and states to `weights`. An Error if there is not enough
  /// memory.
  PDL_API llvm::Error AddTo(llvm::StringMap<Constant>* weights) const;
};
/// Matches weights that the user gave to a network, see MatchWeights. The SourceErrors list all
/// parameters that are missing (except those that have a weight file of their own) and all tensors
/// of a wrong type. Warnings: tensors that match no parameter or state (except in a checkpoint),
/// and states that are missing. Training states (IsOfTraining) may be missing.
PDL_API llvm::Expected<GivenWeights> MatchGivenWeights(
    WeightSource source, const WeightRules& rules, const Graph& graph, Diagnostics* warnings,
    WeightRuleForm form = WeightRuleForm::kArgument);
/// Opens the file, index or pattern `path` and matches it.
PDL_API llvm::Expected<GivenWeights> OpenGivenWeights(
    llvm::StringRef path, const WeightRules& rules, const Graph& graph, Diagnostics* warnings,
    WeightRuleForm form = WeightRuleForm::kArgument);
/// Whether a state exists only for training: the states of optimizers, and the step counter.
PDL_API bool IsOfTraining(const Graph& graph, const Value& variable);
/// Returns the parameters, then the states.
PDL_API std::vector<Value*> Variables(const Graph& graph);

/// Creates a Network from a loaded network and its weights. `options.weights` take precedence;
/// `options.weight_folder` is ignored.
PDL_API llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                                     NetworkOptions options);

/// Saves a network: as source if `path` ends in .pdl, else compiled, with its parameters in a
/// .safetensors file next to it, named as Model::Save does; or if it ends in .onnx, as an ONNX
/// model for inference. `states` are the values of those states that are saved, too.
PDL_API llvm::Error SaveNetwork(const Network& network, llvm::StringRef path,
                                const llvm::StringMap<Tensor>& states);

}  // namespace pdl

#endif  // PDL_COMPILER_LOAD_H_
