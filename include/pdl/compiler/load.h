// Networks from files, and to files: source (.pdl), compiled networks (.pdlc), ONNX models (.onnx).
// Module: model
#ifndef PDL_COMPILER_LOAD_H_
#define PDL_COMPILER_LOAD_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/source.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"

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

/// A file's bytes and name.
struct InputFile {
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  /// As messages call it.
  std::string name;
  /// The folder that the paths in it are relative to.
  std::string folder;
  /// A compiled network (.pdlc) rather than source.
  bool is_compiled = false;
  /// An ONNX model, whose bytes are not read here.
  bool is_onnx = false;
  bool is_source() const { return !is_compiled && !is_onnx; }
};
/// Reads a file; "-" is standard input, which is called "<stdin>". An ONNX model (.onnx) is not
/// opened yet.
PDL_API llvm::Expected<InputFile> ReadInputFile(llvm::StringRef path);
/// The folder of that file; "." where the path names none.
PDL_API std::string FolderOf(llvm::StringRef path);
/// Its source; an Error where it is something else, or longer than SourceFile::kMaxSize.
PDL_API llvm::Expected<std::shared_ptr<const SourceFile>> ToSource(const InputFile& file);

/// The source that an import in a file of `folder` names; of a compiled network its flat source.
PDL_API llvm::Expected<std::shared_ptr<const SourceFile>> ReadImported(llvm::StringRef folder,
                                                                       llvm::StringRef path);

/// The safetensors files of a folder that hold a network's weights, each opened once. Not
/// synchronized.
class PDL_API WeightFiles {
 public:
  explicit WeightFiles(std::string folder) : folder_(std::move(folder)) {}

  struct Found {
    const SafetensorsFile* file;
    const SafetensorsFile::Entry* entry;
    /// The path of the file, symlinks followed.
    std::string path;
  };
  /// The tensor and its file; a UserError where the path leaves the folder, or there is no such
  /// file or tensor.
  llvm::Expected<Found> Find(llvm::StringRef file, llvm::StringRef tensor);

 private:
  struct Opened {
    SafetensorsFile file;
    std::string path;
  };
  std::string folder_;
  llvm::StringMap<Opened> opened_;
};
/// What a compiler asks of them: dtype and sizes.
PDL_API llvm::Expected<WeightInfo> LookUpWeight(WeightFiles& files, llvm::StringRef file,
                                                llvm::StringRef tensor);

/// How a network is loaded.
struct LoadOptions {
  /// Values of `attr`s, see CompileRequest::settings. Of an ONNX model: inputs that become
  /// constants (a literal, or the path of a .npy file) and sizes that become numbers.
  std::vector<std::pair<std::string, std::string>> settings;
  /// What messages call the place where a setting is given; see CompileRequest::setting_place.
  std::function<std::string(llvm::StringRef name)> setting_place;
  /// The folder that imports and weights are relative to, instead of the file's own; or empty.
  std::string folder;
  /// The weights need not be there.
  bool without_weights = false;
  /// The graph also computes what a step of training does; see CompileRequest::training_step.
  bool training_step = false;
};

/// What the compiler needs to compile a file's source: operators, standard layers, imports below
/// the file's folder, and its weights. `weights` must outlive the request. Source from standard
/// input imports nothing.
PDL_API CompileRequest MakeCompileRequest(const InputFile& file,
                                          std::shared_ptr<const SourceFile> source,
                                          const LoadOptions& options, WeightFiles* weights);

/// A network as it was written or stored.
struct LoadedNetwork {
  Graph graph;
  /// The folder that its weight files are relative to.
  std::string folder;
  /// Of a source: whether it has `test` blocks.
  bool has_tests = false;
  /// Values of parameters that no file of weights holds: those of an ONNX model.
  llvm::StringMap<Constant> weights = {};
  Diagnostics warnings = {};
};

/// Reads and checks a network. Errors: SourceErrors of source, else a UserError.
PDL_API llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const LoadOptions& options);
/// The same of a file that is read already.
PDL_API llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file,
                                                  const LoadOptions& options);

/// Where the weight of a parameter or state is stored. An Error where it is missing, of another
/// type than `variable`, or not the one that the network was compiled with. Requires that it has
/// one.
PDL_API llvm::Expected<WeightFiles::Found> FindWeight(const Value& variable, WeightFiles& files);
/// An Error where a tensor has another dtype or other sizes than `variable`. `file` is for the
/// message.
PDL_API llvm::Error CheckWeightType(const Value& variable, const SafetensorsFile::Entry& entry,
                                    llvm::StringRef file);
/// A file of weights for a network. An Error lists the parameters that it lacks (but those that
/// have a file of their own) and all tensors of another type than the network's. Warnings: tensors
/// that the network has no parameter or state for (but in a checkpoint), and states that the file
/// lacks. States of the training (IsOfTraining) are ignored.
PDL_API llvm::Expected<SafetensorsFile> OpenGivenWeights(llvm::StringRef path, const Graph& graph,
                                                         Diagnostics* warnings);
/// Whether a state is there for the training only, as an optimizer's is, and the count of steps.
PDL_API bool IsOfTraining(const Graph& graph, const Value& variable);
/// The parameters, then the states.
PDL_API std::vector<Value*> Variables(const Graph& graph);

/// The Network of what was loaded, whose weights it takes. `options.weights` come first;
/// `options.weight_folder` is not used.
PDL_API llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                                     NetworkOptions options);

/// Writes the graph as source where `path` ends in .pdl, else compiled, with its parameters in a
/// .safetensors file of that name next to it. `states` has the values of those states that are
/// written, too.
PDL_API llvm::Error SaveNetwork(const Network& network, llvm::StringRef path,
                                const llvm::StringMap<Tensor>& states);

}  // namespace pdl

#endif  // PDL_COMPILER_LOAD_H_
