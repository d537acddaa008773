#ifndef PDL_ONNX_MODEL_MODEL_H_
#define PDL_ONNX_MODEL_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "onnx/onnx.pb.h"
#include "pdl/compiler/export.h"
#include "pdl/op/constant.h"

namespace pdl {

/// An ONNX model as its file has it: untrusted input, so nothing in it is believed before it is
/// checked. Reading checks the limits on size, nesting and counts, and the names of operator sets;
/// graphs are checked while they are imported.
class PDL_API OnnxModel {
 public:
  /// Models of at most this many nodes, those of subgraphs and functions among them; a function
  /// that is called often counts that often.
  static constexpr int64_t kMaxNodes = 1'000'000;

  /// Reads a file; its external data lie in its folder or below.
  static llvm::Expected<OnnxModel> Read(llvm::StringRef path);
  /// The same from bytes. `name` is what messages call it, `folder` where external data lie.
  static llvm::Expected<OnnxModel> Parse(llvm::StringRef bytes, llvm::StringRef name,
                                         llvm::StringRef folder);

  const onnx::ModelProto& proto() const { return *proto_; }
  const std::string& name() const { return name_; }
  const std::string& folder() const { return folder_; }

  /// The tensor's value, without a copy where its bytes lie ready. An Error where its dtype has no
  /// counterpart, where its sizes and its data contradict each other, or where its data lie
  /// outside the folder.
  llvm::Expected<Constant> ReadTensor(const onnx::TensorProto& tensor) const;

 private:
  std::shared_ptr<const onnx::ModelProto> proto_;
  std::string name_;
  std::string folder_;
};

/// The dtype that an ONNX element type is here; an Error names one that has no counterpart.
PDL_API llvm::Expected<DType> DTypeFromOnnx(int32_t element_type);
/// "FLOAT8E4M3FN", or the number where it is unknown.
PDL_API std::string OnnxTypeName(int32_t element_type);

}  // namespace pdl

#endif  // PDL_ONNX_MODEL_MODEL_H_
