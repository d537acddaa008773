// Portable matmul loops, for small matrices and dtypes that oneDNN does not support.
#include <algorithm>
#include <type_traits>

#include "kernels/core/element.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/linear/gemm.h"

namespace pdl {
namespace {

// Integers wrap around.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, T,
                                       std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

template <class T>
struct GemmLoop {
  using Acc = Accumulator<T>;
  static constexpr int64_t kRows = 4;
  static constexpr int64_t kColumns = 32;

  // kRows x kColumns elements of c, accumulated in registers.
  static PDL_INLINE void Block(const GemmShape& s, const T* a, const T* b, T* c) {
    Acc sums[kRows][kColumns] = {};
    for (int64_t k = 0; k < s.k; ++k) {
      const T* row = b + k * s.b_row;
      for (int64_t i = 0; i < kRows; ++i) {
        const Acc x = static_cast<Acc>(a[i * s.a_row + k * s.a_column]);
        for (int64_t j = 0; j < kColumns; ++j) sums[i][j] += x * static_cast<Acc>(row[j]);
      }
    }
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) c[i * s.c_row + j] = static_cast<T>(sums[i][j]);
    }
  }

  // Up to kColumns columns of one row.
  static PDL_INLINE void Edge(const GemmShape& s, const T* a, const T* b, T* c, int64_t columns) {
    Acc sums[kColumns] = {};
    for (int64_t k = 0; k < s.k; ++k) {
      const Acc x = static_cast<Acc>(a[k * s.a_column]);
      const T* row = b + k * s.b_row;
      for (int64_t j = 0; j < columns; ++j) sums[j] += x * static_cast<Acc>(row[j]);
    }
    for (int64_t j = 0; j < columns; ++j) c[j] = static_cast<T>(sums[j]);
  }

  // One row of c: four rows of b at a time, read without packing.
  static PDL_INLINE void Row(const GemmShape& s, const T* a, const T* b, T* c) {
    constexpr int64_t kChunk = 1024;
    for (int64_t begin = 0; begin < s.n; begin += kChunk) {
      const int64_t n = std::min(kChunk, s.n - begin);
      Acc sums[kChunk];
      for (int64_t j = 0; j < n; ++j) sums[j] = Acc(0);
      int64_t k = 0;
      for (; k + 4 <= s.k; k += 4) {
        const T* row = b + k * s.b_row + begin;
        const Acc x0 = static_cast<Acc>(a[k * s.a_column]);
        const Acc x1 = static_cast<Acc>(a[(k + 1) * s.a_column]);
        const Acc x2 = static_cast<Acc>(a[(k + 2) * s.a_column]);
        const Acc x3 = static_cast<Acc>(a[(k + 3) * s.a_column]);
        for (int64_t j = 0; j < n; ++j) {
          Acc sum = sums[j] + x0 * static_cast<Acc>(row[j]);
          sum += x1 * static_cast<Acc>(row[s.b_row + j]);
          sum += x2 * static_cast<Acc>(row[2 * s.b_row + j]);
          sums[j] = sum + x3 * static_cast<Acc>(row[3 * s.b_row + j]);
        }
      }
      for (; k < s.k; ++k) {
        const Acc x = static_cast<Acc>(a[k * s.a_column]);
        const T* row = b + k * s.b_row + begin;
        for (int64_t j = 0; j < n; ++j) sums[j] += x * static_cast<Acc>(row[j]);
      }
      for (int64_t j = 0; j < n; ++j) c[begin + j] = static_cast<T>(sums[j]);
    }
  }

  static PDL_INLINE void Run(const GemmShape& s, const void* a_raw, const void* b_raw,
                             void* c_raw) {
    const T* a = static_cast<const T*>(a_raw);
    const T* b = static_cast<const T*>(b_raw);
    T* c = static_cast<T*>(c_raw);
    if (s.m == 1) return Row(s, a, b, c);
    for (int64_t j = 0; j < s.n; j += kColumns) {
      const int64_t columns = std::min(kColumns, s.n - j);
      int64_t i = 0;
      if (columns == kColumns) {
        for (; i + kRows <= s.m; i += kRows) {
          Block(s, a + i * s.a_row, b + j, c + i * s.c_row + j);
        }
      }
      for (; i < s.m; ++i) Edge(s, a + i * s.a_row, b + j, c + i * s.c_row + j, columns);
    }
  }
};

// All of c, which has kColumns columns; no other memory is accessed.
template <class T, int kColumns>
struct NarrowGemmLoop {
  template <int kRows>
  static PDL_INLINE void Block(const GemmShape& s, const T* a, const T* b, T* c) {
    // A zero that the compiler does not know, so that it sets registers, and not memory.
    const T zero = static_cast<T>(s.k) * T(0);
    T sums[kRows][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kColumns; ++j) sums[i][j] = zero;
    }
    for (int64_t k = 0; k < s.k; ++k) {
      const T* row = b + k * s.b_row;
      for (int i = 0; i < kRows; ++i) {
        const T x = a[i * s.a_row + k * s.a_column];
#pragma omp simd
        for (int j = 0; j < kColumns; ++j) sums[i][j] += x * row[j];
      }
    }
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kColumns; ++j) c[i * s.c_row + j] = sums[i][j];
    }
  }

  static PDL_INLINE void Run(const GemmShape& s, const void* a_raw, const void* b_raw,
                             void* c_raw) {
    const T* a = static_cast<const T*>(a_raw);
    const T* b = static_cast<const T*>(b_raw);
    T* c = static_cast<T*>(c_raw);
    int64_t i = 0;
    for (; i + 4 <= s.m; i += 4) Block<4>(s, a + i * s.a_row, b, c + i * s.c_row);
    for (; i + 2 <= s.m; i += 2) Block<2>(s, a + i * s.a_row, b, c + i * s.c_row);
    if (i < s.m) Block<1>(s, a + i * s.a_row, b, c + i * s.c_row);
  }
};

template <class T>
GemmFunction ChooseNarrow(int64_t columns) {
  switch (columns) {
    case 2:
      return ChooseIsa<NarrowGemmLoop<T, 2>>();
    case 3:
      return ChooseIsa<NarrowGemmLoop<T, 3>>();
    case 4:
      return ChooseIsa<NarrowGemmLoop<T, 4>>();
    case 8:
      return ChooseIsa<NarrowGemmLoop<T, 8>>();
    default:
      return nullptr;
  }
}

}  // namespace

GemmFunction NarrowGemm(DType dtype, int64_t columns) {
  if (dtype == DType::kF32) return ChooseNarrow<float>(columns);
  return dtype == DType::kF64 ? ChooseNarrow<double>(columns) : nullptr;
}

GemmFunction PlainGemm(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return ChooseIsa<GemmLoop<float>>();
    case DType::kF64:
      return ChooseIsa<GemmLoop<double>>();
    case DType::kI8:
      return ChooseIsa<GemmLoop<int8_t>>();
    case DType::kI32:
      return ChooseIsa<GemmLoop<int32_t>>();
    case DType::kI64:
      return ChooseIsa<GemmLoop<int64_t>>();
    case DType::kU8:
      return ChooseIsa<GemmLoop<uint8_t>>();
    default:
      return nullptr;
  }
}

}  // namespace pdl
