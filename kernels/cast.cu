#include "kernels/cuda_ops.h"
#include "kernels/unary.cuh"

namespace pdl::cuda {
namespace {

/// To elements of type Out, from a compute type.
template <class Out>
struct Convert {
  template <class T>
  __device__ ComputeType<Out> operator()(T x) const {
    if constexpr (kIsSame<Out, bool>) {
      return x != T(0);
    } else {
      return static_cast<ComputeType<Out>>(x);
    }
  }
};

class CastOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const DType from = context.inputs()[0].dtype, to = context.outputs()[0].dtype;
    if (auto error = RequireDType(AnyElement(), from, *this)) return error;
    if (auto error = RequireDType(AnyElement(), to, *this)) return error;
    Preparation preparation;
    if (from == to) preparation.aliases.push_back({0, 0});
    if (DTypeSize(from) == DTypeSize(to)) preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return VisitDType(AnyElement(), inputs[0]->dtype(), [&](auto from) {
      return VisitDType(AnyElement(), outputs[0]->dtype(), [&](auto to) -> llvm::Error {
        using In = typename decltype(from)::Type;
        using Out = typename decltype(to)::Type;
        if constexpr (kIsSame<In, Out>) {
          return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
        } else {
          return LaunchUnary<Out, In>(context, type().c_str(), Convert<Out>(), *inputs[0],
                                      *outputs[0]);
        }
      });
    });
  }
};

}  // namespace

void AddCastKernels(OpRegistry& registry) {
  registry.AddKernel("cast", DeviceKind::kCUDA, &CreateKernel<CastOp>);
}

}  // namespace pdl::cuda
