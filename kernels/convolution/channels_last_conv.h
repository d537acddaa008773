// Runs f32 convolutions with channels last, planned when their sizes are known.
#ifndef PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_
#define PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_

#include <memory>

#include "kernels/convolution/conv_sizes.h"
#include "pdl/op/operator.h"

namespace pdl {

/// x is f32[N, ..., C], w f32[K, C / groups, kernel...], y f32[N, ..., K]. The implementation
/// depends on the sizes and the instruction set only, and so does the order of each sum.
class ChannelsLastConv : public CallState {
 public:
  /// `sizes` describe the call as if its channels were second.
  static llvm::Expected<std::shared_ptr<const ChannelsLastConv>> Make(const PrepareContext& context,
                                                                      const ConvSizes& sizes);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// See Preparation::has_register_epilogue.
  bool has_register_epilogue() const { return has_register_epilogue_; }
  /// Whether Run reads w, not only its packed forms.
  bool reads_w() const { return reads_w_; }
  /// See Preparation::matmul_precision.
  DType precision() const { return precision_; }
  /// Calls `then` with each piece of y after it is computed, on the thread that computed it.
  virtual void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
                   const RegisterEpilogue& epilogue = {},
                   llvm::function_ref<void(const OutputPiece&)> then = nullptr) const = 0;

 protected:
  int64_t workspace_bytes_ = 0;
  bool has_register_epilogue_ = false;
  bool reads_w_ = true;
  DType precision_ = DType::kF32;
};

/// For all windows, by oneDNN. No size may be 0, here and below.
llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakeDnnlChannelsLastConv(
    const PrepareContext& context, const ConvSizes& sizes);
/// Depthwise convolutions, and 3-wide windows of groups of few channels.
bool SuitsSlidingConv(const ConvSizes& sizes);
llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakeSlidingConv(
    const PrepareContext& context, const ConvSizes& sizes);
/// The number of floats in a vector register.
int64_t RegisterFloats();
/// 3x3 windows with stride 1, of many positions and channels, by Winograd's algorithm. Operand 1
/// must be constant and finite: infinite weights would become nan.
bool SuitsWinogradConv(const ConvSizes& sizes);
llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakeWinogradConv(
    const PrepareContext& context, const ConvSizes& sizes);
/// Whether the kernel for panels is at least as fast as oneDNN's.
bool SuitsPanelConv(const PrepareContext& context, const ConvSizes& sizes);
/// For all windows, by matmuls that read x in place. Padding is multiplied as 0. Operand 1 must be
/// constant.
llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakePanelConv(const PrepareContext& context,
                                                                      const ConvSizes& sizes);

/// The work of a convolution whose tasks are runs of output positions: [N, ..., C] is contiguous in
/// all of them.
struct PositionPieces {
  int64_t count = 1, length = 1;

  /// Cuts `rows` rows of `row_elements` floats each, and `work` multiply-adds, into pieces of a
  /// multiple of `multiple` rows, depending on these numbers only.
  static PositionPieces Cut(int64_t rows, int64_t row_elements, int64_t work, int64_t multiple);
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_
