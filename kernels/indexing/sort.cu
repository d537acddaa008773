#include <memory>

#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

/// The number of entries that a block sorts in shared memory.
constexpr int kChunk = 1024;

/// The key and index of an element. Ordering by both makes the sort stable.
struct Entry {
  unsigned long long key;
  long long position;
};
__device__ __forceinline__ bool ComesBefore(const Entry& a, const Entry& b) {
  return a.key != b.key ? a.key < b.key : a.position < b.position;
}

/// x is `outer` blocks of `size` rows of `inner` elements; the first `count` elements of each of
/// `lines` lines along the rows are sorted. A line has `width` entries, a power of two.
struct SortShape {
  long long lines = 1, size = 0, inner = 1, count = 0, width = 1;
};

/// Unsigned integers in the order of the elements: NaN after all others, zeros of both signs equal.
template <class T>
__device__ __forceinline__ unsigned long long KeyOf(T element) {
  const ComputeType<T> x = Element<T>::Load(element);
  if constexpr (kIsFloat<ComputeType<T>>) {
    constexpr unsigned long long kSign = 1ull << 63;
    if (x != x) return ~0ull;
    // Conversion to double is exact and keeps the order.
    const double wide = x == 0 ? 0.0 : static_cast<double>(x);
    unsigned long long bits;
    __builtin_memcpy(&bits, &wide, sizeof bits);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else {
    return static_cast<unsigned long long>(static_cast<long long>(x)) ^ 1ull << 63;
  }
}

/// Compares and swaps a pair; `ascending` is the direction of the bitonic network at this index.
__device__ __forceinline__ void Order(Entry& low, Entry& high, bool ascending) {
  if (ComesBefore(high, low) == ascending) {
    const Entry entry = low;
    low = high;
    high = entry;
  }
}

/// One step of a bitonic network (Batcher 1968) over the chunk from entry `base` on: compares pairs
/// at `distance` in sequences of `length`.
__device__ __forceinline__ void ChunkStep(Entry* chunk, long long base, long long width,
                                          long long length, int distance) {
  for (int pair = static_cast<int>(threadIdx.x); pair < kChunk / 2; pair += kBlockThreads) {
    const int low = pair / distance * distance * 2 + pair % distance;
    const bool ascending = ((base + low) & (width - 1) & length) == 0;
    Order(chunk[low], chunk[low + distance], ascending);
  }
  __syncthreads();
}

/// Makes the entries, and sorts each chunk up to sequences of the length of a chunk.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SortChunksKernel(SortShape shape, bool backwards, const T* x, Entry* entries) {
  __shared__ Entry chunk[kChunk];
  const int thread = static_cast<int>(threadIdx.x);
  const long long total = shape.lines * shape.width;
  for (long long base = static_cast<long long>(blockIdx.x) * kChunk; base < total;
       base += static_cast<long long>(gridDim.x) * kChunk) {
    for (int i = thread; i < kChunk; i += kBlockThreads) {
      const long long line = (base + i) / shape.width, position = (base + i) & (shape.width - 1);
      Entry entry = {~0ull, position};
      if (line < shape.lines && position < shape.size) {
        const long long block = line / shape.inner;
        const T element =
            x[(block * shape.size + position) * shape.inner + (line - block * shape.inner)];
        entry.key = backwards ? ~KeyOf(element) : KeyOf(element);
      }
      chunk[i] = entry;
    }
    __syncthreads();
    const long long longest = shape.width < kChunk ? shape.width : kChunk;
    for (int length = 2; length <= longest; length *= 2) {
      for (int distance = length / 2; distance > 0; distance /= 2)
        ChunkStep(chunk, base, shape.width, length, distance);
    }
    for (int i = thread; i < kChunk; i += kBlockThreads) {
      if (base + i < total) entries[base + i] = chunk[i];
    }
    __syncthreads();
  }
}

/// One step with a distance of a chunk or more.
__global__ void __launch_bounds__(kBlockThreads)
    SortStepKernel(SortShape shape, long long length, long long distance, Entry* entries) {
  const long long pairs = shape.lines * shape.width / 2;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long pair = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; pair < pairs;
       pair += step) {
    const long long low = pair / distance * distance * 2 + pair % distance;
    const bool ascending = (low & (shape.width - 1) & length) == 0;
    Order(entries[low], entries[low + distance], ascending);
  }
}

/// The remaining steps, with distances within a chunk.
__global__ void __launch_bounds__(kBlockThreads)
    MergeChunksKernel(SortShape shape, long long length, Entry* entries) {
  __shared__ Entry chunk[kChunk];
  const int thread = static_cast<int>(threadIdx.x);
  const long long total = shape.lines * shape.width;
  for (long long base = static_cast<long long>(blockIdx.x) * kChunk; base < total;
       base += static_cast<long long>(gridDim.x) * kChunk) {
    for (int i = thread; i < kChunk; i += kBlockThreads) chunk[i] = entries[base + i];
    __syncthreads();
    for (int distance = kChunk / 2; distance > 0; distance /= 2)
      ChunkStep(chunk, base, shape.width, length, distance);
    for (int i = thread; i < kChunk; i += kBlockThreads) entries[base + i] = chunk[i];
    __syncthreads();
  }
}

/// y may be null.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    WriteSortedKernel(SortShape shape, const T* x, const Entry* entries, T* y,
                      long long* positions) {
  const long long n = shape.lines * shape.count;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long row = i / shape.inner, column = i - row * shape.inner;
    const long long block = row / shape.count;
    const long long line = block * shape.inner + column;
    const long long position = entries[line * shape.width + (row - block * shape.count)].position;
    positions[i] = position;
    if (y != nullptr) y[i] = x[(block * shape.size + position) * shape.inner + column];
  }
}

struct SortState : CallState {
  SortShape shape;
};

class SortOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(AnyElement(), x.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = attributes().Int("axis");
    const int64_t axis = given < 0 ? given + rank : given;
    auto state = std::make_shared<SortState>();
    SortShape& shape = state->shape;
    for (int64_t d = 0; d < rank; ++d) {
      if (d == axis) continue;
      shape.lines *= x.sizes[static_cast<size_t>(d)];
      if (d > axis) shape.inner *= x.sizes[static_cast<size_t>(d)];
    }
    shape.size = x.sizes[static_cast<size_t>(axis)];
    shape.count = context.outputs()[0].sizes[static_cast<size_t>(axis)];
    while (shape.width < shape.size) shape.width *= 2;
    Preparation preparation;
    preparation.workspace_bytes = shape.lines * shape.width * static_cast<int64_t>(sizeof(Entry));
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const SortShape& shape = context.state<SortState>()->shape;
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const char* name = type().c_str();
    Entry* entries = static_cast<Entry*>(context.workspace());
    const int64_t total = shape.lines * shape.width;
    const dim3 chunks = GridFor(context, total, kChunk);
    return VisitDType(AnyElement(), inputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      T* y = outputs.size() > 1 ? static_cast<T*>(outputs[0]->raw()) : nullptr;
      if (auto error = Launch(context, name, &SortChunksKernel<T>, chunks, dim3(kBlockThreads),
                              shape, backwards_, x, entries))
        return error;
      for (int64_t length = kChunk * 2; length <= shape.width; length *= 2) {
        for (int64_t distance = length / 2; distance >= kChunk; distance /= 2) {
          if (auto error = Launch(context, name, &SortStepKernel, GridFor(context, total / 2),
                                  dim3(kBlockThreads), shape, length, distance, entries))
            return error;
        }
        if (auto error = Launch(context, name, &MergeChunksKernel, chunks, dim3(kBlockThreads),
                                shape, length, entries))
          return error;
      }
      return Launch(context, name, &WriteSortedKernel<T>, GridFor(context, n), dim3(kBlockThreads),
                    shape, x, entries, y, static_cast<long long*>(outputs.back()->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    backwards_ =
        attributes.Has("largest") ? attributes.Bool("largest") : attributes.Bool("descending");
    return llvm::Error::success();
  }

 private:
  bool backwards_ = false;
};

}  // namespace

void AddSortKernels(OpRegistry& registry) {
  registry.AddKernel("sort", DeviceKind::kCUDA, &CreateKernel<SortOp>);
  registry.AddKernel("argsort", DeviceKind::kCUDA, &CreateKernel<SortOp>);
  registry.AddKernel("topk", DeviceKind::kCUDA, &CreateKernel<SortOp>);
}

}  // namespace pdl::cuda
