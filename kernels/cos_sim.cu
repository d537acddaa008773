#include <memory>

#include "kernels/cuda_ops.h"
#include "kernels/reduction.cuh"

namespace pdl::cuda {
namespace {

__device__ __forceinline__ float SquareRoot(float x) { return sqrtf(x); }
__device__ __forceinline__ double SquareRoot(double x) { return sqrt(x); }

/// The three sums that make the cosine of the angle between two rows.
template <class Value>
struct Products {
  Value xx, xy, yy;
};

/// One output a row; rows of y are found by `y_rows`, since they may be broadcast.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    CosSimKernel(const __grid_constant__ IndexMap<2> rows, long long length, int depth,
                 double scale, const T* x, const T* y, T* out) {
  using Value = ComputeType<T>;
  using Sums = Products<Value>;
  __shared__ Sums shared[kBlockThreads];
  const int width = kBlockThreads / depth;
  const int thread = static_cast<int>(threadIdx.x);
  const Fold::Place place = {thread / depth, thread % depth, 1};
  const long long step = static_cast<long long>(gridDim.x) * width;
  for (long long first = static_cast<long long>(blockIdx.x) * width; first < rows.num_elements;
       first += step) {
    const long long row = first + place.output;
    Sums sums = {0, 0, 0};
    if (row < rows.num_elements) {
      const Offsets<2> offset = rows.At(row);
#pragma unroll 4
      for (long long i = place.part; i < length; i += depth) {
        const Value a = Element<T>::Load(x[offset.at[0] + i]);
        const Value b = Element<T>::Load(y[offset.at[1] + i]);
        sums.xx += a * a;
        sums.xy += a * b;
        sums.yy += b * b;
      }
    }
    sums = MergeParts(shared, sums, place, depth, [](const Sums& a, const Sums& b) {
      return Sums{a.xx + b.xx, a.xy + b.xy, a.yy + b.yy};
    });
    if (place.part == 0 && row < rows.num_elements) {
      const Value norms = SquareRoot(sums.xx) * SquareRoot(sums.yy);
      out[row] = Element<T>::Store(static_cast<Value>(scale) * sums.xy / norms);
    }
  }
}

struct CosSimState : CallState {
  IndexMap<2> rows;
  int64_t length = 0;
  int depth = 1;
};

class CosSimOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    const OperandType& y = context.inputs()[1];
    const OperandType& out = context.outputs()[0];
    if (auto error = RequireDType(Floats(), x.dtype, *this)) return error;
    auto state = std::make_shared<CosSimState>();
    state->length = x.sizes.back();
    Sizes x_strides = RowStrides(x.sizes, out.sizes), y_strides = RowStrides(y.sizes, out.sizes);
    auto rows = MakeIndexMap<2>(out.sizes, {x_strides, y_strides});
    if (!rows) return rows.takeError();
    state->rows = *rows;
    while (state->depth < kBlockThreads && state->depth * int64_t{4} < state->length)
      state->depth *= 2;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const CosSimState& state = *context.state<CosSimState>();
    if (state.rows.num_elements == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &CosSimKernel<T>,
                    GridFor(context, state.rows.num_elements, kBlockThreads / state.depth),
                    dim3(kBlockThreads), state.rows, state.length, state.depth, scale_,
                    static_cast<const T*>(inputs[0]->raw()),
                    static_cast<const T*>(inputs[1]->raw()), static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("scale", &scale_);
  }

 private:
  /// Strides, in elements, that lead from row to row of an operand broadcast to `rows`.
  static Sizes RowStrides(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> rows) {
    Sizes strides = BroadcastStrides(sizes.drop_back(), rows);
    for (int64_t& stride : strides) stride *= sizes.back();
    return strides;
  }

  double scale_ = 1;
};

}  // namespace

void AddCosSimKernels(OpRegistry& registry) {
  registry.AddKernel("cos_sim", DeviceKind::kCUDA, &CreateKernel<CosSimOp>);
}

}  // namespace pdl::cuda
