// The attributes of a sliding window: kernel, stride, dilation and pad.
#ifndef PDL_KERNELS_CONVOLUTION_WINDOW_ATTRIBUTES_H_
#define PDL_KERNELS_CONVOLUTION_WINDOW_ATTRIBUTES_H_

#include "kernels/convolution/sliding_window.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/operator.h"

namespace pdl {

/// A window whose sizes may be symbols: one entry for each spatial dim.
struct WindowDims {
  Shape kernel, stride, dilation;
  Shape begin, end;  // padding at both ends

  unsigned rank() const { return static_cast<unsigned>(kernel.size()); }
  /// The extent of a window: (kernel - 1) * dilation + 1.
  Dim Extent(unsigned i) const { return (kernel[i] - 1) * dilation[i] + 1; }
};

/// Declares an operator with a window.
class WindowMaker : public OpProtoMaker {
 protected:
  /// Adds the required attribute `kernel`.
  void AddKernel();
  /// Adds `stride`, whose default is 1 or the kernel.
  void AddStride(bool is_kernel = false);
  void AddPadAndDilation();
};

/// Reads and checks the attributes of a window with these sizes over `in`. A missing stride is the
/// kernel.
llvm::Expected<WindowDims> ReadWindow(InferenceContext& context, llvm::ArrayRef<Dim> kernel,
                                      llvm::ArrayRef<Dim> in);
/// The attribute `name` with one entry for each of `rank` dims; none may be below `least`.
llvm::Expected<Shape> ReadSpatialAttribute(InferenceContext& context, llvm::StringRef name,
                                           unsigned rank, int64_t least);
/// The number of windows: (in + begin + end - extent) // stride + 1. Requires at least one; reports
/// errors at operand `input`.
llvm::Expected<Shape> CountWindows(InferenceContext& context, const WindowDims& window,
                                   llvm::ArrayRef<Dim> in, unsigned input);
/// Requires an entry of an attribute to be at least `least`.
[[nodiscard]] llvm::Error RequireEntryAtLeast(InferenceContext& context, llvm::StringRef attribute,
                                              const Dim& entry, int64_t least);
/// Requires operand `input` to have a batch dim, a channel dim, and `rank` spatial dims, or 1 to 3
/// for rank 0.
[[nodiscard]] llvm::Error RequireSpatialRank(InferenceContext& context, unsigned input,
                                             unsigned rank = 0);
/// The dims after the first two.
inline llvm::ArrayRef<Dim> SpatialDims(const Type& type) {
  return llvm::ArrayRef<Dim>(type.dims).drop_front(2);
}

/// The window of a call with these spatial sizes, which are known and checked. If `out` is empty,
/// as many windows as fit.
llvm::Expected<SlidingWindow> EvaluateWindow(const PrepareContext& context,
                                             const AttributeReader& attributes,
                                             llvm::ArrayRef<int64_t> kernel,
                                             llvm::ArrayRef<int64_t> in,
                                             llvm::ArrayRef<int64_t> out);
/// The attribute `name` with one entry for each of `rank` dims.
llvm::Expected<Sizes> EvaluateSpatialAttribute(const PrepareContext& context,
                                               const AttributeReader& attributes,
                                               llvm::StringRef name, size_t rank);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_WINDOW_ATTRIBUTES_H_
