#ifndef PDL_ONNX_IMPORT_LAYERS_H_
#define PDL_ONNX_IMPORT_LAYERS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "onnx/import/import.h"

namespace pdl {

/// Calls of a graph that together are a call of a standard layer.
struct LayerCall {
  std::string layer;      // "conv"
  std::string arguments;  // "channels=64, kernel=3"
  /// What the layer is applied to.
  const Value* input = nullptr;
  /// Its parameters and states, by their names in the layer.
  std::vector<std::pair<std::string, Constant>> tensors;
  /// The parameters of the graph that are these tensors, and the calls that the layer stands for
  /// besides the last one.
  std::vector<const Value*> parameters;
  std::vector<const Op*> inner;
};

/// Finds layers among the calls of a model. Only parameters that nothing else uses become those of
/// a layer.
class LayerFinder {
 public:
  explicit LayerFinder(const ImportedModel& model);

  /// The layer whose last call is `op`; nullopt where it is none.
  std::optional<LayerCall> Find(const Op& op) const;

  const ImportedModel& model() const { return model_; }
  bool IsOutput(const Value* value) const { return outputs_.contains(value); }

 private:
  const ImportedModel& model_;
  llvm::DenseSet<const Value*> outputs_;
};

/// Rows of a matrix as columns.
Constant Transposed(const Constant& matrix);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_LAYERS_H_
