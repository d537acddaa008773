// Convolutions with channels last as matmuls of windows, read where they are stored, and weights in
// panels of features.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/convolution/channels_last_conv.h"
#include "kernels/convolution/conv_plan.h"
#include "kernels/convolution/packed_weight.h"
#include "kernels/core/cpu_isa.h"
#include "kernels/core/rounding.h"
#include "kernels/core/scratch_areas.h"
#include "kernels/linear/gemm.h"
#include "kernels/linear/panel_blocks.h"
#include "kernels/linear/panel_gemm.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/context_threads.h"

namespace pdl {
namespace {

// Images of fewer channels are read in runs of all columns of a window.
constexpr int64_t kFewChannels = 64;

// A window consists of runs of contiguous elements: one for each of its positions, or, if channels
// are few, for each of its rows. Runs outside the image are read from zeros_; rows partly outside
// are copied.
class PanelConv : public ChannelsLastConv {
 public:
  PanelConv(const ConvSizes& sizes, WordKind words, const DeviceContext& device);
  llvm::Error Prepare(const PrepareContext& context);
  void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
           const RegisterEpilogue& epilogue,
           llvm::function_ref<void(const OutputPiece&)> then) const override;

 private:
  int64_t depth() const { return runs_ * run_length_; }
  int64_t depth_words() const { return runs_ * WordsOf(words_, run_length_); }
  int64_t panel_words() const { return RoundUp(sizes_.group_features(), columns_) * depth_words(); }
  // Packs w as [group][panel][kernel position][channel][feature of the panel].
  void Pack(const float* w, float* to) const;
  // The same as pairs of elements of a run.
  void PackPairs(const float* w, float* to) const;
  // The pointers to the runs of consecutive windows, as PanelGemm reads them.
  struct RunPointers {
    const float** block;  // of the first run of a block of windows
    int64_t row;          // of a window in its block
  };
  // Finds the runs of the windows of positions [first, last) of all images.
  void FindRuns(const float* x, int64_t first, int64_t last, const float** runs,
                float* copies) const;
  // Those of a row of the kernel, for windows of columns [first, last) of a row of y. `row` is the
  // row of x, or null if it is outside.
  void FindRunsOfRow(const float* row, int64_t first, int64_t last, RunPointers to,
                     float** copies) const;
  const float* JoinedRun(const float* row, int64_t column, float** copies) const;
  RunPointers Advance(RunPointers from, int64_t windows) const {
    const int64_t row = from.row + windows;
    return {from.block + row / rows_ * rows_ * runs_, row % rows_};
  }

  ConvSizes sizes_;
  WordKind words_;
  const int64_t rows_ = PanelRows(), columns_ = PanelColumns();
  bool joins_columns_ = false, is_pointwise_ = false;
  int64_t runs_ = 1, run_length_ = 1;
  std::vector<float> zeros_;
  int64_t piece_ = 0;                           // the positions of a task
  int64_t blocks_ = 1, block_features_ = 0;     // of features
  int64_t tasks_ = 1, groups_ = 1, areas_ = 1;  // areas of scratch memory
  std::shared_ptr<const void> packed_;
  int64_t runs_bytes_ = 0, scratch_bytes_ = 0;  // of an area
  int64_t rows_at_ = 0;                         // the scratch memory of PanelGemm in an area
};

PanelConv::PanelConv(const ConvSizes& sizes, WordKind words, const DeviceContext& device)
    : sizes_(sizes), words_(words) {
  has_register_epilogue_ = true;
  precision_ = PrecisionOf(words);
  const WindowDim* d = sizes.window.d;
  is_pointwise_ = IsPointwise(sizes);
  joins_columns_ =
      sizes.groups == 1 && d[2].dilation == 1 && d[2].kernel > 1 && sizes.channels < kFewChannels;
  runs_ = d[0].kernel * d[1].kernel * (joins_columns_ ? 1 : d[2].kernel);
  run_length_ = sizes.group_channels() * (joins_columns_ ? d[2].kernel : 1);
  zeros_.resize(static_cast<size_t>(std::max(run_length_, sizes.channels)), 0.0f);
  const int64_t positions = sizes.batch * sizes.window.out();
  PanelWork work;
  work.rows = positions;
  work.columns = sizes.group_features();
  work.depth = depth();
  work.threads = ThreadsOf(device);
  work.cuts_columns = sizes.groups == 1;
  // A piece should still be in the second-level cache when its epilogue reads it.
  work.block_bytes = (int64_t{96} << 10) / sizes.groups;
  // Each piece reads all weights: from the second-level cache if they fit there.
  constexpr int64_t kCachedWeights = int64_t{256} << 10;
  work.least_rows = sizes.w_elements() * 4 > kCachedWeights ? 192 : 48;
  work.rows_multiple = rows_;
  const PanelBlocks parts = CutIntoPanelBlocks(work);
  piece_ = parts.rows;
  block_features_ = parts.columns * sizes.groups;
  blocks_ = DivideUp(sizes.features, block_features_);
  tasks_ = parts.count;
  groups_ = parts.groups;
  areas_ = ScratchAreas(device, groups_);
}

llvm::Error PanelConv::Prepare(const PrepareContext& context) {
  const int64_t bytes = sizes_.groups * panel_words() * 4;
  const bool makes_pairs = words_ == WordKind::kBf16Pairs;
  // Pairs are cut at the ends of runs.
  const std::string layout =
      llvm::formatv("conv-panels-{0}-{1}-{2}", columns_, sizes_.groups, makes_pairs ? runs_ : 0)
          .str();
  auto packed = PackConstantWeight(context, layout, bytes, [&](const float* w, float* to) {
    makes_pairs ? PackPairs(w, to) : Pack(w, to);
  });
  if (!packed) return packed.takeError();
  packed_ = std::move(*packed);
  reads_w_ = false;
  const int64_t length = piece_;
  runs_bytes_ = RoundUp(RoundUp(length, rows_) * runs_ * static_cast<int64_t>(sizeof(float*)), 64);
  int64_t copies = 0;
  if (joins_columns_) {
    // The windows of a row that are partly outside, and the rows of a piece.
    const WindowDim& d = sizes_.window.d[2];
    int64_t in_row = 0;
    for (int64_t o = 0; o < d.out; ++o)
      in_row += !d.Has(d.At(o, 0)) || !d.Has(d.At(o, d.kernel - 1));
    copies = std::min(length, (DivideUp(length, d.out) + 1) * in_row) * depth();
  }
  scratch_bytes_ = runs_bytes_ + RoundUp(copies * 4, 64);
  rows_at_ = scratch_bytes_;
  scratch_bytes_ += RoundUp(PanelScratchBytes(length, block_features_ / sizes_.groups, words_), 64);
  workspace_bytes_ = areas_ * scratch_bytes_;
  return llvm::Error::success();
}

void PanelConv::Pack(const float* w, float* to) const {
  const int64_t kernel = sizes_.window.kernel(), channels = sizes_.group_channels();
  const int64_t features = sizes_.group_features();
  for (int64_t group = 0; group < sizes_.groups; ++group) {
    for (int64_t first = 0; first < features; first += columns_) {
      const int64_t count = std::min(columns_, features - first);
      if (count < columns_) std::fill_n(to, depth() * columns_, 0.0f);
      for (int64_t j = 0; j < count; ++j) {
        const float* from = w + (group * features + first + j) * channels * kernel;
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t k = 0; k < kernel; ++k) {
            to[(k * channels + c) * columns_ + j] = from[c * kernel + k];
          }
        }
      }
      to += depth() * columns_;
    }
  }
}

void PanelConv::PackPairs(const float* w, float* to) const {
  const int64_t kernel = sizes_.window.kernel(), channels = sizes_.group_channels();
  const int64_t features = sizes_.group_features();
  std::vector<float> rows(static_cast<size_t>(2 * columns_));
  float *const first = rows.data(), *const second = first + columns_;
  for (int64_t group = 0; group < sizes_.groups; ++group) {
    for (int64_t panel = 0; panel < features; panel += columns_) {
      const int64_t count = std::min(columns_, features - panel);
      const float* const of_panel = w + (group * features + panel) * channels * kernel;
      const auto read = [&](int64_t at, float* row) {
        const float* from = of_panel + at % channels * kernel + at / channels;
        for (int64_t j = 0; j < count; ++j) row[j] = from[j * channels * kernel];
      };
      for (int64_t run = 0; run < runs_; ++run) {
        for (int64_t i = 0; i < run_length_; i += 2, to += columns_) {
          const bool is_complete = i + 1 < run_length_;
          read(run * run_length_ + i, first);
          if (is_complete) read(run * run_length_ + i + 1, second);
          ToBf16PairsOfRows(first, is_complete ? second : nullptr, columns_, to);
        }
      }
    }
  }
}

// The run of all columns of a window that begins at `column`.
const float* PanelConv::JoinedRun(const float* row, int64_t column, float** copies) const {
  const WindowDim& d = sizes_.window.d[2];
  const int64_t begin = std::max<int64_t>(column, 0), end = std::min(column + d.kernel, d.in);
  if (begin >= end) return zeros_.data();
  float* copy = *copies;
  *copies += run_length_;
  std::fill_n(copy, run_length_, 0.0f);
  std::copy_n(row + begin * sizes_.channels, (end - begin) * sizes_.channels,
              copy + (begin - column) * sizes_.channels);
  return copy;
}

void PanelConv::FindRunsOfRow(const float* row, int64_t first, int64_t last, RunPointers to,
                              float** copies) const {
  const WindowDim& d = sizes_.window.d[2];
  const int64_t of_row = joins_columns_ ? 1 : d.kernel, channels = sizes_.channels;
  const int64_t of_window = d.stride * channels, of_column = d.dilation * channels;
  int64_t block = 0, in_block = to.row;
  const auto next = [&] {
    const float** pointers = to.block + block + in_block;
    if (++in_block == rows_) {
      in_block = 0;
      block += rows_ * runs_;
    }
    return pointers;
  };
  for (int64_t o = first; o < last;) {
    const int64_t column = d.At(o, 0), columns_after = d.in - 1 - d.At(o, d.kernel - 1);
    if (row != nullptr && column >= 0 && columns_after >= 0) {
      // All windows up to the first one that is partly outside.
      const int64_t count = std::min(last - o, columns_after / d.stride + 1);
      const float* x = row + column * channels;
      for (int64_t i = 0; i < count; ++i) {
        const float** pointers = next();
        *pointers = x + i * of_window;
        for (int64_t k = 1; k < of_row; ++k)
          pointers[k * rows_] = x + i * of_window + k * of_column;
      }
      o += count;
      continue;
    }
    const float** pointers = next();
    if (row != nullptr && joins_columns_) {
      *pointers = JoinedRun(row, column, copies);
    } else {
      for (int64_t k = 0; k < of_row; ++k) {
        const int64_t at = d.At(o, k);
        const bool is_inside = row != nullptr && d.Has(at);
        pointers[k * rows_] = is_inside ? row + at * channels : zeros_.data();
      }
    }
    ++o;
  }
}

void PanelConv::FindRuns(const float* x, int64_t first, int64_t last, const float** runs,
                         float* copies) const {
  if (is_pointwise_) {
    for (int64_t position = first; position < last; ++position)
      runs[position - first] = x + position * sizes_.channels;
    return;
  }
  const WindowDim* d = sizes_.window.d;
  const int64_t row_elements = d[2].in * sizes_.channels;
  const int64_t of_row = joins_columns_ ? 1 : d[2].kernel;
  RunPointers to{runs, 0};
  while (first < last) {
    // The rest of a row of y.
    const int64_t column = first % d[2].out, row = first / d[2].out;
    const int64_t o1 = row % d[1].out, o0 = row / d[1].out % d[0].out;
    const float* image = x + row / d[1].out / d[0].out * sizes_.window.in() * sizes_.channels;
    const int64_t count = std::min(d[2].out - column, last - first);
    RunPointers of_kernel = to;
    for (int64_t k0 = 0; k0 < d[0].kernel; ++k0) {
      const int64_t i0 = d[0].At(o0, k0);
      for (int64_t k1 = 0; k1 < d[1].kernel; ++k1, of_kernel.block += of_row * rows_) {
        const int64_t i1 = d[1].At(o1, k1);
        const bool is_inside = d[0].Has(i0) && d[1].Has(i1);
        FindRunsOfRow(is_inside ? image + (i0 * d[1].in + i1) * row_elements : nullptr, column,
                      column + count, of_kernel, &copies);
      }
    }
    to = Advance(to, count);
    first += count;
  }
}

void PanelConv::Run(const Tensor& x, const Tensor&, void* y, void* workspace, CPUContext& context,
                    const RegisterEpilogue& epilogue,
                    llvm::function_ref<void(const OutputPiece&)> then) const {
  const float* packed = static_cast<const float*>(packed_.get());
  const int64_t positions = sizes_.batch * sizes_.window.out();
  ParallelForAreas(context, groups_, areas_, [&](int64_t group, int64_t area) {
    char* scratch = static_cast<char*>(workspace) + area * scratch_bytes_;
    const int64_t end = tasks_ * (group + 1) / groups_;
    for (int64_t task = tasks_ * group / groups_; task < end; ++task) {
      const float** runs = reinterpret_cast<const float**>(scratch);
      const int64_t first = task / blocks_ * piece_;
      const int64_t feature = task % blocks_ * block_features_;
      const int64_t last = std::min(positions, first + piece_);
      FindRuns(x.data<float>(), first, last, runs, reinterpret_cast<float*>(scratch + runs_bytes_));
      PanelGemm g;
      g.rows = last - first;
      g.columns = std::min(block_features_, sizes_.features - feature) / sizes_.groups;
      g.runs = runs_;
      g.run_length = run_length_;
      g.runs_of_a = runs;
      g.words = words_;
      g.c_row = sizes_.features;
      if (PanelScratchBytes(g.rows, g.columns, words_) > 0)
        g.scratch = reinterpret_cast<float*>(scratch + rows_at_);
      g.epilogue = epilogue;
      const int64_t y_at = first * sizes_.features + feature;
      for (int64_t part = 0; part < sizes_.groups; ++part) {
        g.a_offset = part * sizes_.group_channels();
        g.b = packed + part * panel_words() + feature * depth_words();
        g.c = static_cast<float*>(y) + y_at + part * g.columns;
        if (epilogue.bias != nullptr) g.epilogue.bias = epilogue.bias + feature + part * g.columns;
        RunPanelGemm(g);
      }
      if (then) then({y_at, g.rows, g.columns * sizes_.groups, sizes_.features});
    }
  });
}

// Weights of half the size gain nothing: windows are not so few that reading the weights takes most
// of the time. A panel of fewer features would consist of zeros for the most part.
WordKind ChoosePanelWords(const PrepareContext& context, const ConvSizes& sizes) {
  const bool fills_panel = sizes.group_features() >= PanelColumns();
  return fills_panel && ChooseWords(context) == WordKind::kBf16Pairs ? WordKind::kBf16Pairs
                                                                     : WordKind::kFloat;
}

}  // namespace

bool SuitsPanelConv(const PrepareContext& context, const ConvSizes& sizes) {
  // With AVX-512, oneDNN's own kernel is faster than reading larger windows for few features in
  // place, and for groups that do not fill a panel.
  if (CurrentIsa() != Isa::kAvx512 || IsPointwise(sizes)) return true;
  if (sizes.groups > 1) return sizes.group_features() >= PanelColumns();
  return PanelScratchBytes(sizes.batch * sizes.window.out(), sizes.features,
                           ChoosePanelWords(context, sizes)) > 0;
}

llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakePanelConv(const PrepareContext& context,
                                                                      const ConvSizes& sizes) {
  auto conv =
      std::make_shared<PanelConv>(sizes, ChoosePanelWords(context, sizes), context.device());
  if (llvm::Error error = conv->Prepare(context)) return error;
  return conv;
}

}  // namespace pdl
