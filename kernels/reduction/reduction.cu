#include "kernels/reduction/block_reduction.cuh"

#include <memory>
#include <type_traits>

#include "kernels/core/index_map.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

// --- Folds. Value is the partial result of a thread, Include adds an element and its index to one,
// Merge combines two, and Finish computes the result from one. ------------------------------

/// Sums: of f16/bf16 in f32, of integers and bool in 64 bits, which wrap around. `count` is the
/// divisor of a mean, else 1.
template <class T>
struct SumOf {
  using Compute = ComputeType<T>;
  using Value = std::conditional_t<kIsFloat<Compute>, Compute, unsigned long long>;
  using Out = std::conditional_t<kIsFloat<Compute>, T, long long>;
  double count = 1;

  __device__ Value Nothing() const { return Value(0); }
  __device__ Value Include(Value sum, Compute x, long long) const {
    return sum + static_cast<Value>(x);
  }
  __device__ Value Merge(Value a, Value b) const { return a + b; }
  __device__ Out Finish(Value sum) const {
    if constexpr (kIsFloat<Compute>) {
      return Element<T>::Store(sum / static_cast<Compute>(count));
    } else {
      return static_cast<Out>(sum);
    }
  }
};

/// Products: of floats in double, of integers and bool in 64 bits, which wrap around.
template <class T>
struct ProdOf {
  using Compute = ComputeType<T>;
  using Value = std::conditional_t<kIsFloat<Compute>, double, unsigned long long>;
  using Out = std::conditional_t<kIsFloat<Compute>, T, long long>;

  __device__ Value Nothing() const { return Value(1); }
  __device__ Value Include(Value product, Compute x, long long) const {
    return product * static_cast<Value>(x);
  }
  __device__ Value Merge(Value a, Value b) const { return a * b; }
  __device__ Out Finish(Value product) const {
    if constexpr (kIsFloat<Compute>) {
      return Element<T>::Store(static_cast<Compute>(product));
    } else {
      return static_cast<Out>(product);
    }
  }
};

/// The number of elements that are not 0; nan is not 0.
template <class T>
struct CountNonzeroOf {
  using Compute = ComputeType<T>;
  using Value = long long;
  using Out = long long;

  __device__ Value Nothing() const { return 0; }
  __device__ Value Include(Value count, Compute x, long long) const {
    return count + (x != Compute(0) ? 1 : 0);
  }
  __device__ Value Merge(Value a, Value b) const { return a + b; }
  __device__ Out Finish(Value count) const { return count; }
};
template <class T>
struct AnyOf : CountNonzeroOf<T> {
  using Out = bool;
  __device__ bool Finish(long long found) const { return found != 0; }
};
template <class T>
struct AllOf : CountNonzeroOf<T> {
  using Out = bool;
  long long count = 0;
  __device__ bool Finish(long long found) const { return found == count; }
};

__device__ __forceinline__ float Exponential(float x) { return expf(x); }
__device__ __forceinline__ double Exponential(double x) { return exp(x); }

/// The maximum and the sum of exp(x - maximum). A nan is not in the maximum, but in the sum.
template <class T>
struct LogSumExpOf {
  using Compute = ComputeType<T>;
  struct Value {
    Compute largest;
    double sum;
  };
  using Out = T;

  __device__ Value Nothing() const { return {-Compute(1) / Compute(0), 0}; }
  __device__ Value Include(Value a, Compute x, long long) const {
    return x > a.largest ? Value{x, a.sum * Factor(a.largest, x) + 1}
                         : Value{a.largest, a.sum + Factor(x, a.largest)};
  }
  __device__ Value Merge(Value a, Value b) const {
    return b.largest > a.largest ? Value{b.largest, a.sum * Factor(a.largest, b.largest) + b.sum}
                                 : Value{a.largest, a.sum + b.sum * Factor(b.largest, a.largest)};
  }
  __device__ Out Finish(Value a) const {
    return Element<T>::Store(static_cast<Compute>(log(a.sum) + static_cast<double>(a.largest)));
  }

 private:
  /// exp(below - above), which is 1 if they are equal, even if infinite.
  static __device__ double Factor(Compute below, Compute above) {
    return below == above ? 1.0 : static_cast<double>(Exponential(below - above));
  }
};

/// The Euclidean norm. Squares are in double, in which those of floats neither overflow nor
/// underflow.
template <class T>
struct NormOf {
  using Compute = ComputeType<T>;
  using Value = double;
  using Out = T;

  __device__ Value Nothing() const { return 0; }
  __device__ Value Include(Value sum, Compute x, long long) const {
    return sum + static_cast<double>(x) * static_cast<double>(x);
  }
  __device__ Value Merge(Value a, Value b) const { return a + b; }
  __device__ Out Finish(Value sum) const {
    return Element<T>::Store(static_cast<Compute>(sqrt(sum)));
  }
};

/// Mean and variance, from the sums of the distances from `shift`, one of the elements, and of
/// their squares.
template <class T>
struct MomentsOf {
  using Compute = ComputeType<T>;
  using Count = std::conditional_t<sizeof(Compute) == 8, unsigned long long, unsigned>;
  struct Value {
    Compute shift, sum, square;
    Count count;

    __device__ Compute Mean() const { return shift + sum / static_cast<Compute>(count); }
    /// The sum of squared distances from the mean.
    __device__ Compute Spread() const {
      const Compute spread = square - sum * (sum / static_cast<Compute>(count));
      return spread < Compute(0) ? Compute(0) : spread;
    }
  };
  using Out = T;
  T* variance = nullptr;

  __device__ Value Nothing() const { return {0, 0, 0, 0}; }
  __device__ Value Include(Value v, Compute x, long long) const {
    if (v.count == 0) v.shift = x - x == Compute(0) ? x : Compute(0);
    const Compute distance = x - v.shift;
    return {v.shift, v.sum + distance, v.square + distance * distance, v.count + 1};
  }
  // Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.
  __device__ Value Merge(Value a, Value b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const Count count = a.count + b.count;
    const Compute part = static_cast<Compute>(b.count) / static_cast<Compute>(count);
    const Compute mean = a.Mean(), distance = b.Mean() - mean;
    const Compute between = distance * distance * static_cast<Compute>(a.count) * part;
    return {mean + distance * part, 0, a.Spread() + b.Spread() + between, count};
  }
};

/// Only the variance, or its square root; `ddof` is subtracted from the divisor of the sum of
/// squares.
template <class T, bool kRoot>
struct SpreadOf : MomentsOf<T> {
  using typename MomentsOf<T>::Compute;
  using typename MomentsOf<T>::Value;
  using Out = T;
  long long ddof = 0;

  __device__ Out Finish(Value v) const {
    const long long rest = static_cast<long long>(v.count) - ddof;
    const Compute divisor = static_cast<Compute>(rest > 0 ? rest : 0);
    // It is 0 / 0 if there are no elements.
    const Compute variance = (v.count == 0 ? Compute(0) : v.Spread()) / divisor;
    return Element<T>::Store(kRoot ? Root(variance) : variance);
  }

 private:
  static __device__ float Root(float x) { return sqrtf(x); }
  static __device__ double Root(double x) { return sqrt(x); }
};
template <class T>
using VarianceOf = SpreadOf<T, false>;
template <class T>
using StdOf = SpreadOf<T, true>;

/// Writes the result of a reduction.
template <class Reduction>
__device__ __forceinline__ void WriteResult(const Reduction& reduction,
                                            const typename Reduction::Value& value,
                                            long long output, typename Reduction::Out* y) {
  if constexpr (requires { reduction.Finish(value); }) {
    y[output] = reduction.Finish(value);
  } else {
    using T = typename Reduction::Out;
    using Compute = typename Reduction::Compute;
    y[output] = Element<T>::Store(value.Mean());
    reduction.variance[output] = Element<T>::Store(
        value.count == 0 ? value.Mean() : value.Spread() / static_cast<Compute>(value.count));
  }
}

/// The largest (or smallest) element and its index; nan precedes all, and the first of equal ones
/// the others.
template <class T, bool kSmallest>
struct MinMaxOf {
  using Compute = ComputeType<T>;
  struct Value {
    Compute x;
    long long number;  // index; -1: no element yet
  };
  static __device__ bool Beats(Compute a, Compute b) {
    if (a != a) return b == b;
    return kSmallest ? a < b : a > b;
  }
  __device__ Value Nothing() const { return {Compute(0), -1}; }
  __device__ Value Include(Value best, Compute x, long long number) const {
    return best.number < 0 || Beats(x, best.x) ? Value{x, number} : best;
  }
  __device__ Value Merge(Value a, Value b) const {
    if (a.number < 0) return b;
    if (b.number < 0) return a;
    if (Beats(a.x, b.x)) return a;
    if (Beats(b.x, a.x)) return b;
    return a.number < b.number ? a : b;
  }
};
template <class T, bool kSmallest>
struct MinMaxValueOf : MinMaxOf<T, kSmallest> {
  using Out = T;
  __device__ Out Finish(typename MinMaxOf<T, kSmallest>::Value best) const {
    return Element<T>::Store(best.x);
  }
};
template <class T, bool kSmallest>
struct MinMaxIndexOf : MinMaxOf<T, kSmallest> {
  using Out = long long;
  __device__ Out Finish(typename MinMaxOf<T, kSmallest>::Value best) const { return best.number; }
};

template <class T>
using MaxOf = MinMaxValueOf<T, false>;
template <class T>
using MinOf = MinMaxValueOf<T, true>;
template <class T>
using ArgmaxOf = MinMaxIndexOf<T, false>;
template <class T>
using ArgminOf = MinMaxIndexOf<T, true>;

// --- Kernels ------------------------------------------------------------------------------------

/// Block (b, s) folds part s of some outputs. If there is one part it writes the results, else it
/// writes partial results to `parts`, part by part.
template <class Reduction, class T>
__global__ void __launch_bounds__(kBlockThreads)
    FoldKernel(const __grid_constant__ Fold fold, long long part_length, Reduction reduction,
               const T* x, typename Reduction::Out* y, typename Reduction::Value* parts) {
  using Value = typename Reduction::Value;
  __shared__ Value shared[kBlockThreads];
  const Fold::Place place = fold.At(threadIdx.x);
  const int width = kBlockThreads / fold.depth;
  const long long num_outputs = fold.outputs.num_elements;
  const long long length = fold.folded.num_elements;
  const long long begin = blockIdx.y * part_length;
  const long long end = length - begin < part_length ? length : begin + part_length;

  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long first = static_cast<long long>(blockIdx.x) * width; first < num_outputs;
       first += step) {
    const long long output = first + place.output;
    Value value = reduction.Nothing();
    if (output < num_outputs) {
      const T* from = x + fold.outputs.At(output).at[0];
#pragma unroll 4
      for (long long i = begin + place.part; i < end; i += fold.depth)
        value = reduction.Include(value, Element<T>::Load(from[fold.folded.At(i).at[0]]), i);
    }
    value = MergeParts(shared, value, place, fold.depth,
                       [&](Value a, Value b) { return reduction.Merge(a, b); });
    if (place.part == 0 && output < num_outputs) {
      if (gridDim.y == 1) {
        WriteResult(reduction, value, output, y);
      } else {
        parts[blockIdx.y * num_outputs + output] = value;
      }
    }
  }
}

/// A block for each output merges the partial results of FoldKernel.
template <class Reduction>
__global__ void __launch_bounds__(kBlockThreads)
    FinishKernel(long long num_outputs, int num_parts, Reduction reduction,
                 typename Reduction::Out* y, const typename Reduction::Value* parts) {
  using Value = typename Reduction::Value;
  __shared__ Value shared[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  for (long long output = blockIdx.x; output < num_outputs; output += gridDim.x) {
    Value value = reduction.Nothing();
    for (int part = thread; part < num_parts; part += kBlockThreads)
      value = reduction.Merge(value, parts[part * num_outputs + output]);
    value = MergeParts(shared, value, {0, thread, 1}, kBlockThreads,
                       [&](Value a, Value b) { return reduction.Merge(a, b); });
    if (thread == 0) WriteResult(reduction, value, output, y);
  }
}

// --- Operators ----------------------------------------------------------------------------------

struct ReductionState : CallState {
  Fold fold;
  int num_parts = 1;
  int64_t part_length = 0;
};

/// The maximum size in bytes of the Value of a Reduction.
constexpr int64_t kLargestValue = 32;

/// Splits long reductions with few outputs, to get enough blocks to fill a GPU. Depends
/// on the sizes only, so that all GPUs give the same bits.
void SplitFold(ReductionState& state) {
  constexpr int64_t kEnoughBlocks = 512;
  constexpr int64_t kLeastPerThread = 16;
  const Fold& fold = state.fold;
  const int64_t length = fold.folded.num_elements;
  const int64_t width = kBlockThreads / fold.depth;
  const int64_t blocks = (fold.outputs.num_elements + width - 1) / width;
  const int64_t most = length / (fold.depth * kLeastPerThread);
  state.part_length = length;
  if (blocks == 0 || blocks * 2 > kEnoughBlocks || most < 2) return;
  const int64_t target = std::min(kEnoughBlocks / blocks, most);
  // A multiple of the depth, so that every part begins at an aligned index.
  state.part_length = (length + target - 1) / target;
  state.part_length = (state.part_length + fold.depth - 1) / fold.depth * fold.depth;
  state.num_parts = static_cast<int>((length + state.part_length - 1) / state.part_length);
}

/// The axes that a call with the attribute `axes` or `axis` folds; all if it is not given.
llvm::SmallVector<bool, 8> FoldedAxes(const AttributeReader& attributes, size_t rank) {
  llvm::SmallVector<int64_t, 4> axes;
  if (attributes.Has("axis")) {
    axes.push_back(attributes.Int("axis"));
  } else if (attributes.Has("axes")) {
    axes.assign(attributes.Ints("axes").begin(), attributes.Ints("axes").end());
  } else {
    return llvm::SmallVector<bool, 8>(rank, true);
  }
  llvm::SmallVector<bool, 8> folded(rank, false);
  for (int64_t axis : axes)
    folded[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)] = true;
  return folded;
}

template <template <class> class Reduction, class Types, bool kMean = false>
class ReductionOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    if (auto error = RequireDType(Types(), input.dtype, *this)) return error;
    auto fold = MakeFold(input.sizes, Folded(input.sizes.size()));
    if (!fold) return fold.takeError();
    auto state = std::make_shared<ReductionState>();
    state->fold = *fold;
    SplitFold(*state);

    Preparation preparation;
    if (state->num_parts > 1)
      preparation.workspace_bytes =
          state->num_parts * state->fold.outputs.num_elements * kLargestValue;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const ReductionState& state = *context.state<ReductionState>();
    const int64_t num_outputs = state.fold.outputs.num_elements;
    if (num_outputs == 0) return llvm::Error::success();
    return VisitDType(Types(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using R = Reduction<T>;
      static_assert(sizeof(typename R::Value) <= kLargestValue);
      R reduction;
      if constexpr (requires { reduction.ddof; }) {
        reduction.ddof = attributes().Int("ddof");
      } else if constexpr (requires { reduction.variance; }) {
        reduction.variance = static_cast<T*>(outputs[1]->raw());
      } else if constexpr (requires { reduction.count; }) {
        if (kMean || std::is_same_v<typename R::Out, bool>)
          reduction.count = static_cast<decltype(reduction.count)>(state.fold.folded.num_elements);
      }
      auto* y = static_cast<typename R::Out*>(outputs[0]->raw());
      auto* parts = static_cast<typename R::Value*>(context.workspace());
      dim3 grid = GridFor(context, num_outputs, kBlockThreads / state.fold.depth);
      grid.y = static_cast<unsigned>(state.num_parts);
      llvm::Error error =
          Launch(context, type().c_str(), &FoldKernel<R, T>, grid, dim3(kBlockThreads), state.fold,
                 state.part_length, reduction, static_cast<const T*>(inputs[0]->raw()), y, parts);
      if (error || state.num_parts == 1) return error;
      return Launch(context, type().c_str(), &FinishKernel<R>, GridFor(context, num_outputs, 1),
                    dim3(kBlockThreads), num_outputs, state.num_parts, reduction, y,
                    static_cast<const typename R::Value*>(parts));
    });
  }

 protected:
  /// Which axes of an input with that rank are folded.
  virtual llvm::SmallVector<bool, 8> Folded(size_t rank) const {
    return FoldedAxes(attributes(), rank);
  }
};

class MomentsOp : public ReductionOp<MomentsOf, Floats> {
  llvm::SmallVector<bool, 8> Folded(size_t rank) const override {
    llvm::SmallVector<bool, 8> folded(rank, true);
    for (int64_t axis : attributes().Ints("keep"))
      folded[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)] = false;
    return folded;
  }
};

template <template <class> class Reduction, class Types, bool kMean = false>
void AddReduction(OpRegistry& registry, llvm::StringRef name) {
  registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<ReductionOp<Reduction, Types, kMean>>);
}

}  // namespace

void AddReductionKernels(OpRegistry& registry) {
  AddReduction<SumOf, AnyElement>(registry, "sum");
  AddReduction<SumOf, Floats, true>(registry, "mean");
  AddReduction<NormOf, Floats>(registry, "norm");
  registry.AddKernel("moments", DeviceKind::kCUDA, &CreateKernel<MomentsOp>);
  AddReduction<MaxOf, Numbers>(registry, "max");
  AddReduction<MinOf, Numbers>(registry, "min");
  AddReduction<ProdOf, AnyElement>(registry, "prod");
  AddReduction<AnyOf, AnyElement>(registry, "any");
  AddReduction<AllOf, AnyElement>(registry, "all");
  AddReduction<CountNonzeroOf, AnyElement>(registry, "count_nonzero");
  AddReduction<LogSumExpOf, Floats>(registry, "logsumexp");
  AddReduction<VarianceOf, Floats>(registry, "variance");
  AddReduction<StdOf, Floats>(registry, "std");
  AddReduction<ArgmaxOf, AnyElement>(registry, "argmax");
  AddReduction<ArgminOf, AnyElement>(registry, "argmin");
}

}  // namespace pdl::cuda
