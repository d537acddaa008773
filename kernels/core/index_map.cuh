// Maps the number of an element to the offsets of the operands' elements in memory. Includes
// nothing, so that NVRTC can compile it; a C++ compiler also accepts it, for tests of its
// arithmetic.
#ifndef PDL_KERNELS_CORE_INDEX_MAP_CUH_
#define PDL_KERNELS_CORE_INDEX_MAP_CUH_

#ifdef __CUDACC__
#define PDL_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define PDL_HOST_DEVICE inline
#endif

namespace pdl::cuda {

/// The maximum number of axes of an IndexMap.
inline constexpr int kMaxAxes = 16;

/// Divides by a number that is fixed before the launch, by a multiplication: Granlund and
/// Montgomery, "Division by Invariant Integers using Multiplication", 1994. For dividends below
/// 2^31.
struct Divisor {
  unsigned divisor = 1;
  unsigned multiplier = 1;
  unsigned shift = 0;

  PDL_HOST_DEVICE unsigned Divide(unsigned n) const {
    const unsigned high =
        static_cast<unsigned>((static_cast<unsigned long long>(n) * multiplier) >> 32);
    return (high + n) >> shift;
  }
};

/// Offsets, in elements, of `kOperands` operands at one index.
template <int kOperands>
struct Offsets {
  long long at[kOperands];
};

/// The row-major order of an index space of up to kMaxAxes axes, and the operands' strides in it;
/// passed to kernels by value. Made by MakeIndexMap ("kernels/core/index_map.h").
template <int kOperands>
struct IndexMap {
  int rank = 0;
  /// Whether all numbers are below 2^31, so that the divisors can be used.
  bool narrow = true;
  long long num_elements = 1;
  long long sizes[kMaxAxes];
  Divisor divisors[kMaxAxes];
  long long strides[kOperands][kMaxAxes];

  /// Requires 0 <= index < num_elements.
  PDL_HOST_DEVICE Offsets<kOperands> At(long long index) const {
    Offsets<kOperands> offsets;
    for (int k = 0; k < kOperands; ++k) offsets.at[k] = 0;
    if (narrow) {
      unsigned rest = static_cast<unsigned>(index);
      for (int axis = rank - 1; axis > 0; --axis) {
        const unsigned quotient = divisors[axis].Divide(rest);
        const unsigned position = rest - quotient * divisors[axis].divisor;
        for (int k = 0; k < kOperands; ++k) offsets.at[k] += position * strides[k][axis];
        rest = quotient;
      }
      index = rest;
    } else {
      for (int axis = rank - 1; axis > 0; --axis) {
        const long long quotient = index / sizes[axis];
        const long long position = index - quotient * sizes[axis];
        for (int k = 0; k < kOperands; ++k) offsets.at[k] += position * strides[k][axis];
        index = quotient;
      }
    }
    if (rank > 0) {
      for (int k = 0; k < kOperands; ++k) offsets.at[k] += index * strides[k][0];
    }
    return offsets;
  }
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CORE_INDEX_MAP_CUH_
