// Convolutions of floats by oneDNN, run by the calling thread alone.
#ifndef PDL_KERNELS_CONVOLUTION_DNNL_CONV_H_
#define PDL_KERNELS_CONVOLUTION_DNNL_CONV_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/convolution/conv_sizes.h"
#include "llvm/Support/Error.h"

namespace pdl {

/// One convolution of floats, or a part of one. The tensors lie in row-major order but for the
/// strides between batches and between the first dim of w, which may be those of larger ones.
struct DnnlConvShape {
  ConvKind kind = ConvKind::kForward;
  ConvSizes sizes;
  int64_t x_stride = 0, y_stride = 0, w_stride = 0;
  bool has_bias = false;  // only kForward
  /// x and y have their channels last, and no strides; oneDNN leaves them so. Only kForward.
  bool channels_last = false;
  /// By Winograd's algorithm (Lavin & Gray, arXiv:1509.09308), in layouts of its own: 3x3 windows
  /// with stride 1. Not on every processor; Create fails there. Only channels_last.
  bool winograd = false;
};

/// Prepared for one shape; many threads may run one at once. oneDNN chooses layouts of its own for
/// the operands: `Arrange` brings those that are read there, and `Restore` the result back.
class DnnlConv {
 public:
  enum Operand { kX, kW, kY };

  static llvm::Expected<std::unique_ptr<DnnlConv>> Create(const DnnlConvShape& shape);
  ~DnnlConv();

  /// Whether its layout differs from the one that the shape describes.
  bool is_arranged(Operand operand) const { return arranged_[operand]; }
  /// The bytes of an operand in its layout.
  int64_t bytes(Operand operand) const { return bytes_[operand]; }
  /// Whether padding is multiplied as 0: by products of matrices, and by Winograd's algorithm.
  bool multiplies_padding() const;
  /// A name for the layout of w.
  std::string weight_layout() const;
  /// w in its layout, in memory of its own.
  llvm::Expected<std::shared_ptr<const void>> PackWeight(const float* w) const;

  /// Scratch memory for any of the following.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  void Arrange(Operand operand, const float* plain, float* arranged, void* scratch) const;
  void Restore(Operand operand, const float* arranged, float* plain, void* scratch) const;
  /// All operands in their layouts. `bias` is null without one.
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
