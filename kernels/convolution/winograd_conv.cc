// Convolutions with 3x3 windows and channels last by Winograd's algorithm F(4x4, 3x3): Lavin &
// Gray, Fast Algorithms for Convolutional Neural Networks, arXiv:1509.09308.
//
// y is cut into tiles of 4x4 positions. The 6x6 positions of x that a tile depends on, and the
// weights, are transformed; a transformed tile has 36 elements for each feature, each of which is a
// dot product over the channels: 36 matmuls of tiles and weights, with a quarter of the
// multiplications.
//
// The points of the transform are 0, a, -a, b, -b and infinity. With a = 5/8 and b = 3/2, which
// were found by search, results have a third of the error that they have with the usual 1 and 2.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/convolution/channels_last_conv.h"
#include "kernels/convolution/packed_weight.h"
#include "kernels/core/register_epilogue.h"
#include "kernels/core/registers.h"
#include "kernels/core/rounding.h"
#include "kernels/core/scratch_areas.h"
#include "kernels/linear/gemm.h"
#include "kernels/linear/panel_gemm.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/context_threads.h"

namespace pdl {
namespace {

constexpr float kA = 0.625f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB;
constexpr int64_t kTile = 4, kPatch = 6, kPoints = kPatch * kPatch;
constexpr int64_t kMaxGroups = 16;
// A matmul of fewer tiles reads the weights too often.
constexpr int64_t kLeastTiles = 28;
// Transformed tiles are written and read in the second-level cache if there are enough of them.
constexpr int64_t kCachedFloats = int64_t{1} << 17;
constexpr int64_t kBlockFeatures = 32;
constexpr int64_t kLineFloats = 16;  // of a cache line

/// A 6x6 patch of x, with channels last.
struct Patch {
  const float* x;
  int64_t row, column;  // elements between rows and columns
  int64_t channels;     // a multiple of the lanes of a register
  float* to;            // point t of channel c: to[t * plane + c]
  int64_t plane;
};

template <class R>
struct TransformPatchLoop {
  using V = typename R::V;

  /// The coefficients of x, to the power of the index, in the product of x - p over all points p
  /// but one.
  static PDL_INLINE void Transform(const V* d, V* to, int64_t step) {
    const V sum = R::Set(-(kA2 + kB2)), product = R::Set(kA2 * kB2);
    const V even_a = R::MulAdd(R::Set(-kB2), d[2], d[4]),
            odd_a = R::MulAdd(R::Set(-kB2), d[1], d[3]);
    const V even_b = R::MulAdd(R::Set(-kA2), d[2], d[4]),
            odd_b = R::MulAdd(R::Set(-kA2), d[1], d[3]);
    to[0] = R::MulAdd(product, d[0], R::MulAdd(sum, d[2], d[4]));
    to[step] = R::MulAdd(R::Set(kA), odd_a, even_a);
    to[2 * step] = R::MulAdd(R::Set(-kA), odd_a, even_a);
    to[3 * step] = R::MulAdd(R::Set(kB), odd_b, even_b);
    to[4 * step] = R::MulAdd(R::Set(-kB), odd_b, even_b);
    to[5 * step] = R::MulAdd(product, d[1], R::MulAdd(sum, d[3], d[5]));
  }

  static PDL_INLINE void Run(const Patch& p) {
    for (int64_t c = 0; c < p.channels; c += R::kLanes) {
      V columns[kPoints], rows[kPatch];
      for (int64_t j = 0; j < kPatch; ++j) {
        V from[kPatch];
        for (int64_t i = 0; i < kPatch; ++i) from[i] = R::Load(p.x + i * p.row + j * p.column + c);
        Transform(from, columns + j, kPatch);
      }
      for (int64_t i = 0; i < kPatch; ++i) {
        Transform(columns + i * kPatch, rows, 1);
        for (int64_t j = 0; j < kPatch; ++j)
          R::Store(p.to + (i * kPatch + j) * p.plane + c, rows[j]);
      }
    }
  }
};

/// A 4x4 tile of y, with channels last, of which some rows and columns may be outside.
struct Tile {
  const float* points;  // point t of feature f: points[t * plane + f]
  int64_t plane;
  int64_t features;  // a multiple of the lanes of a register
  float* y;
  int64_t row, column;    // elements between rows and columns
  int64_t rows, columns;  // inside
  RegisterEpilogue epilogue;
};

template <class R>
struct TransformTileLoop {
  using V = typename R::V;

  /// The sums over the points p of m(p) p^i, for each i < 4.
  static PDL_INLINE void Transform(const V* m, V* to, int64_t step) {
    const V sum_a = R::Add(m[1], m[2]), difference_a = R::Sub(m[1], m[2]);
    const V sum_b = R::Add(m[3], m[4]), difference_b = R::Sub(m[3], m[4]);
    to[0] = R::Add(m[0], R::Add(sum_a, sum_b));
    to[step] = R::MulAdd(R::Set(kB), difference_b, R::Mul(R::Set(kA), difference_a));
    to[2 * step] = R::MulAdd(R::Set(kB2), sum_b, R::Mul(R::Set(kA2), sum_a));
    to[3 * step] =
        R::MulAdd(R::Set(kB * kB2), difference_b, R::MulAdd(R::Set(kA * kA2), difference_a, m[5]));
  }

  static PDL_INLINE void Run(const Tile& t) {
    for (int64_t f = 0; f < t.features; f += R::kLanes) {
      V columns[kTile * kPatch], rows[kTile];
      for (int64_t j = 0; j < kPatch; ++j) {
        V from[kPatch];
        for (int64_t i = 0; i < kPatch; ++i)
          from[i] = R::Load(t.points + (i * kPatch + j) * t.plane + f);
        Transform(from, columns + j, kPatch);
      }
      for (int64_t i = 0; i < t.rows; ++i) {
        Transform(columns + i * kPatch, rows, 1);
        float* to = t.y + i * t.row + f;
        simd::VisitEpilogue(
            t.epilogue,
            [&]<bool kHasBias, RegisterActivation::Kind kActivation>()
                __attribute__((always_inline)) {
                  for (int64_t j = 0; j < t.columns; ++j)
                    R::Store(to + j * t.column,
                             simd::ApplyEpilogue<R, kHasBias, kActivation>(t.epilogue, rows[j], f));
                });
      }
    }
  }
};

/// The distance of planes, so that the elements of a tile do not replace one another in a cache.
int64_t PlaneOf(int64_t elements) {
  const int64_t lines = DivideUp(elements, kLineFloats);
  return (lines | 1) * kLineFloats;
}

// If there are many tiles, tasks are rows of tiles. Few tiles are transformed first, and then tasks
// are blocks of features.
class WinogradConv : public ChannelsLastConv {
 public:
  WinogradConv(const ConvSizes& sizes, int64_t threads);
  llvm::Error Prepare(const PrepareContext& context);
  void Run(const Tensor& x, const Tensor& w, void* y, void* workspace, CPUContext& context,
           const RegisterEpilogue& epilogue,
           llvm::function_ref<void(const OutputPiece&)> then) const override;

 private:
  struct Range {
    int64_t begin = 0, end = 0;
    int64_t size() const { return end - begin; }
  };
  /// Transformed patches, and results of the matmuls, by point and tile.
  struct Scratch {
    float *patches, *points;
    float* border;       // a patch that is partly outside
    const float** rows;  // of patches
  };

  // Packs the transformed weights as [point][panel][channel][feature of the panel].
  void Pack(const float* w, float* to) const;
  // `tiles` are numbered over all images; the first of scratch.patches is `first`.
  void TransformPatches(const float* x, Range tiles, int64_t first, const Scratch& scratch) const;
  void Multiply(int64_t count, Range features, const Scratch& scratch) const;
  void TransformTiles(float* y, Range tiles, Range features, const Scratch& scratch,
                      const RegisterEpilogue& epilogue) const;
  void RunByTiles(const float* x, float* y, char* workspace, CPUContext& context,
                  const RegisterEpilogue& epilogue,
                  llvm::function_ref<void(const OutputPiece&)> then) const;
  void RunByFeatures(const float* x, float* y, char* workspace, CPUContext& context,
                     const RegisterEpilogue& epilogue,
                     llvm::function_ref<void(const OutputPiece&)> then) const;
  int64_t all_tile_rows() const { return sizes_.batch * tile_rows_; }
  int64_t patch_plane() const { return PlaneOf(most_tiles_ * sizes_.channels); }

  ConvSizes sizes_;
  const int64_t panel_columns_ = PanelColumns();
  int64_t tile_columns_ = 1, tile_rows_ = 1;  // of an image
  int64_t tasks_ = 1, groups_ = 1;            // of rows of tiles
  int64_t areas_ = 1;                         // of scratch memory
  int64_t most_tiles_ = 1;                    // that are multiplied together
  int64_t blocks_ = 1, block_features_ = 0;   // which are the tasks if tasks_ is 1
  std::shared_ptr<const void> packed_;
  int64_t scratch_bytes_ = 0;  // of an area
  int64_t points_at_ = 0, points_bytes_ = 0, border_at_ = 0, border_bytes_ = 0, rows_at_ = 0;
};

WinogradConv::WinogradConv(const ConvSizes& sizes, int64_t threads) : sizes_(sizes) {
  has_register_epilogue_ = true;
  const WindowDim* d = sizes.window.d;
  tile_rows_ = DivideUp(d[1].out, kTile);
  tile_columns_ = DivideUp(d[2].out, kTile);
  const int64_t rows = all_tile_rows(), tiles = rows * tile_columns_;
  // An even number of tasks suits most numbers of threads.
  tasks_ = std::clamp<int64_t>(tiles / kLeastTiles & ~int64_t{1}, 1, rows);
  // Each group needs scratch memory; with four for each thread, no thread waits long for another.
  if (threads > 1) groups_ = std::min({tasks_, kMaxGroups, 4 * threads});
  block_features_ = sizes.features;
  if (tasks_ == 1) {
    most_tiles_ = tiles;
    blocks_ = std::clamp<int64_t>(sizes.features / kBlockFeatures, 1, kMaxGroups);
    block_features_ = RoundUp(DivideUp(sizes.features, blocks_), panel_columns_);
    blocks_ = DivideUp(sizes.features, block_features_);
    return;
  }
  const int64_t in_task = DivideUp(rows, tasks_) * tile_columns_;
  most_tiles_ =
      std::max(kLeastTiles, kCachedFloats / (kPoints * (sizes.channels + sizes.features)));
  // In equal parts, of complete blocks of rows.
  most_tiles_ = DivideUp(in_task, DivideUp(in_task, most_tiles_));
  most_tiles_ = std::min(in_task, RoundUp(most_tiles_, PanelRows()));
}

llvm::Error WinogradConv::Prepare(const PrepareContext& context) {
  const int64_t panels = RoundUp(sizes_.features, panel_columns_) * sizes_.channels;
  const std::string layout = llvm::formatv("conv-winograd-{0}", panel_columns_).str();
  auto packed = PackConstantWeight(context, layout, kPoints * panels * 4,
                                   [&](const float* w, float* to) { Pack(w, to); });
  if (!packed) return packed.takeError();
  packed_ = std::move(*packed);
  reads_w_ = packed_ == nullptr;
  const auto take = [&](int64_t bytes) {
    const int64_t at = scratch_bytes_;
    scratch_bytes_ += RoundUp(bytes, 64);
    return at;
  };
  take(kPoints * patch_plane() * 4);
  points_bytes_ = kPoints * PlaneOf(most_tiles_ * block_features_) * 4;
  points_at_ = take(blocks_ * points_bytes_);
  border_bytes_ = RoundUp(kPoints * sizes_.channels * 4, 64);
  border_at_ = take((tasks_ == 1 ? all_tile_rows() : 1) * border_bytes_);
  rows_at_ = take(RoundUp(most_tiles_, PanelRows()) * static_cast<int64_t>(sizeof(float*)));
  areas_ = ScratchAreas(context.device(), groups_);
  workspace_bytes_ = areas_ * scratch_bytes_;
  return llvm::Error::success();
}

void WinogradConv::Pack(const float* w, float* to) const {
  // Of point p: 1, p and p^2, divided by the product of p - q over the other points q.
  constexpr double a = double{kA}, b = double{kB}, a2 = a * a, b2 = b * b;
  constexpr double of_a = 1 / (2 * a2 * (a2 - b2)), of_b = 1 / (2 * b2 * (b2 - a2));
  constexpr double kWeights[kPatch][3] = {{1 / (a2 * b2), 0, 0},        {of_a, a * of_a, a2 * of_a},
                                          {of_a, -a * of_a, a2 * of_a}, {of_b, b * of_b, b2 * of_b},
                                          {of_b, -b * of_b, b2 * of_b}, {0, 0, 1}};
  const int64_t channels = sizes_.channels;
  const int64_t plane = RoundUp(sizes_.features, panel_columns_) * channels;
  if (sizes_.features % panel_columns_ != 0) std::fill_n(to, kPoints * plane, 0.0f);
  for (int64_t f = 0; f < sizes_.features; ++f) {
    float* column = to + f / panel_columns_ * panel_columns_ * channels + f % panel_columns_;
    for (int64_t c = 0; c < channels; ++c, w += 9) {
      double half[kPatch][3];
      for (int64_t i = 0; i < kPatch; ++i)
        for (int64_t j = 0; j < 3; ++j)
          half[i][j] = kWeights[i][0] * static_cast<double>(w[j]) +
                       kWeights[i][1] * static_cast<double>(w[3 + j]) +
                       kWeights[i][2] * static_cast<double>(w[6 + j]);
      for (int64_t i = 0; i < kPatch; ++i)
        for (int64_t j = 0; j < kPatch; ++j)
          column[(i * kPatch + j) * plane + c * panel_columns_] =
              static_cast<float>(half[i][0] * kWeights[j][0] + half[i][1] * kWeights[j][1] +
                                 half[i][2] * kWeights[j][2]);
    }
  }
}

void WinogradConv::TransformPatches(const float* x, Range tiles, int64_t first,
                                    const Scratch& scratch) const {
  const auto transform = ChooseRegister<float, TransformPatchLoop>();
  const WindowDim &rows = sizes_.window.d[1], &columns = sizes_.window.d[2];
  const int64_t channels = sizes_.channels, image_elements = rows.in * columns.in * channels;
  Patch patch;
  patch.channels = patch.column = channels;
  patch.plane = patch_plane();
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const int64_t tile_row = tile / tile_columns_;
    const float* image = x + tile_row / tile_rows_ * image_elements;
    const int64_t row = rows.At(tile_row % tile_rows_ * kTile, 0);
    const int64_t column = columns.At(tile % tile_columns_ * kTile, 0);
    patch.to = scratch.patches + (tile - first) * channels;
    if (row >= 0 && column >= 0 && row + kPatch <= rows.in && column + kPatch <= columns.in) {
      patch.x = image + (row * columns.in + column) * channels;
      patch.row = columns.in * channels;
    } else {
      std::fill_n(scratch.border, kPoints * channels, 0.0f);
      const int64_t begin = std::max<int64_t>(column, 0);
      const int64_t end = std::min(column + kPatch, columns.in);
      for (int64_t r = std::max<int64_t>(row, 0); r < std::min(row + kPatch, rows.in); ++r)
        if (begin < end)
          std::copy_n(image + (r * columns.in + begin) * channels, (end - begin) * channels,
                      scratch.border + ((r - row) * kPatch + begin - column) * channels);
      patch.x = scratch.border;
      patch.row = kPatch * channels;
    }
    transform(patch);
  }
}

void WinogradConv::Multiply(int64_t count, Range features, const Scratch& scratch) const {
  PanelGemm g;
  g.rows = count;
  g.columns = features.size();
  g.run_length = sizes_.channels;
  g.runs_of_a = scratch.rows;
  g.b = static_cast<const float*>(packed_.get()) + features.begin * sizes_.channels;
  g.c = scratch.points;
  g.c_row = features.size();
  for (int64_t point = 0; point < kPoints; ++point) {
    RunPanelGemm(g);
    g.a_offset += patch_plane();
    g.b += RoundUp(sizes_.features, panel_columns_) * sizes_.channels;
    g.c += PlaneOf(most_tiles_ * features.size());
  }
}

void WinogradConv::TransformTiles(float* y, Range tiles, Range features, const Scratch& scratch,
                                  const RegisterEpilogue& epilogue) const {
  const auto transform = ChooseRegister<float, TransformTileLoop>();
  const WindowDim &rows = sizes_.window.d[1], &columns = sizes_.window.d[2];
  Tile to;
  to.plane = PlaneOf(most_tiles_ * features.size());
  to.features = features.size();
  to.column = sizes_.features;
  to.row = columns.out * sizes_.features;
  to.epilogue = epilogue;
  if (epilogue.bias != nullptr) to.epilogue.bias += features.begin;
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const int64_t tile_row = tile / tile_columns_;
    const int64_t row = tile_row % tile_rows_ * kTile, column = tile % tile_columns_ * kTile;
    to.points = scratch.points + (tile - tiles.begin) * to.features;
    to.y =
        y + (tile_row / tile_rows_ * rows.out + row) * to.row + column * to.column + features.begin;
    to.rows = std::min(kTile, rows.out - row);
    to.columns = std::min(kTile, columns.out - column);
    transform(to);
  }
}

void WinogradConv::RunByTiles(const float* x, float* y, char* workspace, CPUContext& context,
                              const RegisterEpilogue& epilogue,
                              llvm::function_ref<void(const OutputPiece&)> then) const {
  const int64_t rows = all_tile_rows();
  const WindowDim* d = sizes_.window.d;
  // The first element of y of a row of tiles.
  const auto begin_of = [&](int64_t row) {
    const int64_t y_row = row / tile_rows_ * d[1].out + row % tile_rows_ * kTile;
    return y_row * d[2].out * sizes_.features;
  };
  ParallelForAreas(context, groups_, areas_, [&](int64_t group, int64_t area) {
    char* own = workspace + area * scratch_bytes_;
    Scratch scratch;
    scratch.patches = reinterpret_cast<float*>(own);
    scratch.points = reinterpret_cast<float*>(own + points_at_);
    scratch.border = reinterpret_cast<float*>(own + border_at_);
    scratch.rows = reinterpret_cast<const float**>(own + rows_at_);
    for (int64_t i = 0; i < most_tiles_; ++i)
      scratch.rows[i] = scratch.patches + i * sizes_.channels;
    const int64_t end = tasks_ * (group + 1) / groups_;
    for (int64_t task = tasks_ * group / groups_; task < end; ++task) {
      const int64_t first_row = rows * task / tasks_, last_row = rows * (task + 1) / tasks_;
      const int64_t last = last_row * tile_columns_;
      for (int64_t first = first_row * tile_columns_; first < last; first += most_tiles_) {
        const Range tiles{first, std::min(first + most_tiles_, last)};
        const Range features{0, sizes_.features};
        TransformPatches(x, tiles, first, scratch);
        Multiply(tiles.size(), features, scratch);
        TransformTiles(y, tiles, features, scratch, epilogue);
      }
      const int64_t y_at = begin_of(first_row), elements = begin_of(last_row) - y_at;
      if (then) then({y_at, 1, elements, elements});
    }
  });
}

void WinogradConv::RunByFeatures(const float* x, float* y, char* workspace, CPUContext& context,
                                 const RegisterEpilogue& epilogue,
                                 llvm::function_ref<void(const OutputPiece&)> then) const {
  Scratch scratch;
  scratch.patches = reinterpret_cast<float*>(workspace);
  scratch.rows = reinterpret_cast<const float**>(workspace + rows_at_);
  const Range tiles{0, most_tiles_};
  for (int64_t i = 0; i < most_tiles_; ++i) scratch.rows[i] = scratch.patches + i * sizes_.channels;
  context.ParallelFor(all_tile_rows(), 1, [&](int64_t begin, int64_t end) {
    Scratch own = scratch;
    own.border = reinterpret_cast<float*>(workspace + border_at_ + begin * border_bytes_);
    TransformPatches(x, {begin * tile_columns_, end * tile_columns_}, 0, own);
  });
  context.ParallelFor(blocks_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      Scratch own = scratch;
      own.points = reinterpret_cast<float*>(workspace + points_at_ + block * points_bytes_);
      const Range features{block * block_features_,
                           std::min((block + 1) * block_features_, sizes_.features)};
      Multiply(tiles.size(), features, own);
      TransformTiles(y, tiles, features, own, epilogue);
      const int64_t positions = sizes_.batch * sizes_.window.out();
      if (then) then({features.begin, positions, features.size(), sizes_.features});
    }
  });
}

void WinogradConv::Run(const Tensor& x, const Tensor&, void* y, void* workspace,
                       CPUContext& context, const RegisterEpilogue& epilogue,
                       llvm::function_ref<void(const OutputPiece&)> then) const {
  float* to = static_cast<float*>(y);
  if (tasks_ == 1) {
    RunByFeatures(x.data<float>(), to, static_cast<char*>(workspace), context, epilogue, then);
  } else {
    RunByTiles(x.data<float>(), to, static_cast<char*>(workspace), context, epilogue, then);
  }
}

/// Whether it is a convolution of images with 3x3 windows, stride 1, no dilation and one group,
/// whose results are large enough for tiles of 4x4 positions.
bool HasWinogradWindows(const ConvSizes& sizes) {
  // Smaller images gain little.
  constexpr int64_t kLeastSide = 12;
  const WindowDim* d = sizes.window.d;
  for (const int i : {1, 2})
    if (d[i].kernel != 3 || d[i].stride != 1 || d[i].dilation != 1 || d[i].out < kLeastSide)
      return false;
  return d[0].in == 1 && d[0].kernel == 1 && d[0].out == 1 && sizes.groups == 1;
}

}  // namespace

bool SuitsWinogradConv(const ConvSizes& sizes) {
  // The transformed weights are four times as large as w; if they are read from memory, there must
  // be enough tiles for each weight.
  constexpr int64_t kLeastTilesOfAll = 16, kLeastChannels = 32, kWeightsOfTile = 8192;
  if (!HasWinogradWindows(sizes)) return false;
  const WindowDim* d = sizes.window.d;
  const int64_t tiles = sizes.batch * DivideUp(d[1].out, kTile) * DivideUp(d[2].out, kTile);
  return tiles >= std::max(kLeastTilesOfAll, sizes.channels * sizes.features / kWeightsOfTile) &&
         std::min(sizes.channels, sizes.features) >= kLeastChannels &&
         sizes.channels % RegisterFloats() == 0 && sizes.features % RegisterFloats() == 0;
}

llvm::Expected<std::shared_ptr<const ChannelsLastConv>> MakeWinogradConv(
    const PrepareContext& context, const ConvSizes& sizes) {
  auto conv = std::make_shared<WinogradConv>(sizes, ThreadsOf(context.device()));
  if (llvm::Error error = conv->Prepare(context)) return error;
  return conv;
}

}  // namespace pdl
