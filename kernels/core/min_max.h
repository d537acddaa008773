// The maximum or minimum of elements; NaN takes precedence over all others.
#ifndef PDL_KERNELS_CORE_MIN_MAX_H_
#define PDL_KERNELS_CORE_MIN_MAX_H_

#include <limits>
#include <type_traits>

#include "kernels/core/element.h"

namespace pdl {

template <class T, bool kSmallest>
struct MinMax {
  using Acc = ComputeType<T>;
  using Out = T;
  static PDL_INLINE Acc Start() {
    using Limits = std::numeric_limits<Acc>;
    if constexpr (std::is_floating_point_v<Acc>) {
      return kSmallest ? Limits::infinity() : -Limits::infinity();
    }
    return kSmallest ? Limits::max() : Limits::lowest();
  }
  static PDL_INLINE bool Beats(Acc a, Acc b) { return kSmallest ? a < b : a > b; }
  static PDL_INLINE Acc Step(Acc best, Acc x) { return Beats(x, best) | (x != x) ? x : best; }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    Acc best = Start();
    int has_nan = 0;
    if constexpr (kSmallest) {
#pragma omp simd reduction(min : best) reduction(| : has_nan)
      for (int64_t i = 0; i < n; ++i) {
        const Acc x = Element<T>::Load(in[i]);
        best = x < best ? x : best;
        has_nan |= x != x ? 1 : 0;
      }
    } else {
#pragma omp simd reduction(max : best) reduction(| : has_nan)
      for (int64_t i = 0; i < n; ++i) {
        const Acc x = Element<T>::Load(in[i]);
        best = x > best ? x : best;
        has_nan |= x != x ? 1 : 0;
      }
    }
    if constexpr (std::is_floating_point_v<Acc>) {
      if (has_nan != 0) return std::numeric_limits<Acc>::quiet_NaN();
    }
    return best;
  }
  static PDL_INLINE Out Finish(Acc best, int64_t) { return Element<T>::Store(best); }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_MIN_MAX_H_
