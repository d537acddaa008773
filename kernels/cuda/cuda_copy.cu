#include "kernels/cuda/cuda_copy.h"

#include <array>

#include "kernels/cuda/cuda_launch.h"

namespace pdl::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kTileRows = 8;
/// Shorter axes do not pay for a tile.
constexpr int64_t kShortestTiled = 8;

template <class Word>
__global__ void __launch_bounds__(kBlockThreads)
    CopyKernel(const __grid_constant__ IndexMap<2> map, const Word* from, Word* to) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < map.num_elements; i += step) {
    const Offsets<2> offset = map.At(i);
    to[offset.at[1]] = from[offset.at[0]];
  }
}

/// A batch of transposes: matrices that are contiguous along `columns` in the input, and along rows
/// in the output.
struct Turn {
  IndexMap<2> matrices;
  long long rows, from_row;      // length, stride in the input (1 in the output)
  long long columns, to_column;  // length, stride in the output (1 in the input)
  long long row_tiles, column_tiles;
};

template <class Word>
__global__ void __launch_bounds__(kTile* kTileRows)
    TurnKernel(const __grid_constant__ Turn turn, const Word* from, Word* to) {
  __shared__ Word tile[kTile][kTile + 1];
  const long long tiles = turn.matrices.num_elements * turn.row_tiles * turn.column_tiles;
  const int x = static_cast<int>(threadIdx.x);
  for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
    const long long row_tile = t % turn.row_tiles;
    const long long rest = t / turn.row_tiles;
    const long long column_tile = rest % turn.column_tiles;
    const Offsets<2> offset = turn.matrices.At(rest / turn.column_tiles);
    const long long row = row_tile * kTile;
    const long long column = column_tile * kTile;
    __syncthreads();  // the previous tile is still being written
    for (int y = threadIdx.y; y < kTile; y += kTileRows) {
      if (row + y < turn.rows && column + x < turn.columns)
        tile[y][x] = from[offset.at[0] + (row + y) * turn.from_row + column + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kTileRows) {
      if (column + y < turn.columns && row + x < turn.rows)
        to[offset.at[1] + (column + y) * turn.to_column + row + x] = tile[x][y];
    }
  }
}

/// The largest unit in bytes, a power of two up to 16, in which all runs can be copied.
int64_t WidestUnit(const IndexMap<2>& map, int64_t from_offset, int64_t to_offset,
                   int64_t element_size) {
  const int inner = map.rank - 1;
  if (map.rank == 0 || map.strides[0][inner] != 1 || map.strides[1][inner] != 1)
    return element_size;
  int64_t unit = 16;
  const auto fit = [&](int64_t elements) {
    while (unit > element_size && elements * element_size % unit != 0) unit /= 2;
  };
  fit(map.sizes[inner]);
  fit(from_offset);
  fit(to_offset);
  for (int axis = 0; axis < inner; ++axis) {
    fit(map.strides[0][axis]);
    fit(map.strides[1][axis]);
  }
  return unit;
}

}  // namespace

llvm::Expected<StridedCopy> StridedCopy::Create(llvm::ArrayRef<int64_t> sizes, CopySide from,
                                                CopySide to, int64_t element_size) {
  auto map = MakeIndexMap<2>(sizes, {from.strides, to.strides});
  if (!map) return map.takeError();
  StridedCopy copy;
  copy.elements_ = {*map, from.offset, to.offset, element_size};
  copy.words_ = copy.elements_;
  if (map->num_elements == 0) return copy;

  const int64_t unit = WidestUnit(*map, from.offset, to.offset, element_size);
  if (unit > element_size) {
    const int64_t ratio = unit / element_size;
    Sizes word_sizes, from_strides, to_strides;
    for (int axis = 0; axis < map->rank; ++axis) {
      const bool inner = axis == map->rank - 1;
      word_sizes.push_back(inner ? map->sizes[axis] / ratio : map->sizes[axis]);
      from_strides.push_back(inner ? 1 : map->strides[0][axis] / ratio);
      to_strides.push_back(inner ? 1 : map->strides[1][axis] / ratio);
    }
    auto words = MakeIndexMap<2>(word_sizes, {from_strides, to_strides});
    if (!words) return words.takeError();
    copy.words_ = {*words, from.offset / ratio, to.offset / ratio, unit};
  }

  const int inner = map->rank - 1;
  if (map->rank >= 2 && map->strides[1][inner] == 1 && map->strides[0][inner] != 1 &&
      map->sizes[inner] >= kShortestTiled) {
    for (int axis = 0; axis < inner; ++axis) {
      if (map->strides[0][axis] == 1 && map->sizes[axis] >= kShortestTiled)
        copy.turned_axis_ = axis;
    }
  }
  return copy;
}

template <class Word>
llvm::Error StridedCopy::RunWords(const CUDAContext& context, const char* name, const Walk& walk,
                                  const void* from, void* to) const {
  const Word* source = static_cast<const Word*>(from) + walk.from_offset;
  Word* target = static_cast<Word*>(to) + walk.to_offset;
  const IndexMap<2>& map = walk.map;
  if (!turned_axis_) {
    return Launch(context, name, &CopyKernel<Word>, GridFor(context, map.num_elements),
                  dim3(kBlockThreads), map, source, target);
  }

  const int inner = map.rank - 1;
  Turn turn;
  turn.rows = map.sizes[inner];
  turn.from_row = map.strides[0][inner];
  turn.columns = map.sizes[*turned_axis_];
  turn.to_column = map.strides[1][*turned_axis_];
  turn.row_tiles = (turn.rows + kTile - 1) / kTile;
  turn.column_tiles = (turn.columns + kTile - 1) / kTile;
  Sizes sizes, from_strides, to_strides;
  for (int axis = 0; axis < inner; ++axis) {
    if (axis == *turned_axis_) continue;
    sizes.push_back(map.sizes[axis]);
    from_strides.push_back(map.strides[0][axis]);
    to_strides.push_back(map.strides[1][axis]);
  }
  auto matrices = MakeIndexMap<2>(sizes, {from_strides, to_strides});
  if (!matrices) return matrices.takeError();
  turn.matrices = *matrices;
  const int64_t tiles = turn.matrices.num_elements * turn.row_tiles * turn.column_tiles;
  return Launch(context, name, &TurnKernel<Word>, GridFor(context, tiles, 1),
                dim3(kTile, kTileRows), turn, source, target);
}

bool StridedCopy::is_whole() const {
  const IndexMap<2>& map = elements_.map;
  return map.rank == 0 || (map.rank == 1 && map.strides[0][0] == 1 && map.strides[1][0] == 1);
}

llvm::Error StridedCopy::Run(const CUDAContext& context, const char* name, const void* from,
                             void* to) const {
  if (elements_.map.num_elements == 0) return llvm::Error::success();
  const bool wide =
      words_.unit > elements_.unit && IsAligned(from, words_.unit) && IsAligned(to, words_.unit);
  const Walk& walk = wide ? words_ : elements_;
  switch (walk.unit) {
    case 1:
      return RunWords<unsigned char>(context, name, walk, from, to);
    case 2:
      return RunWords<unsigned short>(context, name, walk, from, to);
    case 4:
      return RunWords<unsigned>(context, name, walk, from, to);
    case 8:
      return RunWords<uint2>(context, name, walk, from, to);
    default:
      return RunWords<uint4>(context, name, walk, from, to);
  }
}

}  // namespace pdl::cuda
