#include "kernels/core/all_finite.h"

#include <algorithm>
#include <atomic>

#include "kernels/core/element.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/tile_dispatch.h"

namespace pdl {
namespace {

constexpr int64_t kScanGrain = 1 << 16;
constexpr int64_t kPiece = 1 << 12;  // elements summed between two tests of the sum

template <class T>
struct AllFiniteLoop {
  static PDL_INLINE bool Run(const void* raw, int64_t begin, int64_t end) {
    const T* x = static_cast<const T*>(raw);
    for (int64_t first = begin; first < end; first += kPiece) {
      const int64_t last = std::min(end, first + kPiece);
      // x * 0 is 0 for finite x, else nan.
      ComputeType<T> sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t i = first; i < last; ++i) sum += Element<T>::Load(x[i]) * ComputeType<T>(0);
      if (sum != 0) return false;
    }
    return true;
  }
};

using Loop = bool (*)(const void* raw, int64_t begin, int64_t end);

Loop LoopFor(DType dtype) {
  Loop loop = nullptr;
  VisitDType(FloatTypes(), dtype,
             [&](auto tag) { loop = ChooseIsa<AllFiniteLoop<typename decltype(tag)::type>>(); });
  return loop;
}

}  // namespace

bool AllFinite(const Tensor& tensor, CPUContext& context) {
  const Loop loop = LoopFor(tensor.dtype());
  std::atomic<bool> finite = true;
  context.ParallelFor(tensor.num_elements(), kScanGrain, [&](int64_t begin, int64_t end) {
    if (!loop(tensor.raw(), begin, end)) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load(std::memory_order_relaxed);
}

bool AllFinite(const Tensor& tensor) {
  return LoopFor(tensor.dtype())(tensor.raw(), 0, tensor.num_elements());
}

}  // namespace pdl
