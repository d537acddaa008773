#ifndef PDL_ONNX_MODEL_MODEL_H_
#define PDL_ONNX_MODEL_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/onnx.pb.h"
#include "pdl/compiler/export.h"
#include "pdl/op/constant.h"

namespace pdl {

/// An ONNX model, as parsed from its file. It is untrusted input. Parsing checks the limits on
/// size, nesting and numbers of nodes, and the operator sets; graphs are checked during import.
class PDL_API OnnxModel {
 public:
  /// The most nodes of a model, including those of subgraphs and functions; the nodes of a function
  /// count for each call.
  static constexpr int64_t kMaxNodes = 1'000'000;

  /// Reads a file; its external data are in its folder or below.
  static llvm::Expected<OnnxModel> Read(llvm::StringRef path);
  /// Parses bytes. `name` is used in messages, and `folder` is that of external data.
  static llvm::Expected<OnnxModel> Parse(llvm::StringRef bytes, llvm::StringRef name,
                                         llvm::StringRef folder);

  const onnx::ModelProto& proto() const { return *proto_; }
  const std::string& name() const { return name_; }
  const std::string& folder() const { return folder_; }

  /// The tensor's value, without a copy if its bytes are aligned. An Error if its dtype has no
  /// counterpart, if its sizes and its data do not match, or if its data are outside the folder.
  llvm::Expected<Constant> ReadTensor(const onnx::TensorProto& tensor) const;
  /// A sparse tensor, with its zeros. `spend` is called with its number of bytes before they are
  /// allocated.
  llvm::Expected<Constant> ReadSparse(const onnx::SparseTensorProto& tensor,
                                      llvm::function_ref<llvm::Error(int64_t)> spend) const;

 private:
  std::shared_ptr<const onnx::ModelProto> proto_;
  std::string name_;
  std::string folder_;
};

/// The dtype for an ONNX element type; an Error if it has no counterpart.
PDL_API llvm::Expected<DType> DTypeFromOnnx(int32_t element_type);
/// "FLOAT8E4M3FN", or the number if it is unknown.
PDL_API std::string OnnxTypeName(int32_t element_type);

}  // namespace pdl

#endif  // PDL_ONNX_MODEL_MODEL_H_
