// How a convolution of floats with its channels last is run, decided when its sizes are known.
#ifndef PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_
#define PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_

#include <memory>
#include <vector>

#include "kernels/convolution/conv_sizes.h"
#include "kernels/convolution/dnnl_conv.h"
#include "kernels/linear/matmul_plan.h"
#include "pdl/op/operator.h"

namespace pdl {

/// x is f32[N, ..., C], w f32[K, C / groups, kernel...], y f32[N, ..., K]. A window of one place is
/// a product of matrices; others are cut into images, and those into runs of rows, by their sizes
/// alone, so that the result is the same for any count of threads. 3x3 windows with stride 1 go by
/// Winograd's algorithm where w is constant, the image not small, and the processor has AVX-512.
class ChannelsLastConv : public CallState {
 public:
  /// `sizes` are those of the call with its channels second.
  static llvm::Expected<std::shared_ptr<const ChannelsLastConv>> Make(const PrepareContext& context,
                                                                      const ConvSizes& sizes);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Calls `then` with each piece of y when it is computed, from the thread that did so.
  void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
           llvm::function_ref<void(const OutputPiece&)> then = nullptr) const;

 private:
  /// A part of the result of one image, which is a convolution of its own: a run of rows, or some
  /// of the features.
  struct Block {
    size_t conv = 0;             // index into convs_
    int64_t x_at = 0, y_at = 0;  // elements from the image's first one
    /// Runs of the result; of several, oneDNN makes a tensor of its own.
    int64_t rows = 1, columns = 0;
  };

  llvm::Error Prepare(const PrepareContext& context, const ConvSizes& sizes);
  llvm::Error Cut(const PrepareContext& context, const ConvSizes& sizes, bool winograd);
  llvm::Error CutFeatures(const PrepareContext& context, ConvSizes image, int64_t pieces);
  llvm::Error CutRows(const PrepareContext& context, const ConvSizes& image, int64_t pieces,
                      bool winograd);
  /// A part of the sizes `sizes`, of the weights from `w_at` on.
  llvm::Error AddBlock(const PrepareContext& context, const ConvSizes& sizes, int64_t w_at,
                       bool winograd, Block block);
  void LayOutWorkspace();
  /// `own`: the group's scratch memory.
  void RunBlock(const Block& block, const float* x, const float* w, float* y, char* own) const;

  std::shared_ptr<const MatmulPlan> product_;  // of a window of one place
  int64_t images_ = 0, x_image_ = 0, y_image_ = 0;
  int64_t y_row_ = 0;  // features of all blocks
  /// One for all blocks of the same sizes and weights.
  struct Conv {
    ConvSizes sizes;
    int64_t w_at = 0;  // its first weight
    std::unique_ptr<DnnlConv> conv;
    std::shared_ptr<const void> packed;  // w in its layout, where w is constant
    int64_t arranged_at = -1;            // where w is brought into it in each run, in workspace
  };
  std::vector<Conv> convs_;
  std::vector<Block> blocks_;  // of each image
  int64_t groups_ = 1;         // of tasks; each has scratch memory of its own
  /// Of each group: what oneDNN needs, and what a task reads and writes in layouts of its own.
  int64_t scratch_at_ = 0, scratch_bytes_ = 0, x_bytes_ = 0, y_bytes_ = 0;
  int64_t y_elements_ = 0;
  int64_t workspace_bytes_ = 0;
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_CONV_H_
