// Eigenvalues: eigh.
#include "kernels/linalg/matrix_kernels.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using namespace linalg;

struct EighCall : MatrixCall {
  int64_t vectors_at = 0, values_at = 0, signs_at = 0, info_at = 0, bad_at = 0, work_at = 0;
};

class EighOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<EighCall>();
    if (auto error = call->Read(*this, context.inputs()[0])) return error;
    if (context.inputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    const int n = call->rows;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype, [&](auto t) { return calls.SyevdWork<decltype(t)>(n); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    call->vectors_at = call->Take(call->count * n * n, element);
    call->values_at = call->Take(call->count * n, element);
    call->signs_at = call->Take(call->count * n, element);
    call->info_at = call->Take(call->count, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
    call->work_at = call->Take(call->work_size, element);
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (inputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitMatrix(inputs[0]->dtype(), [&](auto t) -> llvm::Error {
      using T = decltype(t);
      const EighCall& call = *context.state<EighCall>();
      const int n = call.rows;
      T* vectors = call.Memory<T>(context, call.vectors_at);
      T* values = call.Memory<T>(context, call.values_at);
      T* signs = call.Memory<T>(context, call.signs_at);
      int* info = call.Memory<int>(context, call.info_at);
      int* is_bad = call.Memory<int>(context, call.bad_at);
      if (auto error = Load<T>(context, call, *inputs[0], ColumnMajor(n, n), true, vectors, is_bad))
        return error;
      {
        CurrentDevice current(context.device());
        Cusolver::Calls calls(*call.solver, context);
        for (long long m = 0; m < call.count; ++m) {
          if (auto error =
                  calls.Syevd(n, vectors + m * n * n, values + m * n,
                              call.Memory<T>(context, call.work_at), call.work_size, info + m))
            return error;
        }
      }
      if (auto error = Mark(context, call, info, is_bad)) return error;
      const IndexMap<1> each = EachItsOwn(call.count);
      const StoreShape store_w{call.count, n, 1, ColumnMajor(n, 1)};
      if (auto error = Store<T>(context, call, store_w, each, values, is_bad, nullptr, outputs[0]))
        return error;
      const StoreShape store_v{call.count, n, n, ColumnMajor(n, n), Part::kAll, n};
      if (auto error = Orient<T>(context, call, store_v, n, vectors, signs)) return error;
      return Store<T>(context, call, store_v, each, vectors, is_bad, signs, outputs[1]);
    });
  }
};

}  // namespace

void AddEigenvaluesKernels(OpRegistry& registry) {
  registry.AddKernel("eigh", DeviceKind::kCUDA, &CreateKernel<EighOp>);
}

}  // namespace pdl::cuda
