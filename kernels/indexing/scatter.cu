#include <memory>

#include "kernels/core/float_copy.h"
#include "kernels/indexing/nd_index.cuh"
#include "kernels/indexing/slice_updates.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

Reduction ReductionOf(llvm::StringRef name) {
  return name == "add"   ? Reduction::kAdd
         : name == "mul" ? Reduction::kMul
         : name == "min" ? Reduction::kMin
         : name == "max" ? Reduction::kMax
                         : Reduction::kNone;
}

class ScatterBase : public Operator<CUDAContext> {
 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    reduction_ = ReductionOf(attributes.String("reduction"));
    return llvm::Error::success();
  }
  /// Copies x to the result, unless the result already uses its memory.
  static llvm::Error CopyBase(const Tensor& x, Tensor* y, CUDAContext& context) {
    if (x.raw() == y->raw() || x.num_bytes() == 0) return llvm::Error::success();
    return context.CopyWithin(y->raw(), x.raw(), x.num_bytes());
  }
  Reduction reduction_ = Reduction::kNone;
};

// --- scatter ------------------------------------------------------------------------------------

/// Each thread applies all updates of a line along the axis, so that each element gets its updates
/// in order. Elements that change are combined in `combined`, which is as large as y; this is
/// y itself if Combined<T> is T.
template <class T, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    ScatterKernel(const __grid_constant__ IndexMap<2> lines, Reduction reduction, long long count,
                  long long index_stride, long long size, long long stride, const Index* indices,
                  const T* updates, Combined<T>* combined, T* y) {
  constexpr bool kIsApart = sizeof(Combined<T>) != sizeof(T);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long line = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       line < lines.num_elements; line += step) {
    const Offsets<2> at = lines.At(line);
    const auto for_each = [&](auto f) {
      long long from = at.at[0];
      for (long long i = 0; i < count; ++i, from += index_stride) {
        const long long position = PositionOf(indices, from, size);
        if (position >= 0) f(at.at[1] + position * stride, from);
      }
    };
    if constexpr (kIsApart)
      for_each([&](long long to, long long) { combined[to] = ToCombined(y[to]); });
    for_each([&](long long to, long long from) {
      combined[to] = Combine<T>(reduction, combined[to], ToCombined(updates[from]));
    });
    if constexpr (kIsApart)
      for_each([&](long long to, long long) { y[to] = FromCombined<T>(combined[to]); });
  }
}

struct ScatterState : CallState {
  /// The starts of the lines along the axis, in the indices and in x.
  IndexMap<2> lines;
  int64_t count = 0, index_stride = 0, size = 0, stride = 0;
};

class ScatterOp : public ScatterBase {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(AnyElement(), x.dtype, *this)) return error;
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = attributes().Int("axis");
    const size_t axis = static_cast<size_t>(given < 0 ? given + rank : given);
    Sizes walk = context.inputs()[1].sizes;
    const Sizes from = DenseStrides(walk), to = DenseStrides(x.sizes);
    auto state = std::make_shared<ScatterState>();
    state->count = walk[axis];
    state->index_stride = from[axis];
    state->size = x.sizes[axis];
    state->stride = to[axis];
    walk[axis] = 1;
    auto lines = MakeIndexMap<2>(walk, {from, to});
    if (!lines) return lines.takeError();
    state->lines = *lines;
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    if (IsHalf(x.dtype))
      preparation.workspace_bytes = context.outputs()[0].num_elements() * int64_t{sizeof(float)};
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const ScatterState& state = *context.state<ScatterState>();
    if (auto error = CopyBase(*inputs[0], outputs[0], context)) return error;
    if (inputs[1]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(AnyElement(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return VisitIndex(inputs[1]->dtype(), [&](auto index) {
        using Index = decltype(index);
        T* y = static_cast<T*>(outputs[0]->raw());
        Combined<T>* combined;
        if constexpr (sizeof(Combined<T>) == sizeof(T)) {
          combined = y;
        } else {
          combined = static_cast<Combined<T>*>(context.workspace());
        }
        return Launch(context, type().c_str(), &ScatterKernel<T, Index>,
                      GridFor(context, state.lines.num_elements), dim3(kBlockThreads), state.lines,
                      reduction_, state.count, state.index_stride, state.size, state.stride,
                      static_cast<const Index*>(inputs[1]->raw()),
                      static_cast<const T*>(inputs[2]->raw()), combined, y);
      });
    });
  }
};

// --- scatter_nd ---------------------------------------------------------------------------------

/// The index of the slice that each tuple selects, counted over all blocks; -1 if out of range.
template <class Index>
__global__ void __launch_bounds__(kBlockThreads)
    TuplePositionsKernel(const __grid_constant__ NdShape shape, const Index* indices,
                         long long* positions) {
  const long long n = shape.blocks * shape.count;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    const long long position = TuplePosition(shape, indices, i);
    positions[i] = position < 0 ? -1 : i / shape.count * shape.positions + position;
  }
}

/// A block for each tuple.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    ScatterNdKernel(const __grid_constant__ NdShape shape, Reduction reduction,
                    const long long* positions, const T* updates, T* y) {
  const auto position_at = [&](long long i) { return positions[i]; };
  const auto element = [&](long long slice, long long c) { return slice * shape.inner + c; };
  for (long long tuple = blockIdx.x; tuple < shape.blocks * shape.count; tuple += gridDim.x) {
    const long long begin = tuple / shape.count * shape.count;
    UpdateSlice(reduction, begin, tuple, begin + shape.count, shape.inner, position_at, element,
                element, updates, y);
  }
}

struct ScatterNdState : CallState {
  NdShape shape;
};

class ScatterNdOp : public ScatterBase {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    if (auto error = RequireDType(AnyElement(), context.inputs()[0].dtype, *this)) return error;
    auto shape = MakeNdShape(context, attributes().Int("batch_dims"));
    if (!shape) return shape.takeError();
    auto state = std::make_shared<ScatterNdState>();
    state->shape = *shape;
    Preparation preparation;
    preparation.workspace_bytes =
        shape->blocks * shape->count * static_cast<int64_t>(sizeof(int64_t));
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const NdShape& shape = context.state<ScatterNdState>()->shape;
    if (auto error = CopyBase(*inputs[0], outputs[0], context)) return error;
    if (inputs[2]->num_elements() == 0) return llvm::Error::success();
    const int64_t tuples = shape.blocks * shape.count;
    long long* positions = static_cast<long long*>(context.workspace());
    auto error = VisitIndex(inputs[1]->dtype(), [&](auto index) {
      using Index = decltype(index);
      return Launch(context, type().c_str(), &TuplePositionsKernel<Index>, GridFor(context, tuples),
                    dim3(kBlockThreads), shape, static_cast<const Index*>(inputs[1]->raw()),
                    positions);
    });
    if (error) return error;
    return VisitDType(AnyElement(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &ScatterNdKernel<T>, GridFor(context, tuples, 1),
                    dim3(kBlockThreads), shape, reduction_, positions,
                    static_cast<const T*>(inputs[2]->raw()), static_cast<T*>(outputs[0]->raw()));
    });
  }
};

}  // namespace

void AddScatterKernels(OpRegistry& registry) {
  registry.AddKernel("scatter", DeviceKind::kCUDA, &CreateKernel<ScatterOp>);
  registry.AddKernel("scatter_nd", DeviceKind::kCUDA, &CreateKernel<ScatterNdOp>);
}

}  // namespace pdl::cuda
