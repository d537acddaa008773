// f32 convolutions by oneDNN, run on the calling thread only.
#ifndef PDL_KERNELS_CONVOLUTION_DNNL_CONV_H_
#define PDL_KERNELS_CONVOLUTION_DNNL_CONV_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/convolution/conv_sizes.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// A convolution of f32 tensors, or a part of one. The tensors are in row-major order except for
/// the strides between batches and the stride of the first dim of w, so that they may be parts of
/// larger tensors.
struct DnnlConvShape {
  ConvKind kind = ConvKind::kForward;
  ConvSizes sizes;
  int64_t x_stride = 0, y_stride = 0, w_stride = 0;
  bool has_bias = false;  // only for kForward
  /// x and y have channels last and no strides, and oneDNN does not reorder them. Only for
  /// kForward.
  bool channels_last = false;
};

/// Prepared for one shape; many threads may run it at the same time. oneDNN chooses the layouts of
/// the operands: `Arrange` reorders inputs to them, and `Restore` reorders the result back.
class DnnlConv {
 public:
  enum Operand { kX, kW, kY };

  static llvm::Expected<std::unique_ptr<DnnlConv>> Create(const DnnlConvShape& shape);
  ~DnnlConv();

  /// Whether oneDNN's layout of an operand differs from the one that the shape describes.
  bool is_arranged(Operand operand) const { return arranged_[operand]; }
  /// The bytes of an operand in oneDNN's layout.
  int64_t bytes(Operand operand) const { return bytes_[operand]; }
  /// Whether padding is multiplied as 0, as by im2col and Winograd's algorithm.
  bool multiplies_padding() const;
  /// A name for the layout of w.
  std::string weight_layout() const;
  /// Returns a copy of w in oneDNN's layout.
  llvm::Expected<std::shared_ptr<const void>> PackWeight(const float* w) const;

  /// The scratch memory that any of the following functions needs.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  void Arrange(Operand operand, const float* plain, float* arranged, void* scratch) const;
  void Restore(Operand operand, const float* arranged, float* plain, void* scratch) const;
  /// All operands must be in oneDNN's layouts. `bias` is null if there is none.
  void Run(const float* x, const float* w, const float* y, const float* bias, void* scratch) const;

 private:
  struct Impl;
  struct Slot;
  DnnlConv();

  std::unique_ptr<Impl> impl_;
  std::array<bool, 3> arranged_ = {};
  std::array<int64_t, 3> bytes_ = {};
  int64_t scratch_bytes_ = 0;
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_DNNL_CONV_H_
