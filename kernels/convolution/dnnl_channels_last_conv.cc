// Convolutions with channels last by oneDNN.
#include <algorithm>
#include <cstring>

#include "kernels/convolution/channels_last_conv.h"
#include "kernels/convolution/dnnl_conv.h"
#include "kernels/convolution/packed_weight.h"
#include "kernels/core/grain.h"
#include "kernels/core/rounding.h"
#include "kernels/core/scratch_areas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

// Work with fewer multiply-adds than this stays in one piece.
constexpr int64_t kSmallChannelsLast = int64_t{1} << 20;
// A piece should still be in the second-level cache when it is computed; each piece has at least
// kLeastRows rows.
constexpr int64_t kPieceBytes = int64_t{256} << 10;
constexpr int64_t kLeastRows = 4;
// The number of features of a block, if there are many weights and few positions.
constexpr int64_t kFeatures = 128, kManyWeights = int64_t{1} << 20, kFewPlaces = 256;

// The dim along which an image is cut into rows: the first with more than one position, so that a
// run of rows is contiguous.
unsigned RowAxis(const SlidingWindow& window) {
  unsigned axis = 0;
  while (axis < 2 && window.d[axis].in == 1 && window.d[axis].out == 1) ++axis;
  return axis;
}

// Cut into images, and those into runs of rows, depending on the sizes only, so that the result is
// the same for any number of threads.
class DnnlChannelsLastConv : public ChannelsLastConv {
 public:
  llvm::Error Prepare(const PrepareContext& context, const ConvSizes& sizes);
  void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
           const RegisterEpilogue&,
           llvm::function_ref<void(const OutputPiece&)> then) const override;

 private:
  /// A part of the result of one image that is a convolution of its own: a run of rows, or some of
  /// the features.
  struct Block {
    size_t conv = 0;             // index into convs_
    int64_t x_at = 0, y_at = 0;  // in elements, from the start of the image
    /// The contiguous runs of the result. If there are several, oneDNN writes a separate tensor.
    int64_t rows = 1, columns = 0;
  };

  llvm::Error CutFeatures(const PrepareContext& context, ConvSizes image, int64_t pieces);
  llvm::Error CutRows(const PrepareContext& context, const ConvSizes& image, int64_t pieces);
  /// Adds a block with these sizes, whose weights begin at `w_at`.
  llvm::Error AddBlock(const PrepareContext& context, const ConvSizes& sizes, int64_t w_at,
                       Block block);
  void LayOutWorkspace();
  /// `own` is the scratch memory of the task group.
  void RunBlock(const Block& block, const float* x, const float* w, float* y, char* own) const;

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
  int64_t groups_ = 1;         // of tasks
  int64_t areas_ = 1;          // of scratch memory
  /// For each group: oneDNN's scratchpad, and the task's result if it is not contiguous in y.
  int64_t scratch_at_ = 0, scratch_bytes_ = 0, y_bytes_ = 0;
};

llvm::Error DnnlChannelsLastConv::Prepare(const PrepareContext& context, const ConvSizes& sizes) {
  ConvSizes image = sizes;
  image.batch = 1;
  images_ = sizes.batch;
  x_image_ = image.x_elements();
  y_image_ = image.y_elements();
  y_row_ = sizes.features;
  // An even number of pieces suits most numbers of threads.
  const int64_t work = std::clamp<int64_t>(sizes.work() / kSmallChannelsLast, 1, kMaxPieces);
  const int64_t target = work == 1 ? 1 : RoundUp(work, 2);
  const int64_t pieces =
      std::max((target + images_ - 1) / images_, (y_image_ * 4 + kPieceBytes - 1) / kPieceBytes);
  // Each run of rows reads all weights. If they are larger than the image, they are cut instead.
  const bool cuts_features = pieces > 1 && sizes.groups == 1 && sizes.features % kFeatures == 0 &&
                             sizes.window.out() <= kFewPlaces && sizes.w_elements() > kManyWeights;
  if (llvm::Error error =
          cuts_features ? CutFeatures(context, image, pieces) : CutRows(context, image, pieces)) {
    return error;
  }
  groups_ = std::min<int64_t>(images_ * static_cast<int64_t>(blocks_.size()), kMaxPieces);
  areas_ = ScratchAreas(context.device(), groups_);
  LayOutWorkspace();
  return llvm::Error::success();
}

llvm::Error DnnlChannelsLastConv::CutFeatures(const PrepareContext& context, ConvSizes image,
                                              int64_t pieces) {
  const int64_t blocks = image.features / kFeatures;
  int64_t parts = std::min(pieces, blocks);
  while (blocks % parts != 0) --parts;
  const int64_t weights = image.w_elements() / parts;
  image.features /= parts;
  for (int64_t part = 0; part < parts; ++part) {
    Block block;
    block.y_at = part * image.features;
    block.rows = image.window.out();
    block.columns = image.features;
    if (llvm::Error error = AddBlock(context, image, part * weights, block)) return error;
  }
  return llvm::Error::success();
}

// Rows of the result are a convolution of the rows of x that their windows cover.
llvm::Error DnnlChannelsLastConv::CutRows(const PrepareContext& context, const ConvSizes& image,
                                          int64_t pieces) {
  const unsigned axis = RowAxis(image.window);
  const WindowDim& whole = image.window.d[axis];
  int64_t piece_rows = std::max(kLeastRows, (whole.out + pieces - 1) / pieces);
  // Rows whose windows are completely in the padding cannot be a convolution of their own.
  if (whole.At(whole.out - 1, 0) >= whole.in || whole.At(0, whole.kernel - 1) < 0) {
    piece_rows = whole.out;
  }
  for (int64_t first = 0; first < whole.out; first += piece_rows) {
    const int64_t last = std::min(whole.out, first + piece_rows);
    ConvSizes sizes = image;
    WindowDim& part = sizes.window.d[axis];
    const int64_t from = std::max<int64_t>(whole.At(first, 0), 0);
    part.out = last - first;
    part.begin = from - whole.At(first, 0);
    part.in = part.out == whole.out
                  ? whole.in
                  : std::min(whole.At(last - 1, whole.kernel - 1) + 1, whole.in) - from;
    Block block;
    block.x_at = from * (x_image_ / whole.in);
    block.y_at = first * (y_image_ / whole.out);
    block.columns = part.out * (y_image_ / whole.out);
    if (llvm::Error error = AddBlock(context, sizes, 0, block)) return error;
  }
  return llvm::Error::success();
}

llvm::Error DnnlChannelsLastConv::AddBlock(const PrepareContext& context, const ConvSizes& sizes,
                                           int64_t w_at, Block block) {
  const auto is_same = [&](const Conv& other) {
    return other.w_at == w_at && llvm::all_of(llvm::seq(0, 3), [&](int i) {
             const WindowDim &a = other.sizes.window.d[i], &b = sizes.window.d[i];
             return a.in == b.in && a.out == b.out && a.begin == b.begin;
           });
  };
  auto known = llvm::find_if(convs_, is_same);
  block.conv = static_cast<size_t>(known - convs_.begin());
  blocks_.push_back(block);
  if (known != convs_.end()) return llvm::Error::success();

  DnnlConvShape shape;
  shape.sizes = sizes;
  shape.w_stride = sizes.group_channels() * sizes.window.kernel();
  shape.channels_last = true;
  auto conv = DnnlConv::Create(shape);
  if (!conv) return conv.takeError();
  Conv& added = convs_.emplace_back();
  added.sizes = sizes;
  added.w_at = w_at;
  added.conv = std::move(*conv);
  if (!context.is_constant(1) || !added.conv->is_arranged(DnnlConv::kW))
    return llvm::Error::success();
  auto pack = [&](const Tensor& weight) {
    return added.conv->PackWeight(weight.data<float>() + w_at);
  };
  // The layout does not identify which part of the weight is packed.
  const std::string layout =
      llvm::formatv("channels-last-{0}-{1}", added.conv->weight_layout(), w_at).str();
  auto packed = context.Pack(1, layout, pack);
  if (!packed) return packed.takeError();
  added.packed = std::move(*packed);
  return llvm::Error::success();
}

void DnnlChannelsLastConv::LayOutWorkspace() {
  reads_w_ = llvm::any_of(convs_, [](const Conv& conv) { return conv.packed == nullptr; });
  auto take = [&](int64_t bytes) {
    const int64_t at = workspace_bytes_;
    workspace_bytes_ += RoundUp(bytes, 64);
    return at;
  };
  for (Conv& c : convs_) {
    const bool arranges = c.packed == nullptr && c.conv->is_arranged(DnnlConv::kW);
    if (arranges) c.arranged_at = take(c.conv->bytes(DnnlConv::kW));
    scratch_bytes_ = std::max(scratch_bytes_, RoundUp(c.conv->scratch_bytes(), 64));
  }
  for (const Block& block : blocks_) {
    const int64_t elements = block.rows * block.columns;
    if (block.rows > 1) y_bytes_ = std::max<int64_t>(y_bytes_, RoundUp(elements * 4, 64));
  }
  scratch_at_ = take(areas_ * (scratch_bytes_ + y_bytes_));
}

void DnnlChannelsLastConv::Run(const Tensor& x, const Tensor& w, void* y, void* workspace_raw,
                               CPUContext& context, const RegisterEpilogue&,
                               llvm::function_ref<void(const OutputPiece&)> then) const {
  char* workspace = static_cast<char*>(workspace_raw);
  const float* weight = w.data<float>();
  for (const Conv& c : convs_) {
    if (c.arranged_at < 0) continue;
    c.conv->Arrange(DnnlConv::kW, weight + c.w_at,
                    reinterpret_cast<float*>(workspace + c.arranged_at), workspace + scratch_at_);
  }
  const int64_t blocks = static_cast<int64_t>(blocks_.size());
  const int64_t tasks = images_ * blocks;
  ParallelForAreas(context, groups_, areas_, [&](int64_t group, int64_t area) {
    char* own = workspace + scratch_at_ + area * (scratch_bytes_ + y_bytes_);
    const int64_t last = tasks * (group + 1) / groups_;
    for (int64_t task = tasks * group / groups_; task < last; ++task) {
      const Block& block = blocks_[static_cast<size_t>(task % blocks)];
      const int64_t image = task / blocks;
      const Conv& c = convs_[block.conv];
      const void* arranged = c.packed != nullptr  ? c.packed.get()
                             : c.arranged_at >= 0 ? workspace + c.arranged_at
                                                  : static_cast<const void*>(weight + c.w_at);
      const int64_t y_at = image * y_image_ + block.y_at;
      RunBlock(block, x.data<float>() + image * x_image_ + block.x_at,
               static_cast<const float*>(arranged), static_cast<float*>(y) + y_at, own);
      if (then) then({y_at, block.rows, block.columns, block.rows == 1 ? block.columns : y_row_});
    }
  });
}

void DnnlChannelsLastConv::RunBlock(const Block& block, const float* x, const float* w, float* y,
                                    char* own) const {
  float* own_y = reinterpret_cast<float*>(own + scratch_bytes_);
  convs_[block.conv].conv->Run(x, w, block.rows > 1 ? own_y : y, nullptr, own);
  if (block.rows == 1) return;
  const size_t bytes = static_cast<size_t>(block.columns) * sizeof(float);
  for (int64_t row = 0; row < block.rows; ++row)
    std::memcpy(y + row * y_row_, own_y + row * block.columns, bytes);
}

}  // namespace

llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakeDnnlChannelsLastConv(
    const PrepareContext& context, const ConvSizes& sizes) {
  auto conv = std::make_shared<DnnlChannelsLastConv>();
  if (llvm::Error error = conv->Prepare(context, sizes)) return error;
  return conv;
}

}  // namespace pdl
