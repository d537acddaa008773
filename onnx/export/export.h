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

/// How a network becomes an ONNX model.
struct OnnxExportOptions {
  /// The value of a parameter, or the first value of a state, by its name.
  std::function<llvm::Expected<Tensor>(llvm::StringRef name)> value;
  /// Takes the bytes of a large initializer and says where they are; null: they go into the model.
  std::function<llvm::Error(const Constant& bytes, onnx::TensorProto* tensor)> store;
  std::string name = "network";
};

/// Initializers of fewer bytes stay in the model, wherever the others go.
inline constexpr int64_t kSmallInitializer = 1024;
/// The version of ONNX's operator set that models are written in.
inline constexpr int64_t kOnnxOpset = 21;

/// The network in inference mode as an ONNX model: the calls that its outputs need, its symbols as
/// dim_params, its parameters and states as initializers. An Error lists all that has no
/// counterpart, a line for each operator and reason, with its places: ragged and sparse values,
/// states that a run changes, random numbers, operators.
PDL_API llvm::Expected<onnx::ModelProto> ExportOnnx(const Graph& network,
                                                    const OpRegistry& registry,
                                                    const OnnxExportOptions& options);

/// The element type that a dtype is in ONNX.
PDL_API onnx::TensorProto::DataType DTypeToOnnx(DType dtype);

}  // namespace pdl

#endif  // PDL_ONNX_EXPORT_EXPORT_H_
