#include "kernels/convolution/conv_plan.h"
#include "kernels/convolution/packed_weight.h"

#include <algorithm>
#include <cstring>

#include "kernels/core/element.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

// All sums are empty: the result is zeros, or the bias.
class EmptyConvPlan : public ConvPlan {
 public:
  void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
           CPUContext& context) const override {
    if (output->num_elements() == 0) return;
    if (inputs.size() < 3) {
      std::memset(output->raw(), 0, static_cast<size_t>(output->num_bytes()));
      return;
    }
    const int64_t channels = output->sizes()[1];
    const int64_t rows = output->sizes()[0] * channels;
    const int64_t row = output->num_elements() / rows;
    VisitDType(AnyTypes(), output->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* bias = static_cast<const T*>(inputs[2]->raw());
      T* y = static_cast<T*>(output->raw());
      context.ParallelFor(rows, 1 + (1 << 15) / row, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) std::fill_n(y + r * row, row, bias[r % channels]);
      });
    });
  }
};

}  // namespace

llvm::Expected<std::shared_ptr<const ConvPlan>> ConvPlan::Make(const PrepareContext& context,
                                                               ConvKind kind,
                                                               const ConvSizes& sizes) {
  if (sizes.x_elements() == 0 || sizes.y_elements() == 0 || sizes.w_elements() == 0) {
    return std::make_shared<const EmptyConvPlan>();
  }
  const DType dtype = context.inputs()[0].dtype;
  const bool is_reduced = dtype == DType::kF16 || dtype == DType::kBF16;
  // Only small images gain from reordering to the layouts of oneDNN's convolution. A bias is added
  // before f16/bf16 results are rounded.
  constexpr int64_t kLargeImage = 512;
  const bool adds_to_reduced = is_reduced && context.inputs().size() > 2;
  if (kind != ConvKind::kWeights && IsPointwise(sizes) && sizes.window.out() >= kLargeImage &&
      !adds_to_reduced) {
    return MakePointwiseConvPlan(context, kind, sizes);
  }
  auto plan = dtype == DType::kF32 || is_reduced ? MakeDnnlConvPlan(context, kind, sizes)
                                                 : MakePlainConvPlan(context, kind, sizes);
  if (!plan || !(*plan)->multiplies_padding() || !sizes.window.has_padding()) return plan;
  if (kind == ConvKind::kForward) {
    llvm::Expected<bool> is_finite = IsConstantAndFinite(context);
    if (!is_finite) return is_finite.takeError();
    if (*is_finite) return plan;
  }
  return LeaveOutPadding(kind, sizes, std::move(*plan));
}

}  // namespace pdl
