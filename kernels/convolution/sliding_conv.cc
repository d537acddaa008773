// Depthwise and grouped convolutions with channels last: each register of features is summed over
// its window, for several neighboring windows at once, so that an element of x is loaded once for
// all windows that it belongs to.
#include <algorithm>
#include <vector>

#include "kernels/convolution/channels_last_conv.h"
#include "kernels/convolution/packed_weight.h"
#include "kernels/core/cpu_isa.h"
#include "kernels/core/register_epilogue.h"
#include "kernels/core/registers.h"
#include "kernels/core/rounding.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

// How a register of features reads x, for each of `steps` channels of its groups.
enum class Reads {
  kLanes,  // depthwise: one channel for each feature
  kQuads,  // groups of four channels and four features: each channel for four features
  kGroup,  // one group: each channel for all features
};

// The rows of a window that are inside the image.
struct TapRow {
  const float* x;  // of the first column of the image
  const float* w;  // of the first column of the kernel, for the first feature
};

// A run of output columns of one row, for some registers of features.
struct ColumnRun {
  const TapRow* taps = nullptr;
  int64_t num_taps = 0;
  WindowDim window;      // along the row
  int64_t channels = 0;  // elements between columns of x
  int64_t features = 0;  // elements between columns of y
  int64_t steps = 1;     // channels of a group
  int64_t group_features = 1;
  int64_t begin = 0, end = 0;   // columns
  int64_t first = 0, last = 0;  // registers
  int64_t w_register = 0;       // elements of w for a register
  float* y = nullptr;           // of column 0
  RegisterEpilogue epilogue;
};

using ColumnRunFunction = void (*)(const ColumnRun& run);

template <class R>
struct Operand {
  using V = typename R::V;
  // Channel `step` of the groups; x points to the first channel of the register's groups.
  template <Reads kReads>
  static PDL_INLINE V Load(const float* x, int64_t step) {
    if constexpr (kReads == Reads::kLanes) {
      return R::Load(x);
    } else if constexpr (kReads == Reads::kGroup) {
      return R::Set(x[step]);
    } else {
      const V four = R::Load(x);
      switch (step) {
        case 0:
          return R::template SplatInQuads<0>(four);
        case 1:
          return R::template SplatInQuads<1>(four);
        case 2:
          return R::template SplatInQuads<2>(four);
        default:
          return R::template SplatInQuads<3>(four);
      }
    }
  }
};

// kKernel is the number of the kernel's columns and kStride the stride, both with dilation 1; any
// if kKernel is 0.
template <class R, Reads kReads, int kKernel, int kStride>
struct Sliding {
  using V = typename R::V;

  static PDL_INLINE int64_t Steps(const ColumnRun& run) {
    return kReads == Reads::kLanes ? 1 : kReads == Reads::kQuads ? 4 : run.steps;
  }

  // The registers of features that are computed together, where x and w of each begin.
  template <int kRegisters>
  struct Block {
    int64_t x[kRegisters], w[kRegisters], feature[kRegisters];
    float* y[kRegisters];

    PDL_INLINE Block(const ColumnRun& run, int64_t column, int64_t first) {
#pragma GCC unroll 4
      for (int r = 0; r < kRegisters; ++r) {
        // The last register overlaps the one before it.
        feature[r] = std::min((first + r) * R::kLanes, run.features - R::kLanes);
        x[r] = kReads == Reads::kGroup ? feature[r] / run.group_features * run.steps : feature[r];
        w[r] = (first + r) * run.w_register;
        y[r] = run.y + column * run.features + feature[r];
      }
    }
  };

  // kCount windows that are inside the image; `x` is the offset of the first one's first column.
  template <int kCount, int kRegisters>
  static PDL_INLINE void Windows(const ColumnRun& run, int64_t x, const Block<kRegisters>& block) {
    V sums[kRegisters][kCount];
#pragma GCC unroll 4
    for (int r = 0; r < kRegisters; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) sums[r][i] = R::Set(0.0f);
    }
    const int64_t steps = Steps(run);
    for (int64_t tap = 0; tap < run.num_taps; ++tap) {
      const float* from = run.taps[tap].x + x;
      const float* weights = run.taps[tap].w;
#pragma GCC unroll 4
      for (int64_t step = 0; step < steps; ++step, weights += R::kLanes) {
#pragma GCC unroll 4
        for (int r = 0; r < kRegisters; ++r) {
          if constexpr (kKernel == 0) {
            AddColumns<kCount>(run, from + block.x[r], weights + block.w[r], step,
                               run.window.kernel, sums[r]);
          } else {
            AddKernel<kCount>(run, from + block.x[r], weights + block.w[r], step, sums[r]);
          }
        }
      }
    }
    simd::VisitEpilogue(run.epilogue,
                        [&]<bool kHasBias, RegisterActivation::Kind kActivation>()
                            __attribute__((always_inline)) {
#pragma GCC unroll 4
                              for (int r = 0; r < kRegisters; ++r) {
#pragma GCC unroll 8
                                for (int i = 0; i < kCount; ++i)
                                  R::Store(block.y[r] + i * run.features,
                                           simd::ApplyEpilogue<R, kHasBias, kActivation>(
                                               run.epilogue, sums[r][i], block.feature[r]));
                              }
                            });
  }

  // Adds a row of a kernel of kKernel columns.
  template <int kCount>
  static PDL_INLINE void AddKernel(const ColumnRun& run, const float* x, const float* w,
                                   int64_t step, V* sums) {
    V right[kKernel + 1];
#pragma GCC unroll 8
    for (int k = 0; k < kKernel; ++k) right[k] = R::Load(w + k * Steps(run) * R::kLanes);
#pragma GCC unroll 32
    for (int column = 0; column < (kCount - 1) * kStride + kKernel; ++column) {
      const V left = Operand<R>::template Load<kReads>(x + column * run.channels, step);
#pragma GCC unroll 8
      for (int k = 0; k < kKernel; ++k) {
        const int i = (column - k) / std::max(kStride, 1);
        if (column >= k && (column - k) % std::max(kStride, 1) == 0 && i < kCount) {
          sums[i] = R::MulAdd(left, right[k], sums[i]);
        }
      }
    }
  }

  // Adds `count` columns of a row of any kernel.
  template <int kCount>
  static PDL_INLINE void AddColumns(const ColumnRun& run, const float* x, const float* w,
                                    int64_t step, int64_t count, V* sums) {
    const int64_t of_column = run.window.dilation * run.channels;
    const int64_t of_window = run.window.stride * run.channels;
    const int64_t w_column = Steps(run) * R::kLanes;
    for (int64_t k = 0; k < count; ++k, x += of_column, w += w_column) {
      const V right = R::Load(w);
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) {
        sums[i] =
            R::MulAdd(Operand<R>::template Load<kReads>(x + i * of_window, step), right, sums[i]);
      }
    }
  }

  // A window that may be partly or completely outside of the image.
  template <int kRegisters>
  static PDL_INLINE void AtBorder(const ColumnRun& run, int64_t o, const Block<kRegisters>& block) {
    const WindowDim& d = run.window;
    int64_t begin = 0, end = d.kernel;
    while (begin < end && d.At(o, begin) < 0) ++begin;
    while (begin < end && d.At(o, end - 1) >= d.in) --end;
    V sums[kRegisters];
#pragma GCC unroll 4
    for (int r = 0; r < kRegisters; ++r) sums[r] = R::Set(0.0f);
    const int64_t num_taps = begin < end ? run.num_taps : 0;
    const int64_t of_column = d.dilation * run.channels, w_column = Steps(run) * R::kLanes;
    for (int64_t tap = 0; tap < num_taps; ++tap) {
      for (int64_t step = 0; step < Steps(run); ++step) {
        const float* from = run.taps[tap].x + d.At(o, begin) * run.channels;
        const float* weights = run.taps[tap].w + begin * w_column + step * R::kLanes;
        for (int64_t k = begin; k < end; ++k, from += of_column, weights += w_column) {
#pragma GCC unroll 4
          for (int r = 0; r < kRegisters; ++r) {
            sums[r] = R::MulAdd(Operand<R>::template Load<kReads>(from + block.x[r], step),
                                R::Load(weights + block.w[r]), sums[r]);
          }
        }
      }
    }
    simd::VisitEpilogue(run.epilogue,
                        [&]<bool kHasBias, RegisterActivation::Kind kActivation>()
                            __attribute__((always_inline)) {
#pragma GCC unroll 4
                              for (int r = 0; r < kRegisters; ++r)
                                R::Store(block.y[r], simd::ApplyEpilogue<R, kHasBias, kActivation>(
                                                         run.epilogue, sums[r], block.feature[r]));
                            });
  }

  // Some neighboring windows, for all registers of the run. Together they are enough sums to hide
  // the latency of multiply-adds.
  template <int kCount>
  static PDL_INLINE void Registers(const ColumnRun& run, int64_t column) {
    constexpr int kTogether = kCount >= 4 ? 1 : kCount == 2 ? 2 : 4;
    const int64_t x = run.window.At(column, 0) * run.channels;
    int64_t r = run.first;
    for (; r + kTogether <= run.last; r += kTogether) {
      Windows<kCount>(run, x, Block<kTogether>(run, column, r));
    }
    if constexpr (kTogether > 1) {
      for (; r < run.last; ++r) Windows<kCount>(run, x, Block<1>(run, column, r));
    }
  }
  static PDL_INLINE void BorderRegisters(const ColumnRun& run, int64_t column) {
    int64_t r = run.first;
    for (; r + 4 <= run.last; r += 4) AtBorder(run, column, Block<4>(run, column, r));
    for (; r < run.last; ++r) AtBorder(run, column, Block<1>(run, column, r));
  }

  static PDL_INLINE void Run(const ColumnRun& run) {
    const WindowDim& d = run.window;
    constexpr int kMost = kKernel > 5 || kKernel == 0 ? 4 : 8;
    int64_t column = run.begin;
    while (column < run.end) {
      const auto are_inside = [&](int64_t count) {
        return column + count <= run.end && d.At(column, 0) >= 0 &&
               d.At(column + count - 1, d.kernel - 1) < d.in;
      };
      if (kMost == 8 && are_inside(8)) {
        Registers<kMost>(run, column);
        column += kMost;
      } else if (are_inside(4)) {
        Registers<4>(run, column);
        column += 4;
      } else if (are_inside(2)) {
        Registers<2>(run, column);
        column += 2;
      } else {
        if (are_inside(1)) {
          Registers<1>(run, column);
        } else {
          BorderRegisters(run, column);
        }
        ++column;
      }
    }
  }
};

template <Reads kReads, int kKernel, int kStride>
struct Form {
  template <class R>
  struct Loop {
    static PDL_INLINE void Run(const ColumnRun& run) {
      Sliding<R, kReads, kKernel, kStride>::Run(run);
    }
  };
  static ColumnRunFunction Get() { return ChooseRegister<float, Loop>(); }
};

ColumnRunFunction DepthwiseForm(const WindowDim& d) {
  if (d.dilation == 1 && d.stride == 1) {
    if (d.kernel == 3) return Form<Reads::kLanes, 3, 1>::Get();
    if (d.kernel == 5) return Form<Reads::kLanes, 5, 1>::Get();
  }
  if (d.dilation == 1 && d.stride == 2) {
    if (d.kernel == 3) return Form<Reads::kLanes, 3, 2>::Get();
    if (d.kernel == 5) return Form<Reads::kLanes, 5, 2>::Get();
  }
  return Form<Reads::kLanes, 0, 0>::Get();
}

template <Reads kReads>
ColumnRunFunction GroupedForm(const WindowDim& d) {
  return d.stride == 1 ? Form<kReads, 3, 1>::Get() : Form<kReads, 3, 2>::Get();
}

template <class R>
struct LanesLoop {
  static PDL_INLINE int64_t Run() { return R::kLanes; }
};

class SlidingConv : public ChannelsLastConv {
 public:
  explicit SlidingConv(const ConvSizes& sizes);
  llvm::Error Prepare(const PrepareContext& context);
  void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
           const RegisterEpilogue& epilogue,
           llvm::function_ref<void(const OutputPiece&)> then) const override;

 private:
  int64_t w_register() const { return sizes_.window.kernel() * steps_ * lanes_; }
  // Packs w as [register][kernel position][channel of the group][feature of the register].
  void Pack(const float* w, float* to) const;
  // Computes rows [first, last) of all images, for some registers.
  void RunRows(const float* x, const float* w, float* y, int64_t first, int64_t last,
               ColumnRun& run, TapRow* taps) const;

  ConvSizes sizes_;
  const int64_t lanes_ = RegisterFloats();
  int64_t steps_ = 1, registers_ = 1;
  ColumnRunFunction function_ = nullptr;
  PositionPieces pieces_;  // of rows
  std::shared_ptr<const void> packed_;
  int64_t taps_at_ = 0, taps_bytes_ = 0;
};

SlidingConv::SlidingConv(const ConvSizes& sizes) : sizes_(sizes) {
  has_register_epilogue_ = true;
  steps_ = sizes.group_channels();
  registers_ = DivideUp(sizes.features, lanes_);
  const WindowDim* d = sizes.window.d;
  function_ = sizes.group_features() == 1   ? DepthwiseForm(d[2])
              : sizes.group_features() == 4 ? GroupedForm<Reads::kQuads>(d[2])
                                            : GroupedForm<Reads::kGroup>(d[2]);
  pieces_ = PositionPieces::Cut(sizes.batch * d[0].out * d[1].out, d[2].out * sizes.features,
                                sizes.work(), 1);
}

llvm::Error SlidingConv::Prepare(const PrepareContext& context) {
  const int64_t bytes = registers_ * w_register() * 4;
  const std::string layout = llvm::formatv("conv-registers-{0}-{1}", lanes_, steps_).str();
  auto packed =
      PackConstantWeight(context, layout, bytes, [&](const float* w, float* to) { Pack(w, to); });
  if (!packed) return packed.takeError();
  packed_ = std::move(*packed);
  reads_w_ = packed_ == nullptr;
  if (packed_ == nullptr) {
    taps_at_ = RoundUp(bytes, 64);
  }
  const WindowDim* d = sizes_.window.d;
  taps_bytes_ = RoundUp(d[0].kernel * d[1].kernel * static_cast<int64_t>(sizeof(TapRow)), 64);
  workspace_bytes_ = taps_at_ + pieces_.count * taps_bytes_;
  return llvm::Error::success();
}

void SlidingConv::Pack(const float* w, float* to) const {
  const int64_t kernel = sizes_.window.kernel();
  for (int64_t r = 0; r < registers_; ++r, to += w_register()) {
    const int64_t first = std::min(r * lanes_, sizes_.features - lanes_);
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      const float* from = w + (first + lane) * steps_ * kernel;
      for (int64_t step = 0; step < steps_; ++step) {
        for (int64_t k = 0; k < kernel; ++k) {
          to[(k * steps_ + step) * lanes_ + lane] = from[step * kernel + k];
        }
      }
    }
  }
}

void SlidingConv::RunRows(const float* x, const float* w, float* y, int64_t first, int64_t last,
                          ColumnRun& run, TapRow* taps) const {
  const WindowDim* d = sizes_.window.d;
  const int64_t row_elements = d[2].in * sizes_.channels;
  const int64_t w_row = d[2].kernel * steps_ * lanes_;
  for (int64_t row = first; row < last; ++row) {
    const int64_t o1 = row % d[1].out, o0 = row / d[1].out % d[0].out;
    const float* image = x + row / (d[1].out * d[0].out) * d[0].in * d[1].in * row_elements;
    int64_t count = 0;
    for (int64_t k0 = 0; k0 < d[0].kernel; ++k0) {
      for (int64_t k1 = 0; k1 < d[1].kernel; ++k1) {
        const int64_t i0 = d[0].At(o0, k0), i1 = d[1].At(o1, k1);
        if (!d[0].Has(i0) || !d[1].Has(i1)) continue;
        taps[count].x = image + (i0 * d[1].in + i1) * row_elements;
        taps[count].w = w + (k0 * d[1].kernel + k1) * w_row;
        ++count;
      }
    }
    run.num_taps = count;
    run.y = y + row * d[2].out * sizes_.features;
    function_(run);
  }
}

void SlidingConv::Run(const Tensor& x, const Tensor& w, void* y, void* workspace_raw,
                      CPUContext& context, const RegisterEpilogue& epilogue,
                      llvm::function_ref<void(const OutputPiece&)> then) const {
  char* workspace = static_cast<char*>(workspace_raw);
  const float* packed = static_cast<const float*>(packed_.get());
  if (packed == nullptr) {
    float* to = reinterpret_cast<float*>(workspace);
    Pack(w.data<float>(), to);
    packed = to;
  }
  // Weights of these registers stay in the first-level cache.
  constexpr int64_t kCachedFloats = 3072;
  const int64_t together = std::max<int64_t>(1, kCachedFloats / w_register());
  const WindowDim* d = sizes_.window.d;
  const int64_t rows = sizes_.batch * d[0].out * d[1].out, row = d[2].out * sizes_.features;
  context.ParallelFor(pieces_.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece * pieces_.length, last = std::min(rows, first + pieces_.length);
      ColumnRun run;
      TapRow* taps = reinterpret_cast<TapRow*>(workspace + taps_at_ + piece * taps_bytes_);
      run.taps = taps;
      run.window = d[2];
      run.channels = sizes_.channels;
      run.features = sizes_.features;
      run.steps = steps_;
      run.group_features = sizes_.group_features();
      run.end = d[2].out;
      run.w_register = w_register();
      run.epilogue = epilogue;
      for (run.first = 0; run.first < registers_; run.first = run.last) {
        run.last = std::min(registers_, run.first + together);
        RunRows(x.data<float>(), packed, static_cast<float*>(y), first, last, run, taps);
      }
      if (then) then({first * row, 1, (last - first) * row, (last - first) * row});
    }
  });
}

}  // namespace

int64_t RegisterFloats() { return ChooseRegister<float, LanesLoop>()(); }

bool SuitsSlidingConv(const ConvSizes& sizes) {
  const int64_t lanes = RegisterFloats(), features = sizes.group_features();
  const WindowDim& d = sizes.window.d[2];
  if (sizes.features < lanes) return false;
  if (sizes.group_channels() == 1 && features == 1) return true;
  // A window of several columns loads x less often than a matmul does.
  const bool slides = d.kernel == 3 && d.dilation == 1 && d.stride <= 2;
  if (!slides || sizes.groups == 1) return false;
  if (sizes.group_channels() == 4 && features == 4) return true;
  // With AVX-512, oneDNN's own kernel is faster.
  return features == lanes && CurrentIsa() != Isa::kAvx512;
}

llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakeSlidingConv(
    const PrepareContext& context, const ConvSizes& sizes) {
  auto conv = std::make_shared<SlidingConv>(sizes);
  if (llvm::Error error = conv->Prepare(context)) return error;
  return conv;
}

}  // namespace pdl
