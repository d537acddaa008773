#ifndef PDL_ONNX_IMPORT_IMPORT_H_
#define PDL_ONNX_IMPORT_IMPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/model/model.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/op/error.h"

namespace pdl {

/// Options for the import of a model.
struct ImportOptions {
  /// Inputs that become constants of the network, by their names in the model.
  llvm::StringMap<Constant> fixed_inputs;
  /// Sizes that become numbers, by their names in the model or in the network. Properties that ONNX
  /// determines at run time (such as whether a size is 1, and broadcasts) are determined at import
  /// for them.
  llvm::StringMap<int64_t> fixed_sizes;
  /// The safetensors file that parameters refer to, relative to the network's own file; if empty,
  /// they refer to none, and ImportedModel::weights contains all of them.
  std::string weight_file;
};

/// A network imported from a model.
struct ImportedModel {
  Graph graph;
  /// The values of the graph's parameters, by name. They may share the memory of the model, and
  /// keep it alive.
  llvm::StringMap<Constant> weights;
  /// The inputs and the outputs as pairs (name in the model, name in the graph), in the order of
  /// the model.
  std::vector<std::pair<std::string, std::string>> inputs, outputs;
  /// In which respect results may not be those that the model means: its operator set is newer than
  /// kNewestOperatorSet. Each warning begins with the model's name.
  Diagnostics warnings;
};

/// The newest version of ONNX's operator set that the importer's rules were written for.
constexpr int64_t kNewestOperatorSet = 27;

/// Converts a model to a network of pdl's operators. Weights become parameters, computations of
/// sizes from shapes become arithmetic of dims, constants are folded, and calls that no output
/// depends on are removed. The location of a call is the name of its node.
///
/// Errors are UserErrors: Code::kBadNetwork if the model is inconsistent, Code::kNotSupported if it
/// requires features that pdl lacks (all unknown operators at once, with their numbers of nodes),
/// and UnknownInputs.
PDL_API llvm::Expected<ImportedModel> ImportOnnx(const OnnxModel& model,
                                                 const ImportOptions& options = {});

/// Sizes or attributes depend on the values of these inputs of the model, which must be given as
/// ImportOptions::fixed_inputs.
class PDL_API UnknownInputs : public llvm::ErrorInfo<UnknownInputs, UserError> {
 public:
  static char ID;
  UnknownInputs(std::vector<std::string> names, std::string message)
      : ErrorInfo(Code::kNotSupported, std::move(message)), names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_IMPORT_H_
