// Plans for running a convolution, made when its sizes are known.
#ifndef PDL_KERNELS_CONVOLUTION_CONV_PLAN_H_
#define PDL_KERNELS_CONVOLUTION_CONV_PLAN_H_

#include <memory>

#include "kernels/convolution/conv_sizes.h"
#include "pdl/op/operator.h"
#include "runtime/saturating.h"

namespace pdl {

/// Cuts a convolution into tasks depending on its sizes only, so that the result is the same for
/// any number of threads.
class ConvPlan : public CallState {
 public:
  static llvm::Expected<std::shared_ptr<const ConvPlan>> Make(const PrepareContext& context,
                                                              ConvKind kind,
                                                              const ConvSizes& sizes);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Whether padding is multiplied as 0 instead of being left out.
  virtual bool multiplies_padding() const { return false; }
  /// Whether Run reads operand 1, not only its packed forms.
  virtual bool reads_weight() const { return true; }
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

/// A plan that uses oneDNN, for f32, and for f16/bf16 converted to f32. No size may be 0.
llvm::Expected<std::shared_ptr<const ConvPlan>> MakeDnnlConvPlan(const PrepareContext& context,
                                                                 ConvKind kind,
                                                                 const ConvSizes& sizes);
/// Whether the kernel is 1x1 with stride 1 and without padding.
bool IsPointwise(const ConvSizes& sizes);
/// A plan with one matmul for each image, for any dtype but not for kWeights. Requires IsPointwise;
/// no size may be 0.
llvm::Expected<std::shared_ptr<const ConvPlan>> MakePointwiseConvPlan(const PrepareContext& context,
                                                                      ConvKind kind,
                                                                      const ConvSizes& sizes);
/// A plan with im2col and matmul, for dtypes that oneDNN does not support. No size may be 0.
llvm::Expected<std::shared_ptr<const ConvPlan>> MakePlainConvPlan(const PrepareContext& context,
                                                                  ConvKind kind,
                                                                  const ConvSizes& sizes);

/// Wraps `plan`, which multiplies padding by 0, so that padding is also left out if operands have
/// nan or infinite elements. For floats; not for kTransposed.
std::shared_ptr<const ConvPlan> LeaveOutPadding(ConvKind kind, const ConvSizes& sizes,
                                                std::shared_ptr<const ConvPlan> plan);

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_CONV_PLAN_H_
