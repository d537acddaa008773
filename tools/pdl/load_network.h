#ifndef TOOLS_PDL_LOAD_NETWORK_H_
#define TOOLS_PDL_LOAD_NETWORK_H_

#include <memory>
#include <optional>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "pdl/compiler.h"
#include "pdl/graph.h"
#include "pdl/io.h"
#include "pdl/network.h"
#include "pdl/source.h"
#include "tools/pdl/common_options.h"

namespace pdl {

/// A file's bytes and name; "-" is standard input.
struct InputFile {
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  /// As messages call it.
  std::string name;
  /// Where the files lie that it names.
  std::string folder;
  /// A compiled network (.pdlc) rather than text.
  bool is_compiled = false;
  /// An ONNX model, whose bytes are not read here.
  bool is_onnx = false;
  bool is_text() const { return !is_compiled && !is_onnx; }
};
llvm::Expected<InputFile> ReadInputFile(llvm::StringRef path);
/// The folder of that file; "." where the path names none.
std::string FolderOf(llvm::StringRef path);
/// The text for the compiler; an Error where it is no text, or too long.
llvm::Expected<std::shared_ptr<const SourceFile>> ToSource(const InputFile& file);

/// The text that an import in a file of `folder` names.
llvm::Expected<std::shared_ptr<const SourceFile>> ReadImported(llvm::StringRef folder,
                                                               llvm::StringRef path);

/// The safetensors files of a folder that a network's weights lie in, each opened once.
class WeightFiles {
 public:
  explicit WeightFiles(std::string folder) : folder_(std::move(folder)) {}

  /// The tensor and its file; a UserError where the path leaves the folder, or there is no such
  /// file or tensor.
  struct Found {
    const SafetensorsFile* file;
    const SafetensorsFile::Entry* entry;
    /// Where the file is, symlinks followed.
    std::string path;
  };
  llvm::Expected<Found> Find(llvm::StringRef file, llvm::StringRef tensor);

 private:
  struct Opened {
    SafetensorsFile file;
    std::string path;
  };
  std::string folder_;
  llvm::StringMap<Opened> opened_;
};

/// What the compiler needs to compile a file's text: operators, standard layers, imports below the
/// file's folder, and its weights. `weights` must outlive the request.
CompileRequest MakeCompileRequest(const InputFile& file, std::shared_ptr<const SourceFile> source,
                                  const CommonOptions& options, WeightFiles* weights);

/// What a compiler asks of them.
llvm::Expected<WeightInfo> LookUpWeight(WeightFiles& files, llvm::StringRef file,
                                        llvm::StringRef tensor);

/// A network as it was written or stored.
struct LoadedNetwork {
  Graph graph;
  /// The folder that its weight files are relative to.
  std::string folder;
  /// Of a text: whether it has `test` blocks.
  bool has_tests = false;
  /// Values of parameters that lie in no file of their own: those of an ONNX model.
  llvm::StringMap<Constant> weights = {};
};

/// Reads and checks a network from text, a .pdlc or an ONNX model, after the plugins; prints the
/// warnings. Mistakes come back as TextErrors or a UserError.
llvm::Expected<LoadedNetwork> LoadNetwork(llvm::StringRef path, const CommonOptions& options);
/// The same of a file that is read already.
llvm::Expected<LoadedNetwork> LoadNetwork(const InputFile& file, const CommonOptions& options);

/// Where the weight of a parameter or state lies. An Error where it is missing, of another type
/// than `variable`, or not the one that the network was compiled with. Requires that it has one.
llvm::Expected<WeightFiles::Found> FindWeight(const Value& variable, WeightFiles& files);
/// Complains where a tensor has another dtype or other sizes than `variable`. `file` is for the
/// message.
llvm::Error CheckWeightType(const Value& variable, const SafetensorsFile::Entry& entry,
                            llvm::StringRef file);
/// The file of --weights. An Error lists the parameters that it lacks (but those that have a file
/// of their own) and all tensors of another type than the network's; warns of tensors that the
/// network has no parameter or state for (but in a checkpoint), and of states that it lacks. States
/// of the training (IsOfTraining) are not looked at.
llvm::Expected<SafetensorsFile> OpenGivenWeights(llvm::StringRef path, const Graph& graph);
/// Whether a state is there for the training alone, as an optimizer's is, and the count of steps.
bool IsOfTraining(const Graph& graph, const Value& variable);
/// The parameters, then the states.
std::vector<Value*> Variables(const Graph& graph);

/// The Network, with the values of --weights. Consumes `loaded`.
llvm::Expected<std::shared_ptr<const Network>> CreateNetwork(LoadedNetwork loaded,
                                                             const CommonOptions& options);

}  // namespace pdl

#endif  // TOOLS_PDL_LOAD_NETWORK_H_
