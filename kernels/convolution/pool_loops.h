// The loops of pooling over planes: maxima, means, norms, and their gradients.
#ifndef PDL_KERNELS_CONVOLUTION_POOL_LOOPS_H_
#define PDL_KERNELS_CONVOLUTION_POOL_LOOPS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/convolution/pool_window.h"
#include "kernels/core/element.h"
#include "runtime/memory.h"
#include "runtime/saturating.h"

namespace pdl {

/// A PoolWindow with the ranges of all outputs.
struct PoolTable {
  PoolWindow pool;
  std::vector<PoolRange> ranges[3];
  /// Returned by Count; holds the reservation.
  std::shared_ptr<void> counted;

  /// Reserves memory for the ranges, before they are made; fails beyond the memory limit.
  static llvm::Expected<std::shared_ptr<void>> Count(const PoolWindow& pool) {
    const int64_t outputs =
        SaturatingSum({pool.d[0].window.out, pool.d[1].window.out, pool.d[2].window.out});
    return CountHostMemory(SaturatingProduct({outputs, sizeof(PoolRange)}),
                           "the windows of a pooling");
  }

  explicit PoolTable(const PoolWindow& window) : pool(window) {
    for (int i = 0; i < 3; ++i) {
      for (int64_t o = 0; o < pool.d[i].window.out; ++o) ranges[i].push_back(pool.d[i].At(o));
    }
  }
};

/// How a window is reduced, computing in type C: Start gives the initial value, Load converts an
/// element, Join combines two partial results, and Finish gives the result.
template <class C>
struct MaxPolicy {
  static PDL_INLINE C Start() {
    if constexpr (std::is_floating_point_v<C>) return -std::numeric_limits<C>::infinity();
    return std::numeric_limits<C>::lowest();
  }
  // Propagates nan.
  PDL_INLINE C Join(C a, C b) const { return a > b || a != a ? a : b; }
  PDL_INLINE C Load(C x) const { return x; }
  PDL_INLINE C Finish(C sum, int64_t) const { return sum; }
};

template <class C>
struct MeanPolicy {
  static PDL_INLINE C Start() { return 0; }
  PDL_INLINE C Join(C a, C b) const { return a + b; }
  PDL_INLINE C Load(C x) const { return x; }
  PDL_INLINE C Finish(C sum, int64_t divisor) const { return sum / static_cast<C>(divisor); }
};

template <class C>
struct NormPolicy {
  double p = 2;
  static PDL_INLINE C Start() { return 0; }
  PDL_INLINE C Join(C a, C b) const { return a + b; }
  PDL_INLINE C Load(C x) const {
    if (p == 2) return x * x;
    if (p == 1) return std::abs(x);
    return std::pow(std::abs(x), static_cast<C>(p));
  }
  PDL_INLINE C Finish(C sum, int64_t) const {
    if (p == 2) return std::sqrt(sum);
    if (p == 1) return sum;
    return std::pow(sum, static_cast<C>(1 / p));
  }
};

/// Pools planes [begin, end). `row` is scratch for one row of x.
template <class T, class Policy>
struct PoolLoop {
  using C = ComputeType<T>;

  static PDL_INLINE void Run(const PoolTable& table, const Policy& policy, const void* x_raw,
                             void* y_raw, void* row_raw, int64_t begin, int64_t end) {
    const PoolWindow& pool = table.pool;
    const int64_t height = pool.d[1].window.in, width = pool.d[2].window.in;
    const T* x = static_cast<const T*>(x_raw) + begin * pool.in();
    T* y = static_cast<T*>(y_raw) + begin * pool.out();
    C* row = static_cast<C*>(row_raw);
    for (int64_t plane = begin; plane < end; ++plane, x += pool.in()) {
      for (const PoolRange& a : table.ranges[0]) {
        for (const PoolRange& b : table.ranges[1]) {
          // First reduce the rows of the window to one, then each window's part of that row.
          for (int64_t i = 0; i < width; ++i) row[i] = Policy::Start();
          for (int64_t p = 0; p < a.count; ++p) {
            for (int64_t q = 0; q < b.count; ++q) {
              const T* from = x + ((a.first + p * a.step) * height + b.first + q * b.step) * width;
#pragma GCC ivdep
              for (int64_t i = 0; i < width; ++i) {
                row[i] = policy.Join(row[i], policy.Load(Element<T>::Load(from[i])));
              }
            }
          }
          for (const PoolRange& c : table.ranges[2]) {
            C sum = Policy::Start();
            for (int64_t r = 0; r < c.count; ++r) {
              sum = policy.Join(sum, row[c.first + r * c.step]);
            }
            *y++ = Element<T>::Store(policy.Finish(sum, pool.Divisor(a, b, c)));
          }
        }
      }
    }
  }
};

/// Finds the index in its plane of each window's largest element: the first of equal elements, the
/// last nan, or -1 for a window without elements. Processes planes [begin, end). `row` and `places`
/// are scratch for one row of x. Comparisons cannot be predicted, so nothing here branches on them.
template <class T>
struct PoolIndexLoop {
  using C = ComputeType<T>;

  static PDL_INLINE void Run(const PoolTable& table, const void* x_raw, int64_t* y, void* row_raw,
                             int64_t* places, int64_t begin, int64_t end) {
    const PoolWindow& pool = table.pool;
    const T* x = static_cast<const T*>(x_raw) + begin * pool.in();
    C* row = static_cast<C*>(row_raw);
    y += begin * pool.out();
    for (int64_t plane = begin; plane < end; ++plane, x += pool.in()) {
      for (const PoolRange& a : table.ranges[0]) {
        for (const PoolRange& b : table.ranges[1]) {
          const bool is_empty = !JoinRows(pool, x, a, b, row, places);
          for (const PoolRange& c : table.ranges[2])
            *y++ = is_empty || c.count == 0 ? -1 : Place(c, row, places);
        }
      }
    }
  }

 private:
  /// Finds the largest element of each column of the window's rows; returns false if it has no
  /// rows.
  static PDL_INLINE bool JoinRows(const PoolWindow& pool, const T* x, const PoolRange& a,
                                  const PoolRange& b, C* row, int64_t* places) {
    const int64_t height = pool.d[1].window.in, width = pool.d[2].window.in;
    for (int64_t p = 0; p < a.count; ++p) {
      for (int64_t q = 0; q < b.count; ++q) {
        const int64_t at = ((a.first + p * a.step) * height + b.first + q * b.step) * width;
        const T* from = x + at;
        if (p == 0 && q == 0) {
          for (int64_t i = 0; i < width; ++i) {
            row[i] = Element<T>::Load(from[i]);
            places[i] = at + i;
          }
          continue;
        }
#pragma GCC ivdep
        for (int64_t i = 0; i < width; ++i) {
          const C value = Element<T>::Load(from[i]);
          const bool wins = (value > row[i]) | (value != value);
          row[i] = wins ? value : row[i];
          places[i] = wins ? at + i : places[i];
        }
      }
    }
    return a.count > 0 && b.count > 0;
  }

  static PDL_INLINE int64_t Place(const PoolRange& c, const C* row, const int64_t* places) {
    int64_t best = c.first;
    for (int64_t r = 1; r < c.count; ++r) {
      const int64_t i = c.first + r * c.step;
      const C value = row[i], largest = row[best];
      const bool is_before = places[i] < places[best];
      const bool is_nan = value != value, was_nan = largest != largest;
      const bool wins =
          (value > largest) | ((value == largest) & is_before) | (is_nan & !(was_nan & is_before));
      best += (i - best) & -static_cast<int64_t>(wins);
    }
    return places[best];
  }
};

/// Distributes each output's gradient evenly over its window, for planes [begin, end). `row` is
/// scratch for a row of dx, `sums` for a plane.
template <class T>
struct SpreadLoop {
  using C = ComputeType<T>;

  static PDL_INLINE void Run(const PoolTable& table, const void* dy_raw, void* dx_raw,
                             void* row_raw, void* sums_raw, int64_t begin, int64_t end) {
    const PoolWindow& pool = table.pool;
    const int64_t height = pool.d[1].window.in, width = pool.d[2].window.in;
    const T* dy = static_cast<const T*>(dy_raw) + begin * pool.out();
    C* row = static_cast<C*>(row_raw);
    C* sums = static_cast<C*>(sums_raw);
    for (int64_t plane = begin; plane < end; ++plane) {
      for (int64_t i = 0; i < pool.in(); ++i) sums[i] = 0;
      for (const PoolRange& a : table.ranges[0]) {
        for (const PoolRange& b : table.ranges[1]) {
          for (int64_t i = 0; i < width; ++i) row[i] = 0;
          for (const PoolRange& c : table.ranges[2]) {
            const C part = Element<T>::Load(*dy++) / static_cast<C>(pool.Divisor(a, b, c));
            for (int64_t r = 0; r < c.count; ++r) row[c.first + r * c.step] += part;
          }
          for (int64_t p = 0; p < a.count; ++p) {
            for (int64_t q = 0; q < b.count; ++q) {
              C* to = sums + ((a.first + p * a.step) * height + b.first + q * b.step) * width;
#pragma GCC ivdep
              for (int64_t i = 0; i < width; ++i) to[i] += row[i];
            }
          }
        }
      }
      T* dx = static_cast<T*>(dx_raw) + plane * pool.in();
      for (int64_t i = 0; i < pool.in(); ++i) dx[i] = Element<T>::Store(sums[i]);
    }
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_POOL_LOOPS_H_
