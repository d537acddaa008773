// Least squares: lstsq.
#include <limits>

#include "kernels/linalg/singular_values.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using namespace linalg;

/// Replaces each singular value by its inverse, or by 0 if it is at most rcond times the first.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    InvertKernel(long long count, int rank, T rcond, T* s) {
  for (long long m = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; m < count;
       m += static_cast<long long>(gridDim.x) * blockDim.x) {
    const T limit = rcond * s[m * rank];
    for (int k = 0; k < rank; ++k) {
      T& value = s[m * rank + k];
      value = value > limit ? T(1) / value : T(0);
    }
  }
}

struct LstsqCall : SvdCall {
  long long result_count = 1;
  int64_t projected_at = 0;
  SumShape project, combine;
};

class LstsqOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<LstsqCall>();
    if (auto error = call->PrepareSvd(*this, context, false)) return error;
    if (auto error = PlanSums(context, *call)) return error;
    if (context.inputs()[0].num_elements() > 0) {
      call->projected_at = call->Take(call->result_count * call->rank * call->project.columns,
                                      DTypeSize(context.inputs()[0].dtype));
    }
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    if (inputs[0]->num_elements() == 0) {
      CurrentDevice current(context.device());
      return ToError(
          cudaMemsetAsync(outputs[0]->raw(), 0, static_cast<size_t>(outputs[0]->num_bytes()),
                          context.stream()),
          type().c_str(), context.device());
    }
    return VisitMatrix(inputs[0]->dtype(), [&](auto t) {
      return RunEach<decltype(t)>(*inputs[0], *inputs[1], outputs[0], context);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if (attributes.Has("rcond")) rcond_ = attributes.Float("rcond");
    return llvm::Error::success();
  }

 private:
  // x = v (1 / s) (u^T b), with the matrices of a and b that belong to each result.
  static llvm::Error PlanSums(const PrepareContext& context, LstsqCall& call) {
    const llvm::ArrayRef<int64_t> b = context.inputs()[1].sizes, x = context.outputs()[0].sizes;
    const bool is_vector = b.size() == 1;
    if (!is_vector && b.back() > INT_MAX)
      return MakeUserError(Code::kAttributeRange, "more than {0} right sides on cuda", INT_MAX);
    const int right_sides = is_vector ? 1 : static_cast<int>(b.back());
    const llvm::ArrayRef<int64_t> batch = x.drop_back(is_vector ? 1 : 2);
    for (const int64_t size : batch) call.result_count *= size;
    const Sizes of_a = BroadcastStrides(call.batch, batch);
    Sizes of_u = of_a, of_s = of_a, of_vt = of_a;
    Sizes of_b = BroadcastStrides(b.drop_back(is_vector ? 1 : 2), batch);
    Sizes of_projected = DenseStrides(batch);
    const MatrixLayout u = call.LayoutOfU(), vt = call.LayoutOfVt();
    for (size_t i = 0; i < batch.size(); ++i) {
      of_u[i] *= u.stride;
      of_vt[i] *= vt.stride;
      of_s[i] *= call.rank;
      of_b[i] *= int64_t{call.rows} * right_sides;
      of_projected[i] *= int64_t{call.rank} * right_sides;
    }
    auto project = MakeIndexMap<4>(batch, {of_u, of_s, of_b, of_a});
    if (!project) return project.takeError();
    auto combine = MakeIndexMap<4>(batch, {of_vt, of_s, of_projected, of_a});
    if (!combine) return combine.takeError();
    call.project = {call.result_count, call.rank,     right_sides,
                    call.rows,         Transposed(u), RowMajor(call.rows, right_sides),
                    *project};
    call.combine = {call.result_count, call.columns,   right_sides,
                    call.rank,         Transposed(vt), RowMajor(call.rank, right_sides),
                    *combine};
    return llvm::Error::success();
  }

  template <class T>
  llvm::Error RunEach(const Tensor& a, const Tensor& b, Tensor* x, CUDAContext& context) const {
    const LstsqCall& call = *context.state<LstsqCall>();
    if (auto error = call.Decompose<T>(a, context)) return error;
    T* s = call.Memory<T>(context, call.s_at);
    T* projected = call.Memory<T>(context, call.projected_at);
    const int* is_bad = call.Memory<int>(context, call.bad_at);
    const T rcond = rcond_ >= 0 ? static_cast<T>(rcond_)
                                : static_cast<T>(std::max(call.rows, call.columns)) *
                                      std::numeric_limits<T>::epsilon();
    if (auto error = Launch(context, type().c_str(), &InvertKernel<T>, GridFor(context, call.count),
                            dim3(kBlockThreads), call.count, call.rank, rcond, s))
      return error;
    const SumShape& project = call.project;
    if (auto error = Launch(context, type().c_str(), &SumKernel<T>,
                            GridFor(context, project.count * project.rows * project.columns),
                            dim3(kBlockThreads), project, call.U<T>(context), nullptr,
                            static_cast<const T*>(b.raw()), nullptr, projected))
      return error;
    return Launch(context, type().c_str(), &SumKernel<T>, GridFor(context, x->num_elements()),
                  dim3(kBlockThreads), call.combine, call.Vt<T>(context), s, projected, is_bad,
                  static_cast<T*>(x->raw()));
  }

  double rcond_ = -1;  // negative: the default
};

}  // namespace

void AddLeastSquaresKernels(OpRegistry& registry) {
  registry.AddKernel("lstsq", DeviceKind::kCUDA, &CreateKernel<LstsqOp>);
}

}  // namespace pdl::cuda
