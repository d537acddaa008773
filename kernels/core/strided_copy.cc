#include "kernels/core/strided_copy.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "kernels/core/grain.h"
#include "pdl/op/error.h"
#include "runtime/stream.h"

namespace pdl {
namespace {

// Calls f with a value of the unsigned type of that size.
template <class F>
void VisitElementSize(int64_t element_size, F f) {
  switch (element_size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
  }
  InternalError("elements of an unknown size");
}

template <class T>
void CopyRun(const T* in, int64_t stride, T* out, int64_t n) {
  if (stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
  } else if (stride == 0) {
    std::fill_n(out, n, *in);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = in[i * stride];
  }
}

template <class T>
void CopyTyped(const StridedView& view, const T* in, T* out, int64_t begin, int64_t end) {
  const int rank = static_cast<int>(view.sizes.size());
  in += view.offset;
  if (rank == 0) {
    if (begin < end) *out = *in;
    return;
  }
  const int64_t inner = view.sizes[rank - 1];
  const int64_t inner_stride = view.strides[rank - 1];
  llvm::SmallVector<int64_t, 16> index(rank);
  int64_t rest = begin;
  for (int d = rank - 1; d >= 0; --d) {
    index[d] = rest % view.sizes[d];
    rest /= view.sizes[d];
    in += index[d] * view.strides[d];
  }
  while (begin < end) {
    const int64_t n = std::min(inner - index[rank - 1], end - begin);
    CopyRun(in, inner_stride, out, n);
    out += n;
    begin += n;
    in -= index[rank - 1] * inner_stride;
    index[rank - 1] = 0;
    for (int d = rank - 2; d >= 0; --d) {
      in += view.strides[d];
      if (++index[d] < view.sizes[d]) break;
      in -= index[d] * view.strides[d];
      index[d] = 0;
    }
  }
}

constexpr int64_t kBlock = 16;
// Rows of one task: adjacent in the input, so that the accesses to a page are close together.
constexpr int64_t kTaskRows = 64;

// out[p * out_stride + q] = in[p + q * in_stride] for up to kBlock rows p and columns q. Copies
// through a small square, so that each cache line is touched once: with strides that are powers of
// two, few lines fit into the cache at the same time.
template <class T>
void TransposeBlock(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t rows,
                    int64_t columns) {
  T square[kBlock][kBlock];
  for (int64_t q = 0; q < columns; ++q) {
    std::memcpy(square[q], in + q * in_stride, static_cast<size_t>(rows) * sizeof(T));
  }
  for (int64_t p = 0; p < rows; ++p) {
    T* to = out + p * out_stride;
    for (int64_t q = 0; q < columns; ++q) to[q] = square[q][p];
  }
}

// The same for kBlock rows and columns of 32 bits. Stores bypass the cache where `stream` is set;
// `out` and its stride are then multiples of a cache line.
void TransposeSquare(const float* in, int64_t in_stride, float* out, int64_t out_stride,
                     bool stream) {
  alignas(64) float square[kBlock][kBlock];
  for (int64_t q = 0; q < kBlock; q += 4) {
    const float* from = in + q * in_stride;
    for (int64_t p = 0; p < kBlock; p += 4) {
      __m128 a = _mm_loadu_ps(from + p), b = _mm_loadu_ps(from + in_stride + p);
      __m128 c = _mm_loadu_ps(from + 2 * in_stride + p), d = _mm_loadu_ps(from + 3 * in_stride + p);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      _mm_store_ps(&square[p][q], a);
      _mm_store_ps(&square[p + 1][q], b);
      _mm_store_ps(&square[p + 2][q], c);
      _mm_store_ps(&square[p + 3][q], d);
    }
  }
  for (int64_t p = 0; p < kBlock; ++p) {
    float* to = out + p * out_stride;
    for (int64_t q = 0; q < kBlock; q += 4) {
      const __m128 four = _mm_load_ps(&square[p][q]);
      if (stream) {
        _mm_stream_ps(to + q, four);
      } else {
        _mm_storeu_ps(to + q, four);
      }
    }
  }
}

// Rows of so few columns are contiguous in the output: a loop that compilers vectorize.
template <int kColumns, class T>
void Interleave(const T* in, int64_t in_stride, T* out, int64_t rows) {
#pragma GCC ivdep
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t q = 0; q < kColumns; ++q) out[p * kColumns + q] = in[p + q * in_stride];
  }
}

// All columns of up to kTaskRows rows.
template <class T>
void TransposeRows(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t rows,
                   int64_t columns, bool stream) {
  if (out_stride == columns && !stream) {
    if (columns == 2) return Interleave<2>(in, in_stride, out, rows);
    if (columns == 3) return Interleave<3>(in, in_stride, out, rows);
    if (columns == 4) return Interleave<4>(in, in_stride, out, rows);
  }
  for (int64_t column = 0; column < columns; column += kBlock) {
    const int64_t n = std::min(kBlock, columns - column);
    for (int64_t row = 0; row < rows; row += kBlock) {
      const T* from = in + row + column * in_stride;
      T* to = out + row * out_stride + column;
      const int64_t m = std::min(kBlock, rows - row);
      if constexpr (sizeof(T) == sizeof(float)) {
        if (m == kBlock && n == kBlock) {
          TransposeSquare(reinterpret_cast<const float*>(from), in_stride,
                          reinterpret_cast<float*>(to), out_stride, stream);
          continue;
        }
      }
      TransposeBlock(from, in_stride, to, out_stride, m, n);
    }
  }
}

}  // namespace

int64_t StridedView::num_elements() const {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

void StridedView::Collapse() {
  size_t kept = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (kept > 0 && strides[kept - 1] == strides[d] * sizes[d]) {
      sizes[kept - 1] *= sizes[d];
      strides[kept - 1] = strides[d];
    } else {
      sizes[kept] = sizes[d];
      strides[kept] = strides[d];
      ++kept;
    }
  }
  sizes.resize(kept);
  strides.resize(kept);
}

llvm::SmallVector<int64_t, 6> RowMajorStrides(llvm::ArrayRef<int64_t> sizes) {
  llvm::SmallVector<int64_t, 6> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  return strides;
}

StridedView BroadcastView(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> to) {
  StridedView view;
  view.sizes.assign(to.begin(), to.end());
  view.strides.assign(to.size(), 0);
  const auto strides = RowMajorStrides(sizes);
  const size_t missing = to.size() - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) view.strides[missing + d] = strides[d];
  }
  view.Collapse();
  return view;
}

void CopyElements(const StridedView& view, const void* in, void* out, int64_t element_size,
                  int64_t begin, int64_t end) {
  VisitElementSize(element_size, [&](auto element) {
    using T = decltype(element);
    CopyTyped(view, static_cast<const T*>(in), static_cast<T*>(out), begin, end);
  });
}

StridedCopy::StridedCopy(StridedView view, int64_t element_size)
    : view_(std::move(view)), element_size_(element_size), num_elements_(view_.num_elements()) {
  const int rank = static_cast<int>(view_.sizes.size());
  if (rank < 2 || view_.strides[rank - 1] <= 1) return;
  for (int d = 0; d < rank - 1; ++d) {
    if (view_.strides[d] == 1 && view_.sizes[d] >= 4) dense_dim_ = d;
  }
}

void StridedCopy::Run(const void* in, void* out, CPUContext& context) const {
  if (num_elements_ == 0) return;
  if (dense_dim_ < 0) {
    context.ParallelFor(num_elements_, kGrainMoves, [&](int64_t begin, int64_t end) {
      CopyElements(view_, in, static_cast<char*>(out) + begin * element_size_, element_size_, begin,
                   end);
    });
    return;
  }
  // Transposes the dense dim and the innermost one, for each index of the other dims.
  const int rank = static_cast<int>(view_.sizes.size());
  const int64_t rows = view_.sizes[dense_dim_];
  const int64_t columns = view_.sizes[rank - 1];
  const int64_t row_blocks = (rows + kTaskRows - 1) / kTaskRows;
  const int64_t tasks = num_elements_ / (rows * columns) * row_blocks;
  const int64_t grain = std::max<int64_t>(1, kGrainMoves / (kTaskRows * columns));
  const auto out_strides = RowMajorStrides(view_.sizes);
  // Streaming writes complete lines of 64 bytes, wherever a square of floats begins.
  const bool stream = ExceedsCache(num_elements_ * element_size_) &&
                      reinterpret_cast<uintptr_t>(out) % 64 == 0 && columns % kBlock == 0;
  VisitElementSize(element_size_, [&](auto element) {
    using T = decltype(element);
    context.ParallelFor(tasks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        int64_t rest = task / row_blocks;
        const int64_t row = task % row_blocks * kTaskRows;
        const T* from = static_cast<const T*>(in) + view_.offset + row;
        T* to = static_cast<T*>(out) + row * out_strides[dense_dim_];
        for (int d = rank - 2; d >= 0; --d) {
          if (d == dense_dim_) continue;
          const int64_t index = rest % view_.sizes[d];
          rest /= view_.sizes[d];
          from += index * view_.strides[d];
          to += index * out_strides[d];
        }
        TransposeRows(from, view_.strides[rank - 1], to, out_strides[dense_dim_],
                      std::min(kTaskRows, rows - row), columns, stream);
      }
      if (stream) StreamFence();
    });
  });
}

}  // namespace pdl
