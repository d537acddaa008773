#include "kernels/convolution/channels_last_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/convolution/conv_plan.h"
#include "kernels/convolution/packed_weight.h"
#include "kernels/core/cpu_isa.h"
#include "kernels/core/grain.h"
#include "kernels/core/rounding.h"
#include "kernels/linear/matmul_plan.h"
#include "kernels/linear/panel_gemm.h"

namespace pdl {
namespace {

// All sums are empty, or there are none.
class EmptyConv : public ChannelsLastConv {
 public:
  explicit EmptyConv(const ConvSizes& sizes) : y_elements_(sizes.y_elements()) {}

  void Run(const Tensor&, const Tensor&, void* y, void*, CPUContext&, const RegisterEpilogue&,
           llvm::function_ref<void(const OutputPiece&)> then) const override {
    std::memset(y, 0, static_cast<size_t>(y_elements_) * sizeof(float));
    if (then) then({0, 1, y_elements_, y_elements_});
  }

 private:
  int64_t y_elements_;
};

// A call with a 1x1 kernel as the matmul of all positions and w.
class PlacesTimesWeight : public PrepareContext {
 public:
  PlacesTimesWeight(const PrepareContext& context, const ConvSizes& s) : context_(context) {
    const int64_t places = s.batch * s.window.out();
    inputs_[0] = {DType::kF32, {places, s.channels}};
    inputs_[1] = {DType::kF32, {s.features, s.channels}};
    output_ = {DType::kF32, {places, s.features}};
  }
  llvm::ArrayRef<OperandType> inputs() const override { return inputs_; }
  llvm::ArrayRef<OperandType> outputs() const override { return output_; }
  DeviceContext& device() const override { return context_.device(); }
  llvm::Expected<int64_t> Evaluate(const Dim& dim) const override { return context_.Evaluate(dim); }
  bool is_constant(unsigned index) const override { return context_.is_constant(index); }
  llvm::Expected<Tensor> ConstantValue(unsigned index) const override {
    return context_.ConstantValue(index);
  }
  llvm::Expected<std::shared_ptr<const void>> Pack(unsigned index, llvm::StringRef layout,
                                                   PackFunction pack) const override {
    return context_.Pack(index, layout, pack);
  }
  DType matmul_precision() const override { return context_.matmul_precision(); }

 private:
  const PrepareContext& context_;
  OperandType inputs_[2];
  OperandType output_;
};

class PointwiseConv : public ChannelsLastConv {
 public:
  explicit PointwiseConv(std::shared_ptr<const MatmulPlan> product) : product_(std::move(product)) {
    workspace_bytes_ = product_->workspace_bytes();
    has_register_epilogue_ = product_->has_register_epilogue();
    reads_w_ = product_->reads_b();
    precision_ = product_->precision();
  }

  void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
           const RegisterEpilogue& epilogue,
           llvm::function_ref<void(const OutputPiece&)> then) const override {
    product_->Run(x, w, y, workspace, context, epilogue, then);
  }

 private:
  std::shared_ptr<const MatmulPlan> product_;
};

// Whether a 1x1 window is computed as a convolution, by the kernel for panels, not as a matmul.
// Positions 4 KiB apart would replace one another in the first-level cache, unless they are packed.
bool SuitsPanels(const PrepareContext& context, const ConvSizes& sizes) {
  constexpr int64_t kFloatsOfPeriod = 1024, kLeastChannels = 8;
  const int64_t positions = sizes.batch * sizes.window.out();
  const bool is_packed = PanelScratchBytes(positions, sizes.features) > 0;
  return context.is_constant(1) && std::min(sizes.channels, sizes.features) >= kLeastChannels &&
         (is_packed || sizes.channels % kFloatsOfPeriod != 0) && positions > kFewRows;
}

}  // namespace

PositionPieces PositionPieces::Cut(int64_t rows, int64_t row_elements, int64_t work,
                                   int64_t multiple) {
  // Work with fewer multiply-adds than this stays in one piece.
  constexpr int64_t kSmallWork = int64_t{1} << 20;
  // A piece should still be in the second-level cache when its epilogue reads it.
  constexpr int64_t kPieceBytes = int64_t{96} << 10;
  const int64_t by_work = std::clamp<int64_t>(work / kSmallWork, 1, kMaxPieces);
  const int64_t by_bytes = std::min(rows, rows * row_elements * 4 / kPieceBytes + 1);
  const int64_t least = std::max(by_work, by_bytes);
  if (least == 1) return {1, rows};
  // Threads process pieces in pairs, at least, and wait for the last one.
  constexpr int64_t kPiecesOfRow =
      4;  // besides its rows, a piece takes a quarter of the time of one
  PositionPieces best;
  int64_t shortest = 0;
  for (int64_t count = least; count <= 3 * least; ++count) {
    PositionPieces pieces;
    pieces.length = RoundUp(DivideUp(rows, count), multiple);
    pieces.count = DivideUp(rows, pieces.length);
    const int64_t time = RoundUp(pieces.count, 2) * (kPiecesOfRow * pieces.length + 1);
    if (best.count > 1 && time >= shortest) continue;
    best = pieces;
    shortest = time;
  }
  return best;
}

llvm::Expected<std::shared_ptr<const ChannelsLastConv>> ChannelsLastConv::Make(
    const PrepareContext& context, const ConvSizes& sizes) {
  if (sizes.x_elements() == 0 || sizes.w_elements() == 0 || sizes.y_elements() == 0) {
    return std::make_shared<EmptyConv>(sizes);
  }
  if (IsPointwise(sizes) && !SuitsPanels(context, sizes)) {
    auto product = MatmulPlan::Make(PlacesTimesWeight(context, sizes), false, true);
    if (!product) return product.takeError();
    return std::make_shared<PointwiseConv>(std::move(*product));
  }
  if (SuitsSlidingConv(sizes)) return MakeSlidingConv(context, sizes);
  llvm::Expected<bool> is_finite = IsConstantAndFinite(context);
  if (!is_finite) return is_finite.takeError();
  if (*is_finite && SuitsWinogradConv(sizes)) return MakeWinogradConv(context, sizes);
  // Padding takes no part in a sum; multiplied by an infinite weight, it would.
  if (context.is_constant(1) && SuitsPanelConv(context, sizes) &&
      (*is_finite || !sizes.window.has_padding())) {
    return MakePanelConv(context, sizes);
  }
  return MakeDnnlChannelsLastConv(context, sizes);
}

}  // namespace pdl
