#ifndef PDL_ONNX_EXPORT_WINDOW_H_
#define PDL_ONNX_EXPORT_WINDOW_H_

#include <vector>

#include "onnx/export/call.h"

namespace pdl {

/// The attributes of a sliding window, an entry for each spatial dim.
struct ExportedWindow {
  std::vector<int64_t> kernel, stride, dilation;
  /// Unless `same` is set.
  std::vector<int64_t> begin, end;
  /// "SAME_UPPER" or "SAME_LOWER" where the padding depends on sizes that are not known.
  std::string same;
  /// What Pad takes, where it depends on them otherwise: `begin` and `end` are 0 then.
  Shape padding;

  /// `x`, an operand of the call, with the padding that the attributes do not have around it.
  llvm::Expected<std::string> Padded(ExportCall& call, const std::string& x, double fill,
                                     DType dtype) const;

  /// kernel_shape, strides, pads or auto_pad, dilations.
  std::vector<OnnxAttribute> Attributes() const;
};

/// Reads them for a window of these sizes over `in`. An Error where one depends on a symbol.
llvm::Expected<ExportedWindow> ReadExportedWindow(ExportCall& call, llvm::ArrayRef<Dim> kernel,
                                                  llvm::ArrayRef<Dim> in);
/// The attribute `name` with an entry for each of `rank` dims.
llvm::Expected<std::vector<int64_t>> SpatialEntries(ExportCall& call, llvm::StringRef name,
                                                    size_t rank);

}  // namespace pdl

#endif  // PDL_ONNX_EXPORT_WINDOW_H_
