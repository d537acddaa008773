#include <cmath>
#include <memory>
#include <optional>

#include "kernels/core/index_map.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// A block of threads owns kMine rows and iterates over kOthers rows of the other operand at a
/// time: queries and keys, or keys and queries. kLanes threads share a row.
constexpr int kMine = 16;
constexpr int kOthers = 64;
constexpr int kLanes = 16;
constexpr int kEach = kOthers / kLanes;
/// The number of elements over which dot products of rows are accumulated at a time.
constexpr int kDepth = 32;

enum class Mask { kNone, kBool, kAdded };

/// q is [blocks, heads, rows, depth], k [blocks, groups, columns, depth], v [..., width].
struct AttentionShape {
  long long blocks = 1, heads = 1, groups = 1, rows = 0, columns = 0, depth = 0, width = 0;
  double scale = 1;
  bool causal = false;
  Mask mask = Mask::kNone;
  bool past_is_wide = true;
  /// Maps a head to the offset of its part of the mask.
  IndexMap<1> mask_heads;
  long long mask_row = 0, mask_column = 0;
};

/// The optional operands; null if not given.
struct Options {
  const void* past = nullptr;
  const void* mask = nullptr;
};

__device__ __forceinline__ float Exponential(float x) { return expf(x); }
__device__ __forceinline__ double Exponential(double x) { return exp(x); }
__device__ __forceinline__ float Logarithm(float x) { return logf(x); }
__device__ __forceinline__ double Logarithm(double x) { return log(x); }

template <class Value>
struct Tiles {
  Value mine[kMine][kDepth + 1];
  Value others[kOthers][kDepth + 1];
  Value weights[kMine][kOthers + 1];
  Value merged[kMine][kLanes];
};

/// The number of keys, from the first on, that a row of the queries attends to.
__device__ __forceinline__ long long NumVisible(const AttentionShape& s, long long row,
                                                long long past) {
  if (!s.causal || past >= s.columns) return s.columns;
  const long long visible = past + row + 1;
  return visible < 0 ? 0 : visible < s.columns ? visible : s.columns;
}

__device__ __forceinline__ long long PastOf(const AttentionShape& s, const Options& options) {
  if (options.past == nullptr) return 0;
  const long long past = s.past_is_wide ? *static_cast<const long long*>(options.past)
                                        : *static_cast<const int*>(options.past);
  constexpr long long kLeast = -(1ll << 62);
  return past < kLeast ? kLeast : past;
}

/// The dot products of row threadIdx.x / kLanes of `mine` with kEach rows of `others`, kLanes
/// apart.
template <class T, class Value>
__device__ __forceinline__ void Products(Tiles<Value>& tiles, const T* mine, long long num_mine,
                                         const T* others, long long num_others, long long depth,
                                         Value* sums) {
  const int thread = static_cast<int>(threadIdx.x), row = thread / kLanes, lane = thread % kLanes;
  for (int i = 0; i < kEach; ++i) sums[i] = 0;
  for (long long begin = 0; begin < depth; begin += kDepth) {
    __syncthreads();  // other threads may still be reading the tiles
    for (int i = thread; i < (kMine + kOthers) * kDepth; i += kBlockThreads) {
      const int r = i / kDepth, d = i % kDepth;
      const bool is_mine = r < kMine;
      const long long from = is_mine ? r : r - kMine;
      const bool is_there = begin + d < depth && from < (is_mine ? num_mine : num_others);
      const T* rows = is_mine ? mine : others;
      const Value value = is_there ? Element<T>::Load(rows[from * depth + begin + d]) : Value(0);
      if (is_mine) {
        tiles.mine[r][d] = value;
      } else {
        tiles.others[r - kMine][d] = value;
      }
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) {
      const Value a = tiles.mine[row][d];
      for (int i = 0; i < kEach; ++i) sums[i] += a * tiles.others[lane + i * kLanes][d];
    }
  }
}

/// A score: the scaled dot product plus the mask; -inf if the query does not attend to the key.
template <class T, class Value>
__device__ __forceinline__ Value Score(const AttentionShape& s, const Options& options,
                                       long long head, long long row, long long column,
                                       long long past, Value product) {
  constexpr Value kLow = -static_cast<Value>(INFINITY);
  if (row >= s.rows || column >= NumVisible(s, row, past)) return kLow;
  Value score = product * static_cast<Value>(s.scale);
  if (s.mask == Mask::kNone) return score;
  const long long at = s.mask_heads.At(head).at[0] + row * s.mask_row + column * s.mask_column;
  if (s.mask == Mask::kBool) return static_cast<const bool*>(options.mask)[at] ? score : kLow;
  return score + Element<T>::Load(static_cast<const T*>(options.mask)[at]);
}

/// Adds weights[row][j] times row j of `rows` to this thread's elements of the sum, which are part
/// of kLanes * kParts elements from `first` on.
template <class T, class Value, int kParts>
__device__ __forceinline__ void AddRows(const Tiles<Value>& tiles, const T* rows,
                                        long long num_rows, long long width, long long first,
                                        Value* sums) {
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int j = 0; j < kOthers && j < num_rows; ++j) {
    const Value weight = tiles.weights[row][j];
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const long long e = first + part * kLanes + lane;
      if (e < width) sums[part] += weight * Element<T>::Load(rows[j * width + e]);
    }
  }
}

/// Merges the values of the lanes of a row, in the order of the lanes.
template <class Value, class Merge>
__device__ __forceinline__ Value MergeLanes(Tiles<Value>& tiles, Value value, Merge merge) {
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  __syncthreads();  // other threads may still be reading the previous values
  tiles.merged[row][lane] = value;
  __syncthreads();
  Value merged = tiles.merged[row][0];
  for (int i = 1; i < kLanes; ++i) merged = merge(merged, tiles.merged[row][i]);
  return merged;
}

__device__ __forceinline__ long long FirstKey(const AttentionShape& s, long long head) {
  const long long block = head / s.heads, within = head - block * s.heads;
  return (block * s.groups + within / (s.heads / s.groups)) * s.columns;
}

/// The online softmax of Milakov and Gimelshein (arXiv:1805.02867) over blocks of keys. A task
/// computes kLanes * kParts elements of the results of kMine queries.
template <class T, int kParts>
__global__ void __launch_bounds__(kBlockThreads)
    AttentionKernel(const __grid_constant__ AttentionShape s, Options options, const T* q,
                    const T* k, const T* v, T* y, ComputeType<T>* lse) {
  using Value = ComputeType<T>;
  __shared__ Tiles<Value> tiles;
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const long long past = PastOf(s, options);
  const long long row_tasks = (s.rows + kMine - 1) / kMine;
  const long long parts = s.width == 0 ? 1 : (s.width + kLanes * kParts - 1) / (kLanes * kParts);
  const Value low = -static_cast<Value>(INFINITY);
  for (long long task = blockIdx.x; task < s.blocks * s.heads * row_tasks * parts;
       task += gridDim.x) {
    const long long first_element = task % parts * kLanes * kParts;
    const long long first_row = task / parts % row_tasks * kMine;
    const long long head = task / parts / row_tasks;
    const long long first_key = FirstKey(s, head);
    const long long mine = s.rows - first_row < kMine ? s.rows - first_row : kMine;
    const T* queries = q + (head * s.rows + first_row) * s.depth;
    Value largest = low, total = 0, sums[kParts];
    for (int part = 0; part < kParts; ++part) sums[part] = 0;
    const long long visible = NumVisible(s, first_row + mine - 1, past);
    for (long long column = 0; column < visible; column += kOthers) {
      const long long n = s.columns - column;
      Value scores[kEach];
      Products(tiles, queries, mine, k + (first_key + column) * s.depth, n, s.depth, scores);
      Value most = low;
      for (int i = 0; i < kEach; ++i) {
        scores[i] = Score<T>(s, options, head, first_row + row, column + lane + i * kLanes, past,
                             scores[i]);
        most = scores[i] > most || scores[i] != scores[i] ? scores[i] : most;
      }
      most = MergeLanes(tiles, most, [](Value a, Value b) { return b > a || b != b ? b : a; });
      const Value next = most > largest || most != most ? most : largest;
      const bool is_blind = next == low;
      const Value factor = is_blind ? Value(1) : Exponential(largest - next);
      Value sum = 0;
      for (int i = 0; i < kEach; ++i) {
        // Positions after the keys, or masked ones, have weight 0.
        const Value weight =
            is_blind || scores[i] == low ? Value(0) : Exponential(scores[i] - next);
        tiles.weights[row][lane + i * kLanes] = weight;
        sum += weight;
      }
      sum = MergeLanes(tiles, sum, [](Value a, Value b) { return a + b; });
      total = total * factor + sum;
      largest = next;
      for (int part = 0; part < kParts; ++part) sums[part] *= factor;
      AddRows<T, Value, kParts>(tiles, v + (first_key + column) * s.width, n, s.width,
                                first_element, sums);
    }
    if (row < mine) {
      const long long at = head * s.rows + first_row + row;
      for (int part = 0; part < kParts; ++part) {
        const long long e = first_element + part * kLanes + lane;
        // A row that attends to no key is 0.
        if (e < s.width)
          y[at * s.width + e] = Element<T>::Store(total == 0 ? Value(0) : sums[part] / total);
      }
      if (first_element == 0 && lane == 0)
        lse[at] = largest == -low ? largest : largest + Logarithm(total);
    }
    __syncthreads();
  }
}

// --- attention_gradient -------------------------------------------------------------------------

enum class GradientOf { kQueries, kKeys, kValues };

template <class T>
struct Operands {
  const T *q, *k, *v, *dy;
  const ComputeType<T>*lse, *shift;
};

/// The probabilities are recomputed (Dao et al., arXiv:2205.14135). A task computes kLanes * kParts
/// elements of the gradients of kMine queries or keys.
template <class T, GradientOf kOf, int kParts>
__global__ void __launch_bounds__(kBlockThreads)
    AttentionGradientKernel(const __grid_constant__ AttentionShape s, Options options,
                            Operands<T> in, T* result) {
  using Value = ComputeType<T>;
  constexpr bool kOfQueries = kOf == GradientOf::kQueries;
  __shared__ Tiles<Value> tiles;
  const int mine_row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Value low = -static_cast<Value>(INFINITY);
  const long long past = PastOf(s, options);
  const long long sharing = s.heads / s.groups;
  const long long size = kOf == GradientOf::kValues ? s.width : s.depth;
  const long long parts = (size + kLanes * kParts - 1) / (kLanes * kParts);
  const long long length = kOfQueries ? s.rows : s.columns;
  const long long other_length = kOfQueries ? s.columns : s.rows;
  const long long row_tasks = (length + kMine - 1) / kMine;
  const long long tasks = s.blocks * (kOfQueries ? s.heads : s.groups) * row_tasks * parts;
  for (long long task = blockIdx.x; task < tasks; task += gridDim.x) {
    const long long first_element = task % parts * kLanes * kParts;
    const long long first = task / parts % row_tasks * kMine;
    const long long owner = task / parts / row_tasks;  // a head, or a group of heads
    const long long mine = length - first < kMine ? length - first : kMine;
    const long long first_head =
        kOfQueries ? owner : owner / s.groups * s.heads + owner % s.groups * sharing;
    Value sums[kParts];
    for (int part = 0; part < kParts; ++part) sums[part] = 0;
    for (long long head = first_head; head < first_head + (kOfQueries ? 1 : sharing); ++head) {
      const long long first_key = FirstKey(s, head), first_query = head * s.rows;
      const long long mine_at = (kOfQueries ? first_query : first_key) + first;
      for (long long begin = 0; begin < other_length; begin += kOthers) {
        const long long last_row = kOfQueries
                                       ? first + mine - 1
                                       : (begin + kOthers < s.rows ? begin + kOthers : s.rows) - 1;
        if (NumVisible(s, last_row, past) <= (kOfQueries ? begin : first)) continue;
        const long long n = other_length - begin;
        const long long other_at = (kOfQueries ? first_key : first_query) + begin;
        Value products[kEach], slopes[kEach];
        Products(tiles, (kOfQueries ? in.q : in.k) + mine_at * s.depth, mine,
                 (kOfQueries ? in.k : in.q) + other_at * s.depth, n, s.depth, products);
        if (kOf != GradientOf::kValues)
          Products(tiles, (kOfQueries ? in.dy : in.v) + mine_at * s.width, mine,
                   (kOfQueries ? in.v : in.dy) + other_at * s.width, n, s.width, slopes);
        __syncthreads();  // other threads may still be reading the previous weights
        for (int i = 0; i < kEach; ++i) {
          const int other = lane + i * kLanes;
          const long long row = kOfQueries ? first + mine_row : begin + other;
          const long long column = kOfQueries ? begin + other : first + mine_row;
          const Value score = Score<T>(s, options, head, row, column, past, products[i]);
          Value weight = 0;
          if (score != low && row < s.rows) {
            const Value lse = in.lse[first_query + row];
            weight = lse == low ? Value(0) : Exponential(score - lse);
            if (kOf != GradientOf::kValues) weight *= slopes[i] - in.shift[first_query + row];
          }
          tiles.weights[mine_row][other] = weight;
        }
        __syncthreads();
        const T* rows = kOf == GradientOf::kValues
                            ? in.dy + other_at * s.width
                            : (kOfQueries ? in.k : in.q) + other_at * s.depth;
        AddRows<T, Value, kParts>(tiles, rows, n, size, first_element, sums);
      }
    }
    if (mine_row < mine) {
      const long long at = owner * length + first + mine_row;
      const Value factor = kOf == GradientOf::kValues ? Value(1) : static_cast<Value>(s.scale);
      for (int part = 0; part < kParts; ++part) {
        const long long e = first_element + part * kLanes + lane;
        if (e < size) result[at * size + e] = Element<T>::Store(sums[part] * factor);
      }
    }
    __syncthreads();
  }
}

// --- The operators ------------------------------------------------------------------------------

struct AttentionState : CallState {
  AttentionShape shape;
};

/// Operands `past` and `past` + 1 are optional.
llvm::Expected<Preparation> PrepareShape(const PrepareContext& context, size_t past,
                                         const OperatorBase& op) {
  const auto inputs = context.inputs();
  if (auto error = RequireDType(Floats(), inputs[0].dtype, op)) return error;
  const size_t rank = inputs[0].sizes.size();
  auto state = std::make_shared<AttentionState>();
  AttentionShape& s = state->shape;
  s.rows = inputs[0].sizes[rank - 2];
  s.depth = inputs[0].sizes[rank - 1];
  s.columns = inputs[1].sizes[rank - 2];
  s.width = inputs[2].sizes[rank - 1];
  for (size_t d = 0; d + 3 < rank; ++d) s.blocks *= inputs[0].sizes[d];
  if (rank > 2) {
    s.heads = inputs[0].sizes[rank - 3];
    s.groups = inputs[1].sizes[rank - 3];
  }
  const AttributeReader attributes = op.attributes();
  s.scale = attributes.Has("scale") ? attributes.Float("scale")
                                    : 1.0 / std::sqrt(static_cast<double>(s.depth));
  s.causal = attributes.Bool("causal");
  if (inputs.size() > past) s.past_is_wide = inputs[past].dtype == DType::kI64;
  if (inputs.size() > past + 1) {
    const OperandType& mask = inputs[past + 1];
    s.mask = mask.dtype == DType::kBool ? Mask::kBool : Mask::kAdded;
    Sizes scores = inputs[0].sizes;
    scores.back() = s.columns;
    Sizes strides = BroadcastStrides(mask.sizes, scores);
    s.mask_column = strides.pop_back_val();
    s.mask_row = strides.pop_back_val();
    scores.resize(rank - 2);
    auto heads = MakeIndexMap<1>(scores, {strides});
    if (!heads) return heads.takeError();
    s.mask_heads = *heads;
  }
  Preparation preparation;
  preparation.state = std::move(state);
  return preparation;
}

Options OptionsOf(llvm::ArrayRef<const Tensor*> inputs, size_t past) {
  return {inputs.size() > past ? inputs[past]->raw() : nullptr,
          inputs.size() > past + 1 ? inputs[past + 1]->raw() : nullptr};
}

/// Calls visit(number of parts as a constant) for rows with this many elements.
template <class Visit>
llvm::Error VisitParts(int64_t size, Visit visit) {
  if (size <= kLanes * 4) return visit(std::integral_constant<int, 4>());
  if (size <= kLanes * 8) return visit(std::integral_constant<int, 8>());
  return visit(std::integral_constant<int, 16>());
}

int64_t NumTasks(int64_t owners, int64_t rows, int64_t size, int parts) {
  const int64_t width = int64_t{kLanes} * parts;
  return owners * ((rows + kMine - 1) / kMine) * std::max<int64_t>(1, (size + width - 1) / width);
}

class AttentionOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    return PrepareShape(context, 3, *this);
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const AttentionShape& s = context.state<AttentionState>()->shape;
    if (outputs[1]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return VisitParts(s.width, [&](auto parts) {
        const int64_t tasks = NumTasks(s.blocks * s.heads, s.rows, s.width, parts);
        return Launch(context, type().c_str(), &AttentionKernel<T, decltype(parts)::value>,
                      GridFor(context, tasks, 1), dim3(kBlockThreads), s, OptionsOf(inputs, 3),
                      static_cast<const T*>(inputs[0]->raw()),
                      static_cast<const T*>(inputs[1]->raw()),
                      static_cast<const T*>(inputs[2]->raw()), static_cast<T*>(outputs[0]->raw()),
                      static_cast<ComputeType<T>*>(outputs[1]->raw()));
      });
    });
  }
};

class AttentionGradientOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    return PrepareShape(context, 6, *this);
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      if (auto error = RunOne<T, GradientOf::kQueries>(inputs, outputs[0], context)) return error;
      if (auto error = RunOne<T, GradientOf::kKeys>(inputs, outputs[1], context)) return error;
      return RunOne<T, GradientOf::kValues>(inputs, outputs[2], context);
    });
  }

 private:
  template <class T, GradientOf kOf>
  llvm::Error RunOne(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
                     CUDAContext& context) const {
    const AttentionShape& s = context.state<AttentionState>()->shape;
    if (output->num_elements() == 0) return llvm::Error::success();
    using Value = ComputeType<T>;
    const Operands<T> in = {
        static_cast<const T*>(inputs[0]->raw()),     static_cast<const T*>(inputs[1]->raw()),
        static_cast<const T*>(inputs[2]->raw()),     static_cast<const T*>(inputs[4]->raw()),
        static_cast<const Value*>(inputs[3]->raw()), static_cast<const Value*>(inputs[5]->raw())};
    const int64_t size = kOf == GradientOf::kValues ? s.width : s.depth;
    const bool of_queries = kOf == GradientOf::kQueries;
    return VisitParts(size, [&](auto parts) {
      const int64_t tasks = NumTasks(s.blocks * (of_queries ? s.heads : s.groups),
                                     of_queries ? s.rows : s.columns, size, parts);
      return Launch(context, type().c_str(),
                    &AttentionGradientKernel<T, kOf, decltype(parts)::value>,
                    GridFor(context, tasks, 1), dim3(kBlockThreads), s, OptionsOf(inputs, 6), in,
                    static_cast<T*>(output->raw()));
    });
  }
};

}  // namespace

void AddAttentionKernels(OpRegistry& registry) {
  registry.AddKernel("attention", DeviceKind::kCUDA, &CreateKernel<AttentionOp>);
  registry.AddKernel("attention_gradient", DeviceKind::kCUDA, &CreateKernel<AttentionGradientOp>);
}

}  // namespace pdl::cuda
