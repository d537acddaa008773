#include <memory>

#include "kernels/core/index_map.h"
#include "kernels/cuda/cuda_launch.h"
#include "kernels/indexing/index_range.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// Writes for each position the cosines of its angles, then the sines.
template <class C, class Index>
__global__ void __launch_bounds__(kBlockThreads)
    AnglesKernel(long long positions, long long pairs, double base, const Index* position,
                 C* table) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < positions * pairs; i += step) {
    const long long row = i / pairs, pair = i - row * pairs;
    const double share = static_cast<double>(pair) / static_cast<double>(pairs);
    const double angle = static_cast<double>(position[row]) * pow(base, -share);
    table[row * pairs * 2 + pair] = static_cast<C>(cos(angle));
    table[row * pairs * 2 + pairs + pair] = static_cast<C>(sin(angle));
  }
}

/// A thread for each pair, and for each element that is not rotated. y may be x.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    RotateKernel(const __grid_constant__ IndexMap<1> rows, long long length, long long pairs,
                 bool interleaved, const ComputeType<T>* table, const T* x, T* y) {
  using C = ComputeType<T>;
  const long long work = length - pairs;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < rows.num_elements * work; i += step) {
    const long long row = i / work, place = i - row * work;
    if (place >= pairs) {
      const long long at = row * length + pairs + place;
      y[at] = x[at];
      continue;
    }
    const C* cosine = table + rows.At(row).at[0] * pairs * 2;
    const long long first = row * length + (interleaved ? place * 2 : place);
    const long long second = first + (interleaved ? 1 : pairs);
    const C a = Element<T>::Load(x[first]), b = Element<T>::Load(x[second]);
    y[first] = Element<T>::Store(a * cosine[place] - b * cosine[pairs + place]);
    y[second] = Element<T>::Store(b * cosine[place] + a * cosine[pairs + place]);
  }
}

struct RotaryState : CallState {
  IndexMap<1> rows;
  int64_t length = 0, pairs = 0, positions = 0;
};

class RotaryOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    if (auto error = RequireDType(Floats(), x.dtype, *this)) return error;
    const Sizes lead(x.sizes.begin(), x.sizes.end() - 1);
    auto rows = MakeIndexMap<1>(lead, {BroadcastStrides(context.inputs()[1].sizes, lead)});
    if (!rows) return rows.takeError();
    auto state = std::make_shared<RotaryState>();
    state->rows = *rows;
    state->length = x.sizes.back();
    state->pairs = (attributes().Has("width") ? attributes().Int("width") : state->length) / 2;
    state->positions = context.inputs()[1].num_elements();
    Preparation preparation;
    preparation.workspace_bytes =
        state->positions * state->pairs * 2 * (x.dtype == DType::kF64 ? 8 : 4);
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const RotaryState& s = *context.state<RotaryState>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitDType(Floats(), inputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      using C = ComputeType<T>;
      C* table = static_cast<C*>(context.workspace());
      if (s.pairs > 0) {
        auto error = VisitIndex(inputs[1]->dtype(), [&](auto index) {
          using Index = decltype(index);
          return Launch(context, type().c_str(), &AnglesKernel<C, Index>,
                        GridFor(context, s.positions * s.pairs), dim3(kBlockThreads), s.positions,
                        s.pairs, attributes().Float("base"),
                        static_cast<const Index*>(inputs[1]->raw()), table);
        });
        if (error) return error;
      }
      return Launch(context, type().c_str(), &RotateKernel<T>,
                    GridFor(context, s.rows.num_elements * (s.length - s.pairs)),
                    dim3(kBlockThreads), s.rows, s.length, s.pairs, interleaved_, table,
                    static_cast<const T*>(inputs[0]->raw()), static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    interleaved_ = attributes.Bool("interleaved");
    return llvm::Error::success();
  }

 private:
  bool interleaved_ = false;
};

}  // namespace

void AddRotaryKernels(OpRegistry& registry) {
  registry.AddKernel("rotary_embedding", DeviceKind::kCUDA, &CreateKernel<RotaryOp>);
}

}  // namespace pdl::cuda
