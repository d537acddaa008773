#ifndef PDL_ONNX_IMPORT_WINDOWS_H_
#define PDL_ONNX_IMPORT_WINDOWS_H_

#include "onnx/import/node.h"

namespace pdl {

/// What convolutions and pooling have in common: how a window moves over the spatial dims. All of
/// one length.
struct Windows {
  unsigned spatial = 0;
  Shape kernel;
  Shape stride, dilation;
  /// Before and after each dim, one after the other, as pdl's attribute `pad` has them.
  Shape pads;
  /// "same", "same_lower" or "valid" where the sizes decide the padding, else empty.
  std::string auto_pad;

  /// The attribute `pad`.
  AttributeValue pad() const {
    return auto_pad.empty() ? AttributeValue(pads) : AttributeValue(auto_pad);
  }
  bool has_pads() const {
    for (const Dim& pad : pads)
      if (!pad.is_constant(0)) return true;
    return false;
  }
};

/// Reads the attributes of a node; `kernel` are the sizes that it does not say itself.
Windows ReadWindows(Node& node, unsigned spatial, llvm::ArrayRef<Dim> kernel = {});

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_WINDOWS_H_
