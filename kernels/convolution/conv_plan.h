// How a convolution is run, decided when its sizes are known.
#ifndef PDL_KERNELS_CONVOLUTION_CONV_PLAN_H_
#define PDL_KERNELS_CONVOLUTION_CONV_PLAN_H_

#include <memory>

#include "kernels/convolution/conv_sizes.h"
#include "pdl/op/operator.h"
#include "runtime/saturating.h"

namespace pdl {

/// Cuts a convolution into tasks by its sizes alone, so that the result is the same for any count
/// of threads.
class ConvPlan : public CallState {
 public:
  static llvm::Expected<std::shared_ptr<const ConvPlan>> Make(const PrepareContext& context,
                                                              ConvKind kind,
                                                              const ConvSizes& sizes);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Whether it multiplies padding as 0; else padding takes no part.
  virtual bool multiplies_padding() const { return false; }
  virtual void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
                   CPUContext& context) const = 0;

 protected:
  int64_t Take(int64_t bytes) {
    const int64_t at = workspace_bytes_;
    workspace_bytes_ = SaturatingSum({workspace_bytes_, SaturatingRoundUp(bytes, 64)});
    return at;
  }

 private:
  int64_t workspace_bytes_ = 0;
};

/// By oneDNN: f32, and halves as floats. The sizes have no 0.
llvm::Expected<std::shared_ptr<const ConvPlan>> MakeDnnlConvPlan(const PrepareContext& context,
                                                                 ConvKind kind,
                                                                 const ConvSizes& sizes);
/// A window of one place, that takes every place of all channels.
bool IsPointwise(const ConvSizes& sizes);
/// By one product of matrices for each image, in any dtype; not for kWeights. IsPointwise, and the
/// sizes have no 0.
llvm::Expected<std::shared_ptr<const ConvPlan>> MakePointwiseConvPlan(const PrepareContext& context,
                                                                      ConvKind kind,
                                                                      const ConvSizes& sizes);
/// By products of matrices: what oneDNN has no code for. The sizes have no 0.
llvm::Expected<std::shared_ptr<const ConvPlan>> MakePlainConvPlan(const PrepareContext& context,
                                                                  ConvKind kind,
                                                                  const ConvSizes& sizes);

/// As `plan`, which multiplies padding, for numbers; where nan or infinite ones would meet padding,
/// it takes no part either. Of floats; not for kTransposed.
std::shared_ptr<const ConvPlan> LeaveOutPadding(ConvKind kind, const ConvSizes& sizes,
                                                std::shared_ptr<const ConvPlan> plan);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_CONV_PLAN_H_
