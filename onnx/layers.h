#ifndef PDL_ONNX_LAYERS_H_
#define PDL_ONNX_LAYERS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/import.h"

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

/// The layer whose last call is `op`; nullopt where it is none. Only parameters that nothing else
/// uses become those of a layer.
std::optional<LayerCall> FindLayer(const ImportedModel& model, const Op& op);

/// Rows of a matrix as columns.
Constant Transposed(const Constant& matrix);

}  // namespace pdl

#endif  // PDL_ONNX_LAYERS_H_
