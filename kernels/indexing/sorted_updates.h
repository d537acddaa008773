// Updates of elements at indices, grouped by their positions: sums and products of f16 and bf16 are
// rounded once, since a sum of ones that is rounded after each update ends at 2048 or 256.
#ifndef PDL_KERNELS_INDEXING_SORTED_UPDATES_H_
#define PDL_KERNELS_INDEXING_SORTED_UPDATES_H_

#include <algorithm>
#include <cstdint>

#include "kernels/core/element.h"
#include "kernels/core/isa_dispatch.h"
#include "llvm/ADT/ArrayRef.h"

namespace pdl {

/// Update `number` changes what is at `position`.
struct PlacedUpdate {
  int64_t position, number;

  friend bool operator<(const PlacedUpdate& a, const PlacedUpdate& b) {
    return a.position != b.position ? a.position < b.position : a.number < b.number;
  }
};

/// Sorts `count` updates into `to`, by position and then by number. position_of(number) is -1 for
/// an update that is dropped.
template <class PositionOf>
llvm::ArrayRef<PlacedUpdate> SortUpdates(int64_t count, PositionOf position_of, PlacedUpdate* to) {
  PlacedUpdate* end = to;
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t position = position_of(i); position >= 0) *end++ = {position, i};
  if (!std::is_sorted(to, end)) std::sort(to, end);
  return llvm::ArrayRef<PlacedUpdate>(to, end);
}

/// Calls f(updates) for the updates of each position, one after another.
template <class F>
void ForEachPosition(llvm::ArrayRef<PlacedUpdate> sorted, F f) {
  while (!sorted.empty()) {
    const int64_t position = sorted[0].position;
    const size_t count = static_cast<size_t>(
        std::find_if(sorted.begin(), sorted.end(),
                     [&](const PlacedUpdate& update) { return update.position != position; }) -
        sorted.begin());
    f(sorted.take_front(count));
    sorted = sorted.drop_front(count);
  }
}

/// Adds updates of one position to n adjacent elements, or multiplies these, in f32. Update i is at
/// `updates` + i * `bytes`.
template <class T, bool kMultiplies>
struct CombineInF32Loop {
  static PDL_INLINE void Run(const char* updates, int64_t bytes,
                             llvm::ArrayRef<PlacedUpdate> of_position, int64_t n, void* to_raw) {
    constexpr int64_t kWidth = 64;
    for (int64_t begin = 0; begin < n; begin += kWidth) {
      const int64_t width = std::min(kWidth, n - begin);
      T* to = static_cast<T*>(to_raw) + begin;
      float combined[kWidth];
      for (int64_t i = 0; i < width; ++i) combined[i] = Element<T>::Load(to[i]);
      for (const PlacedUpdate& update : of_position) {
        const T* from = reinterpret_cast<const T*>(updates + update.number * bytes) + begin;
        for (int64_t i = 0; i < width; ++i) {
          const float x = Element<T>::Load(from[i]);
          combined[i] = kMultiplies ? combined[i] * x : combined[i] + x;
        }
      }
      for (int64_t i = 0; i < width; ++i) to[i] = Element<T>::Store(combined[i]);
    }
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_SORTED_UPDATES_H_
