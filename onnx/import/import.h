#ifndef PDL_ONNX_IMPORT_IMPORT_H_
#define PDL_ONNX_IMPORT_IMPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/model/model.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/op/error.h"

namespace pdl {

/// How a model becomes a network.
struct ImportOptions {
  /// Inputs that are constants of the network, by their names in the model.
  llvm::StringMap<Constant> fixed_inputs;
  /// Sizes that are numbers, by their names in the model or in the network. What ONNX decides when
  /// it runs (whether a size is 1, and broadcasts) is decided while importing for them.
  llvm::StringMap<int64_t> fixed_sizes;
  /// The safetensors file that parameters say they lie in, relative to the network's own file;
  /// empty where they have none, and ImportedModel::weights has them all.
  std::string weight_file;
};

/// A network made of a model.
struct ImportedModel {
  Graph graph;
  /// The values of the graph's parameters, by name. They may refer to the model's memory, which
  /// lives as long as they do.
  llvm::StringMap<Constant> weights;
  /// (name in the model, name in the graph) of what is fed and of what is returned, in the model's
  /// order.
  std::vector<std::pair<std::string, std::string>> inputs, outputs;
};

/// The network that a model describes, made of pdl's operators. Weights become parameters, sizes
/// that the model computes from shapes become arithmetic of dims, what is constant is computed, and
/// what no output needs is left out. The location of a call is the name of its node.
///
/// Errors are UserErrors: Code::kBadNetwork where the model contradicts itself, Code::kNotSupported
/// where it needs what pdl lacks (all operators that are unknown at once, with counts), and
/// UnknownInputs.
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
