// Convolutions by oneDNN.
#include <algorithm>
#include <vector>

#include "kernels/convolution/conv_plan.h"
#include "kernels/convolution/dnnl_conv.h"
#include "kernels/core/float_copy.h"
#include "kernels/core/grain.h"
#include "kernels/core/rounding.h"
#include "kernels/core/scratch_areas.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

using Operand = DnnlConv::Operand;

// Work with fewer multiply-adds than this stays in one piece.
constexpr int64_t kSmallConvolution = int64_t{1} << 21;

// The largest divisor of n that is at most `most`.
int64_t DivisorUpTo(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

// A task is a block of channels of some of the images. All have the same sizes, so they share one
// oneDNN primitive. A task reorders its inputs and its result itself, except inputs that several
// tasks read: those are reordered before the tasks run.
class DnnlConvPlan : public ConvPlan {
 public:
  DnnlConvPlan(ConvKind kind, const ConvSizes& sizes, const PrepareContext& context);
  llvm::Error Prepare(const PrepareContext& context);
  bool multiplies_padding() const override { return conv_->multiplies_padding(); }
  bool reads_weight() const override { return packed_.empty(); }
  void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
           CPUContext& context) const override;

 private:
  // An operand, split among the tasks.
  struct Part {
    int input = -1;              // index of the input; -1: the result
    int64_t elements = 0;        // of the complete operand
    int64_t image_step = 0;      // elements between the images of consecutive tasks
    int64_t block_step = 0;      // elements between consecutive blocks of channels
    bool is_arranged = false;    // oneDNN's layout is not the plain one
    bool is_shared = false;      // reordered before the tasks run
    int64_t arranged_bytes = 0;  // of one part
    int64_t floats_at = -1;      // offset of the f32 copy of f16/bf16 elements
    int64_t arranged_at = -1;    // offset of all parts if it is shared, else of each area's
  };
  struct Pointers {
    std::array<const float*, 3> plain;
    const float* bias;
    char* workspace;
  };

  void CutIntoTasks();
  llvm::Error PackWeight(const PrepareContext& context);
  void LayOutWorkspace();
  void* ScratchOf(int64_t area, const Pointers& pointers) const {
    return pointers.workspace + scratch_at_ + area * RoundUp(conv_->scratch_bytes(), 64);
  }
  Operand result() const {
    return kind_ == ConvKind::kForward      ? DnnlConv::kY
           : kind_ == ConvKind::kTransposed ? DnnlConv::kX
                                            : DnnlConv::kW;
  }
  int64_t images() const { return sizes_.batch / images_per_task_; }
  // The numbers of different parts of an operand.
  int64_t ImageParts(Operand operand) const { return operand == DnnlConv::kW ? 1 : images(); }
  int64_t BlockParts(Operand operand) const {
    return parts_[operand].block_step == 0 ? 1 : blocks_;
  }
  void ArrangeShared(Operand operand, const Pointers& pointers, CPUContext& context) const;
  void RunTask(int64_t task, int64_t group, const Pointers& pointers) const;

  ConvKind kind_;
  ConvSizes sizes_;
  DType dtype_;
  bool has_bias_;
  int64_t images_per_task_ = 1;
  int64_t blocks_ = 1;  // of channels
  int64_t groups_ = 1;  // of tasks
  int64_t areas_ = 1;   // of scratch memory
  std::unique_ptr<DnnlConv> conv_;
  std::array<Part, 3> parts_;
  /// One for each block, if the weight is constant.
  std::vector<std::shared_ptr<const void>> packed_;
  int64_t bias_at_ = -1;
  int64_t scratch_at_ = 0;
};

DnnlConvPlan::DnnlConvPlan(ConvKind kind, const ConvSizes& sizes, const PrepareContext& context)
    : kind_(kind),
      sizes_(sizes),
      dtype_(context.inputs()[0].dtype),
      has_bias_(context.inputs().size() > 2) {
  parts_[DnnlConv::kX].elements = sizes.x_elements();
  parts_[DnnlConv::kW].elements = sizes.w_elements();
  parts_[DnnlConv::kY].elements = sizes.y_elements();
  parts_[DnnlConv::kX].input = kind == ConvKind::kTransposed ? -1 : 0;
  parts_[DnnlConv::kW].input = kind == ConvKind::kWeights ? -1 : 1;
  parts_[DnnlConv::kY].input = kind == ConvKind::kForward ? -1 : kind == ConvKind::kWeights ? 1 : 0;
}

void DnnlConvPlan::CutIntoTasks() {
  const int64_t target = std::clamp<int64_t>(sizes_.work() / kSmallConvolution, 1, kMaxPieces);
  if (kind_ == ConvKind::kWeights) {
    images_per_task_ = sizes_.batch;
  } else {
    images_per_task_ = DivisorUpTo(sizes_.batch, (sizes_.batch + target - 1) / target);
  }
  // If there are few images, they are cut into blocks of channels.
  const int64_t requested_blocks = (target + images() - 1) / images();
  const int64_t channels = kind_ == ConvKind::kTransposed ? sizes_.channels : sizes_.features;
  if (sizes_.groups > 1) {
    if (kind_ == ConvKind::kWeights) blocks_ = DivisorUpTo(sizes_.groups, requested_blocks);
  } else {
    for (const int64_t block : {64, 48, 32}) {
      if (channels % block != 0) continue;
      blocks_ = DivisorUpTo(channels / block, requested_blocks);
      break;
    }
  }
  groups_ = std::min(images() * blocks_, kMaxPieces);
}

llvm::Error DnnlConvPlan::Prepare(const PrepareContext& context) {
  CutIntoTasks();
  const int64_t x_image = sizes_.channels * sizes_.window.in();
  const int64_t y_image = sizes_.features * sizes_.window.out();
  Part& x = parts_[DnnlConv::kX];
  Part& w = parts_[DnnlConv::kW];
  Part& y = parts_[DnnlConv::kY];
  x.image_step = images_per_task_ * x_image;
  y.image_step = images_per_task_ * y_image;

  DnnlConvShape shape;
  shape.kind = kind_;
  shape.sizes = sizes_;
  shape.sizes.batch = images_per_task_;
  shape.has_bias = has_bias_ && kind_ == ConvKind::kForward;
  shape.x_stride = x_image;
  shape.y_stride = y_image;
  shape.w_stride = sizes_.group_channels() * sizes_.window.kernel();
  if (blocks_ > 1) {
    const bool splits_x = kind_ == ConvKind::kTransposed || sizes_.groups > 1;
    const bool splits_y = kind_ != ConvKind::kTransposed;
    if (sizes_.groups > 1) shape.sizes.groups /= blocks_;
    if (splits_x) {
      shape.sizes.channels /= blocks_;
      x.block_step = x_image / blocks_;
    }
    if (splits_y) {
      shape.sizes.features /= blocks_;
      y.block_step = y_image / blocks_;
    }
    w.block_step = splits_y ? w.elements / blocks_ : shape.w_stride / blocks_;
  }
  auto conv = DnnlConv::Create(shape);
  if (!conv) return conv.takeError();
  conv_ = std::move(*conv);
  for (const Operand operand : {DnnlConv::kX, DnnlConv::kW, DnnlConv::kY}) {
    Part& part = parts_[operand];
    part.is_arranged = conv_->is_arranged(operand);
    part.arranged_bytes = RoundUp(conv_->bytes(operand), 64);
    part.is_shared = part.is_arranged && operand != result() &&
                     ImageParts(operand) * BlockParts(operand) < images() * blocks_;
  }
  if (llvm::Error error = PackWeight(context)) return error;
  areas_ = ScratchAreas(context.device(), groups_);
  LayOutWorkspace();
  return llvm::Error::success();
}

llvm::Error DnnlConvPlan::PackWeight(const PrepareContext& context) {
  if (kind_ == ConvKind::kWeights || !context.is_constant(1) ||
      !(parts_[DnnlConv::kW].is_arranged || IsHalf(dtype_))) {
    return llvm::Error::success();
  }
  for (int64_t block = 0; block < blocks_; ++block) {
    const int64_t first = block * parts_[DnnlConv::kW].block_step;
    auto pack = [&](const Tensor& weight) -> llvm::Expected<std::shared_ptr<const void>> {
      auto floats = AsFloats(weight);
      if (!floats) return floats.takeError();
      return conv_->PackWeight(static_cast<const float*>(floats->get()) + first);
    };
    // The layout does not identify which part of the weight is packed.
    const std::string layout =
        llvm::formatv("conv-{0}-{1}-{2}", conv_->weight_layout(), blocks_, first).str();
    auto packed = context.Pack(1, layout, pack);
    if (!packed) return packed.takeError();
    packed_.push_back(std::move(*packed));
  }
  return llvm::Error::success();
}

void DnnlConvPlan::LayOutWorkspace() {
  for (const Operand operand : {DnnlConv::kX, DnnlConv::kW, DnnlConv::kY}) {
    Part& part = parts_[operand];
    if (operand == DnnlConv::kW && !packed_.empty()) continue;
    if (IsHalf(dtype_)) part.floats_at = Take(part.elements * 4);
    if (!part.is_arranged) continue;
    const int64_t count = part.is_shared ? ImageParts(operand) * BlockParts(operand) : areas_;
    part.arranged_at = Take(count * part.arranged_bytes);
  }
  if (has_bias_ && IsHalf(dtype_)) {
    bias_at_ = Take(4 * (kind_ == ConvKind::kForward ? sizes_.features : sizes_.channels));
  }
  scratch_at_ = Take(areas_ * RoundUp(conv_->scratch_bytes(), 64));
}

void DnnlConvPlan::Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
                       CPUContext& context) const {
  Pointers pointers;
  pointers.workspace = static_cast<char*>(context.workspace());
  const auto floats_of = [&](const Tensor& tensor, int64_t floats_at) {
    if (floats_at < 0) return static_cast<const float*>(tensor.raw());
    float* floats = reinterpret_cast<float*>(pointers.workspace + floats_at);
    if (&tensor != output) {
      Convert(dtype_, tensor.raw(), DType::kF32, floats, tensor.num_elements(), context);
    }
    return static_cast<const float*>(floats);
  };
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const Tensor& tensor = part.input < 0 ? *output : *inputs[static_cast<size_t>(part.input)];
    pointers.plain[i] = floats_of(tensor, part.floats_at);
  }
  pointers.bias = has_bias_ ? floats_of(*inputs[2], bias_at_) : nullptr;

  for (const Operand operand : {DnnlConv::kX, DnnlConv::kW, DnnlConv::kY}) {
    if (parts_[operand].is_shared) ArrangeShared(operand, pointers, context);
  }
  const int64_t tasks = images() * blocks_;
  ParallelForAreas(context, groups_, areas_, [&](int64_t group, int64_t area) {
    const int64_t last = tasks * (group + 1) / groups_;
    for (int64_t task = tasks * group / groups_; task < last; ++task) RunTask(task, area, pointers);
  });
  if (IsHalf(dtype_)) {
    Convert(DType::kF32, pointers.plain[result()], dtype_, output->raw(), output->num_elements(),
            context);
  }
}

void DnnlConvPlan::ArrangeShared(Operand operand, const Pointers& pointers,
                                 CPUContext& context) const {
  const Part& part = parts_[operand];
  if (operand == DnnlConv::kW && !packed_.empty()) return;
  const int64_t blocks = BlockParts(operand);
  const int64_t count = ImageParts(operand) * blocks;
  // The scratch memory of the tasks is free until they run.
  const int64_t pieces = std::min(count, groups_);
  ParallelForAreas(context, pieces, std::min(pieces, areas_), [&](int64_t piece, int64_t area) {
    void* scratch = ScratchOf(area, pointers);
    const int64_t last = count * (piece + 1) / pieces;
    for (int64_t i = count * piece / pieces; i < last; ++i) {
      const float* plain =
          pointers.plain[operand] + i / blocks * part.image_step + i % blocks * part.block_step;
      conv_->Arrange(
          operand, plain,
          reinterpret_cast<float*>(pointers.workspace + part.arranged_at + i * part.arranged_bytes),
          scratch);
    }
  });
}

void DnnlConvPlan::RunTask(int64_t task, int64_t area, const Pointers& pointers) const {
  const int64_t image = task / blocks_;
  const int64_t block = task % blocks_;
  void* scratch = ScratchOf(area, pointers);
  std::array<const float*, 3> operands;
  float* result_plain = nullptr;
  for (const Operand operand : {DnnlConv::kX, DnnlConv::kW, DnnlConv::kY}) {
    const Part& part = parts_[operand];
    if (operand == DnnlConv::kW && !packed_.empty()) {
      operands[operand] = static_cast<const float*>(packed_[static_cast<size_t>(block)].get());
      continue;
    }
    const float* plain = pointers.plain[operand] + block * part.block_step;
    if (operand != DnnlConv::kW) plain += image * part.image_step;
    if (operand == result()) result_plain = const_cast<float*>(plain);
    if (!part.is_arranged) {
      operands[operand] = plain;
      continue;
    }
    int64_t place = area;
    if (part.is_shared) {
      const int64_t image_part = operand == DnnlConv::kW ? 0 : image;
      place = image_part * BlockParts(operand) + (BlockParts(operand) == 1 ? 0 : block);
    }
    float* arranged = reinterpret_cast<float*>(pointers.workspace + part.arranged_at +
                                               place * part.arranged_bytes);
    if (!part.is_shared && operand != result()) conv_->Arrange(operand, plain, arranged, scratch);
    operands[operand] = arranged;
  }
  const float* bias = pointers.bias;
  if (bias != nullptr && blocks_ > 1) {
    bias += block * (kind_ == ConvKind::kForward ? sizes_.features : sizes_.channels) / blocks_;
  }
  conv_->Run(operands[0], operands[1], operands[2], bias, scratch);
  if (parts_[result()].is_arranged) {
    conv_->Restore(result(), operands[result()], result_plain, scratch);
  }
  if (bias == nullptr || kind_ != ConvKind::kTransposed) return;
  const int64_t channels = sizes_.channels / blocks_;
  const int64_t plane = sizes_.window.in();
  for (int64_t n = 0; n < images_per_task_; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      float* row = result_plain + (n * sizes_.channels + c) * plane;
      for (int64_t i = 0; i < plane; ++i) row[i] += bias[c];
    }
  }
}

}  // namespace

llvm::Expected<std::shared_ptr<const ConvPlan>> MakeDnnlConvPlan(const PrepareContext& context,
                                                                 ConvKind kind,
                                                                 const ConvSizes& sizes) {
  auto plan = std::make_shared<DnnlConvPlan>(kind, sizes, context);
  if (llvm::Error error = plan->Prepare(context)) return error;
  return plan;
}

}  // namespace pdl
