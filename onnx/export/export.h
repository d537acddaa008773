#ifndef PDL_ONNX_EXPORT_EXPORT_H_
#define PDL_ONNX_EXPORT_EXPORT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/onnx.pb.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Options for the export of a network.
struct OnnxExportOptions {
  /// Returns the value of a parameter, or the initial value of a state, by its name.
  std::function<llvm::Expected<Tensor>(llvm::StringRef name)> value;
  /// Stores the bytes of a large initializer and sets its location; null: they go into the model.
  std::function<llvm::Error(const Constant& bytes, onnx::TensorProto* tensor)> store;
  std::string name = "network";
};

/// Initializers with fewer bytes are always stored in the model.
inline constexpr int64_t kSmallInitializer = 1024;
/// The version of ONNX's operator set of exported models.
inline constexpr int64_t kOnnxOpset = 21;

/// Converts the network in inference mode to an ONNX model: the calls that its outputs depend on,
/// its symbols as dim_params, its parameters and states as initializers. The Error lists everything
/// without a counterpart in ONNX, one line for each operator and reason, with the locations: ragged
/// and sparse values, states that a run changes, random numbers, operators.
PDL_API llvm::Expected<onnx::ModelProto> ExportOnnx(const Graph& network,
                                                    const OpRegistry& registry,
                                                    const OnnxExportOptions& options);

/// The ONNX element type of a dtype.
PDL_API onnx::TensorProto::DataType DTypeToOnnx(DType dtype);

}  // namespace pdl

#endif  // PDL_ONNX_EXPORT_EXPORT_H_
