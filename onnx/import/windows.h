#ifndef PDL_ONNX_IMPORT_WINDOWS_H_
#define PDL_ONNX_IMPORT_WINDOWS_H_

#include "onnx/import/node.h"

namespace pdl {

/// The attributes that convolutions and pooling share: how a window moves over the spatial dims.
/// All lists have the same length.
struct Windows {
  unsigned spatial = 0;
  Shape kernel;
  Shape stride, dilation;
  /// Before and after each dim, alternately, as in pdl's attribute `pad`.
  Shape pads;
  /// "same", "same_lower" or "valid" if the padding depends on the sizes, else empty.
  std::string auto_pad;

  /// The value of the attribute `pad`.
  AttributeValue pad() const {
    return auto_pad.empty() ? AttributeValue(pads) : AttributeValue(auto_pad);
  }
  bool has_pads() const {
    for (const Dim& pad : pads)
      if (!pad.is_constant(0)) return true;
    return false;
  }
};

/// Reads the attributes of a node; `kernel` is used if the node does not set it.
Windows ReadWindows(Node& node, unsigned spatial, llvm::ArrayRef<Dim> kernel = {});

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_WINDOWS_H_
