#ifndef PDL_ONNX_IMPORT_LAYERS_H_
#define PDL_ONNX_IMPORT_LAYERS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "onnx/import/import.h"

namespace pdl {

/// Calls of a graph that are equivalent to a call of a standard layer.
struct LayerCall {
  std::string layer;      // "conv"
  std::string arguments;  // "channels=64, kernel=3"
  /// The input of the layer.
  const Value* input = nullptr;
  /// Its parameters and states, by their names in the layer.
  std::vector<std::pair<std::string, Constant>> tensors;
  /// The parameters of the graph for these tensors, and the calls other than the last one that the
  /// layer replaces.
  std::vector<const Value*> parameters;
  std::vector<const Op*> inner;
};

/// Finds layers among the calls of a model. Only parameters without other uses become those of a
/// layer.
class LayerFinder {
 public:
  explicit LayerFinder(const ImportedModel& model);

  /// The layer whose last call is `op`; nullopt if there is none.
  std::optional<LayerCall> Find(const Op& op) const;

  const ImportedModel& model() const { return model_; }
  bool IsOutput(const Value* value) const { return outputs_.contains(value); }

 private:
  const ImportedModel& model_;
  llvm::DenseSet<const Value*> outputs_;
};

/// The transposed matrix.
Constant Transposed(const Constant& matrix);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_LAYERS_H_
