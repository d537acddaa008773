#ifndef PDL_ONNX_EXPORT_WINDOW_H_
#define PDL_ONNX_EXPORT_WINDOW_H_

#include <vector>

#include "onnx/export/call.h"

namespace pdl {

/// The spatial dims of a tensor: those after the batch and the channels.
inline llvm::ArrayRef<Dim> Spatial(const Type& type) {
  return llvm::ArrayRef<Dim>(type.dims).drop_front(2);
}

/// The attributes of a sliding window, with an entry for each spatial dim.
struct ExportedWindow {
  std::vector<int64_t> kernel, stride, dilation;
  /// The padding, unless `same` is set.
  std::vector<int64_t> begin, end;
  /// "SAME_UPPER" or "SAME_LOWER" if the padding depends on sizes that are not known.
  std::string same;
  /// The padding of the spatial dims, at the begin of all and then at their ends, if it is computed
  /// by Pad; then `begin` and `end` are 0. It may depend on unknown sizes.
  Shape padding;

  /// `x`, an operand of the call, with the padding that is not in the attributes.
  llvm::Expected<std::string> Padded(ExportCall& call, const std::string& x, double fill,
                                     DType dtype) const;

  /// kernel_shape, strides, pads or auto_pad, dilations.
  std::vector<OnnxAttribute> Attributes() const;
};

/// Reads the attributes of a call for a kernel of these sizes over `in`. An Error if one depends on
/// a symbol.
llvm::Expected<ExportedWindow> ReadExportedWindow(ExportCall& call, llvm::ArrayRef<Dim> kernel,
                                                  llvm::ArrayRef<Dim> in);
/// The attribute `name` with an entry for each of `rank` dims.
llvm::Expected<std::vector<int64_t>> SpatialEntries(ExportCall& call, llvm::StringRef name,
                                                    size_t rank);

}  // namespace pdl

#endif  // PDL_ONNX_EXPORT_WINDOW_H_
