// Runs f32 convolutions with channels last, planned when their sizes are known.
#ifndef PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_
#define PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_

#include <memory>
#include <vector>

#include "kernels/convolution/conv_sizes.h"
#include "kernels/convolution/dnnl_conv.h"
#include "kernels/linear/matmul_plan.h"
#include "pdl/op/operator.h"

namespace pdl {

/// x is f32[N, ..., C], w f32[K, C / groups, kernel...], y f32[N, ..., K]. A 1x1 kernel is a
/// matmul. Other convolutions are cut into images, and those into runs of rows, depending on the
/// sizes only, so that the result is the same for any number of threads. 3x3 kernels with stride 1
/// use Winograd's algorithm if w is constant, the image is not small, and the processor has
/// AVX-512.
class ChannelsLastConv : public CallState {
 public:
  /// `sizes` describe the call as if its channels were second.
  static llvm::Expected<std::shared_ptr<const ChannelsLastConv>> Make(const PrepareContext& context,
                                                                      const ConvSizes& sizes);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Calls `then` with each piece of y after it is computed, on the thread that computed it.
  void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
           llvm::function_ref<void(const OutputPiece&)> then = nullptr) const;

 private:
  /// A part of the result of one image that is a convolution of its own: a run of rows, or some of
  /// the features.
  struct Block {
    size_t conv = 0;             // index into convs_
    int64_t x_at = 0, y_at = 0;  // in elements, from the start of the image
    /// The contiguous runs of the result. If there are several, oneDNN writes a separate tensor.
    int64_t rows = 1, columns = 0;
  };

  llvm::Error Prepare(const PrepareContext& context, const ConvSizes& sizes);
  llvm::Error Cut(const PrepareContext& context, const ConvSizes& sizes, bool winograd);
  llvm::Error CutFeatures(const PrepareContext& context, ConvSizes image, int64_t pieces);
  llvm::Error CutRows(const PrepareContext& context, const ConvSizes& image, int64_t pieces,
                      bool winograd);
  /// Adds a block with these sizes, whose weights begin at `w_at`.
  llvm::Error AddBlock(const PrepareContext& context, const ConvSizes& sizes, int64_t w_at,
                       bool winograd, Block block);
  void LayOutWorkspace();
  /// `own` is the scratch memory of the task group.
  void RunBlock(const Block& block, const float* x, const float* w, float* y, char* own) const;

  std::shared_ptr<const MatmulPlan> product_;  // for a 1x1 kernel
  int64_t images_ = 0, x_image_ = 0, y_image_ = 0;
  int64_t y_row_ = 0;  // number of features of all blocks
  /// Shared by all blocks with the same sizes and weights.
  struct Conv {
    ConvSizes sizes;
    int64_t w_at = 0;  // index of its first weight
    std::unique_ptr<DnnlConv> conv;
    std::shared_ptr<const void> packed;  // w in oneDNN's layout, if w is constant
    int64_t arranged_at = -1;  // workspace offset of w in that layout, if each run reorders it
  };
  std::vector<Conv> convs_;
  std::vector<Block> blocks_;  // of each image
  int64_t groups_ = 1;         // of tasks; each has its own scratch memory
  /// For each group: oneDNN's scratchpad, and the task's input and output in oneDNN's layouts.
  int64_t scratch_at_ = 0, scratch_bytes_ = 0, x_bytes_ = 0, y_bytes_ = 0;
  int64_t y_elements_ = 0;
  int64_t workspace_bytes_ = 0;
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_
