// The accumulators of reductions, and the loops over elements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/core/isa_dispatch.h"
#include "kernels/core/min_max.h"
#include "kernels/core/vector_math.h"
#include "kernels/reduction/reduction_kernel.h"

namespace pdl {
namespace {

// An accumulator: its type, its initial value, one step, and its result.
template <class T>
struct Summing {
  static constexpr bool kReal = !std::is_integral_v<ComputeType<T>>;
  using Acc = std::conditional_t<kReal, double, uint64_t>;
  using Out = std::conditional_t<kReal, T, int64_t>;
  static PDL_INLINE Acc Start() { return Acc(0); }
  static PDL_INLINE Acc Step(Acc sum, Acc x) { return sum + x; }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    Acc sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) sum += static_cast<Acc>(Element<T>::Load(in[i]));
    return sum;
  }
  static PDL_INLINE Out Finish(Acc sum, int64_t) {
    if constexpr (kReal) {
      return Element<T>::Store(static_cast<ComputeType<T>>(sum));
    } else {
      return static_cast<int64_t>(sum);
    }
  }
};

template <class T>
struct Averaging : Summing<T> {
  static PDL_INLINE T Finish(double sum, int64_t count) {
    return Element<T>::Store(static_cast<ComputeType<T>>(sum / static_cast<double>(count)));
  }
};

template <class T>
struct Norming : Summing<T> {
  static PDL_INLINE double Include(double sum, double x) { return sum + x * x; }
  static PDL_INLINE double Row(const T* in, int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(Element<T>::Load(in[i]));
      sum += x * x;
    }
    return sum;
  }
  static PDL_INLINE T Finish(double sum, int64_t) {
    return Element<T>::Store(static_cast<ComputeType<T>>(std::sqrt(sum)));
  }
};

template <class T>
using Maximizing = MinMax<T, false>;
template <class T>
using Minimizing = MinMax<T, true>;

template <class T>
struct Multiplying {
  static constexpr bool kReal = !std::is_integral_v<ComputeType<T>>;
  using Acc = std::conditional_t<kReal, double, uint64_t>;
  using Out = std::conditional_t<kReal, T, int64_t>;
  static PDL_INLINE Acc Start() { return Acc(1); }
  static PDL_INLINE Acc Step(Acc product, Acc x) { return product * x; }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    Acc product = 1;
#pragma omp simd reduction(* : product)
    for (int64_t i = 0; i < n; ++i) product *= static_cast<Acc>(Element<T>::Load(in[i]));
    return product;
  }
  static PDL_INLINE Out Finish(Acc product, int64_t) {
    if constexpr (kReal) {
      return Element<T>::Store(static_cast<ComputeType<T>>(product));
    } else {
      return static_cast<int64_t>(product);
    }
  }
};

// nan is not 0.
template <class T>
struct CountingNonzero {
  using Acc = uint64_t;
  using Out = int64_t;
  using C = ComputeType<T>;
  static PDL_INLINE Acc Start() { return 0; }
  static PDL_INLINE Acc Step(Acc count, Acc more) { return count + more; }
  static PDL_INLINE Acc Include(Acc count, C x) { return count + (x != C(0) ? 1 : 0); }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    Acc count = 0;
#pragma omp simd reduction(+ : count)
    for (int64_t i = 0; i < n; ++i) count += Element<T>::Load(in[i]) != C(0) ? 1 : 0;
    return count;
  }
  static PDL_INLINE Out Finish(Acc count, int64_t) { return static_cast<int64_t>(count); }
};

template <class T>
struct FindingAny : CountingNonzero<T> {
  using Out = bool;
  static PDL_INLINE bool Finish(uint64_t found, int64_t) { return found != 0; }
};

template <class T>
struct FindingAll : CountingNonzero<T> {
  using Out = bool;
  static PDL_INLINE bool Finish(uint64_t found, int64_t count) {
    return found == static_cast<uint64_t>(count);
  }
};

// The maximum and the sum of exp(x - maximum). A nan is not in the maximum, but in the sum.
template <class C>
struct Exponentials {
  C largest;
  double sum;
};

template <class T>
struct SummingExponentials {
  using C = ComputeType<T>;
  using Acc = Exponentials<C>;
  using Out = T;
  static PDL_INLINE Acc Start() { return {-std::numeric_limits<C>::infinity(), 0}; }
  // exp(below - above), which is 1 if they are equal, even if infinite.
  static PDL_INLINE double Factor(C below, C above) {
    return static_cast<double>(math::Exp(below == above ? C(0) : below - above));
  }
  static PDL_INLINE Acc Step(Acc a, Acc b) {
    const bool larger = b.largest > a.largest;
    const double factor = larger ? Factor(a.largest, b.largest) : Factor(b.largest, a.largest);
    return {larger ? b.largest : a.largest,
            larger ? a.sum * factor + b.sum : a.sum + b.sum * factor};
  }
  static PDL_INLINE Acc Include(Acc a, C x) {
    const bool larger = x > a.largest;
    const C above = larger ? x : a.largest, below = larger ? a.largest : x;
    const double factor = Factor(below, above);
    return {above, larger ? a.sum * factor + 1.0 : a.sum + factor};
  }
  static PDL_INLINE Acc Row(const T* in, int64_t n) {
    C largest = -std::numeric_limits<C>::infinity();
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < n; ++i) {
      const C x = Element<T>::Load(in[i]);
      largest = x > largest ? x : largest;
    }
    // Accumulates short partial sums in the compute type and their total in double.
    double sum = 0;
    for (int64_t begin = 0; begin < n; begin += 256) {
      const int64_t end = std::min(begin + 256, n);
      C part = 0;
#pragma omp simd reduction(+ : part)
      for (int64_t i = begin; i < end; ++i) {
        const C x = Element<T>::Load(in[i]);
        part += math::Exp(x == largest ? C(0) : x - largest);
      }
      sum += static_cast<double>(part);
    }
    return {largest, sum};
  }
  static PDL_INLINE T Finish(Acc a, int64_t) {
    return Element<T>::Store(static_cast<C>(std::log(a.sum) + static_cast<double>(a.largest)));
  }
};

// Adds one element; Step combines accumulators.
template <class R, class C>
PDL_INLINE typename R::Acc Include(typename R::Acc acc, C x) {
  if constexpr (requires { R::Include(acc, x); }) {
    return R::Include(acc, x);
  } else {
    return R::Step(acc, static_cast<typename R::Acc>(x));
  }
}

template <class R, class T>
struct RowLoop {
  static PDL_INLINE void Run(const void* in, int64_t n, void* sum) {
    using Acc = typename R::Acc;
    Acc* acc = static_cast<Acc*>(sum);
    *acc = R::Step(*acc, R::Row(static_cast<const T*>(in), n));
  }
};

template <class R, class T>
struct ShortRowsLoop {
  static PDL_INLINE void Run(const void* in, int64_t rows, int64_t n, void* sums) {
    using Acc = typename R::Acc;
    const T* x = static_cast<const T*>(in);
    Acc* acc = static_cast<Acc*>(sums);
    for (int64_t i = 0; i < rows; ++i) {
      Acc sum = acc[i];
      for (int64_t j = 0; j < n; ++j) {
        sum = Include<R>(sum, Element<T>::Load(x[i * n + j]));
      }
      acc[i] = sum;
    }
  }
};

template <class R, class T>
struct ColumnsLoop {
  static PDL_INLINE void Run(const void* in, int64_t n, void* sums) {
    using Acc = typename R::Acc;
    const T* x = static_cast<const T*>(in);
    Acc* acc = static_cast<Acc*>(sums);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      acc[i] = Include<R>(acc[i], Element<T>::Load(x[i]));
    }
  }
};

template <class R, class T>
ReduceLoops MakeLoops() {
  using Acc = typename R::Acc;
  using Out = typename R::Out;
  ReduceLoops loops;
  static_assert(sizeof(Acc) <= ReduceLoops::kLargestAccumulator);
  loops.accumulator_size = sizeof(Acc);
  loops.result_size = sizeof(Out);
  loops.row = ChooseIsa<RowLoop<R, T>>();
  loops.short_rows = ChooseIsa<ShortRowsLoop<R, T>>();
  loops.columns = ChooseIsa<ColumnsLoop<R, T>>();
  loops.start = [](void* sums, int64_t n) { std::fill_n(static_cast<Acc*>(sums), n, R::Start()); };
  loops.merge = [](const void* from, int64_t n, void* sums) {
    for (int64_t i = 0; i < n; ++i) {
      Acc& acc = static_cast<Acc*>(sums)[i];
      acc = R::Step(acc, static_cast<const Acc*>(from)[i]);
    }
  };
  loops.finish = [](const void* sums, int64_t n, int64_t count, void* out) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<Out*>(out)[i] = R::Finish(static_cast<const Acc*>(sums)[i], count);
    }
  };
  return loops;
}

template <template <class> class R, class Types>
ReduceLoops LoopsOf(Types types, DType dtype) {
  ReduceLoops loops;
  VisitDType(types, dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    loops = MakeLoops<R<T>, T>();
  });
  return loops;
}

}  // namespace

ReduceLoops ReduceLoopsOf(Reduction reduction, DType dtype) {
  switch (reduction) {
    case Reduction::kSum:
      return LoopsOf<Summing>(AnyTypes(), dtype);
    case Reduction::kMean:
      return LoopsOf<Averaging>(FloatTypes(), dtype);
    case Reduction::kNorm:
      return LoopsOf<Norming>(FloatTypes(), dtype);
    case Reduction::kMax:
      return LoopsOf<Maximizing>(NumberTypes(), dtype);
    case Reduction::kMin:
      return LoopsOf<Minimizing>(NumberTypes(), dtype);
    case Reduction::kProd:
      return LoopsOf<Multiplying>(AnyTypes(), dtype);
    case Reduction::kAny:
      return LoopsOf<FindingAny>(AnyTypes(), dtype);
    case Reduction::kAll:
      return LoopsOf<FindingAll>(AnyTypes(), dtype);
    case Reduction::kCountNonzero:
      return LoopsOf<CountingNonzero>(AnyTypes(), dtype);
    case Reduction::kLogSumExp:
      return LoopsOf<SummingExponentials>(FloatTypes(), dtype);
  }
  __builtin_unreachable();
}

}  // namespace pdl
