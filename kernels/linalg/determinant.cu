// Determinants: det, slogdet, cofactor.
#include "kernels/linalg/singular_values.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using namespace linalg;

/// A determinant as mantissa * 2 ** exponent, from the LU decomposition of a matrix.
struct Determinant {
  double mantissa = 1;
  long long exponent = 0;

  template <class T>
  __device__ static Determinant Of(const T* factors, const int* pivots, int n) {
    Determinant d;
    for (int i = 0; i < n; ++i) {
      int of_pivot = 0, of_product = 0;
      const double sign = pivots[i] == i + 1 ? 1 : -1;
      d.mantissa *=
          sign * frexp(static_cast<double>(factors[static_cast<long long>(i) * n + i]), &of_pivot);
      d.mantissa = 2 * frexp(d.mantissa, &of_product);
      d.exponent += of_pivot + of_product - 1;
    }
    // The logarithm of a mantissa near 1 is the most accurate.
    if (fabs(d.mantissa) >= 0x1.6a09e667f3bcdp+0) {
      d.mantissa /= 2;
      ++d.exponent;
    }
    return d;
  }
};

/// det, or the sign and the logarithm if `logarithm` is not null.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    DeterminantKernel(long long count, int n, const T* factors, const int* pivots,
                      const int* is_bad, T* y, T* logarithm) {
  for (long long m = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; m < count;
       m += static_cast<long long>(gridDim.x) * blockDim.x) {
    if (n > 0 && is_bad[m] != 0) {
      y[m] = Nan<T>();
      if (logarithm != nullptr) logarithm[m] = Nan<T>();
      continue;
    }
    const Determinant d =
        Determinant::Of(factors + m * n * static_cast<long long>(n), pivots + m * n, n);
    if (logarithm == nullptr) {
      const long long far = 1 << 14;
      const long long exponent = d.exponent > far ? far : d.exponent < -far ? -far : d.exponent;
      y[m] = static_cast<T>(ldexp(d.mantissa, static_cast<int>(exponent)));
    } else {
      y[m] = static_cast<T>((d.mantissa > 0) - (d.mantissa < 0));
      logarithm[m] = static_cast<T>(log(fabs(d.mantissa)) +
                                    static_cast<double>(d.exponent) * 0.69314718055994530942);
    }
  }
}

struct DeterminantCall : MatrixCall {
  int64_t factors_at = 0, pivots_at = 0, info_at = 0, bad_at = 0, work_at = 0;
};

/// det, and slogdet, which has two results.
class DeterminantOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<DeterminantCall>();
    if (auto error = call->Read(*this, context.inputs()[0])) return error;
    if (context.inputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    const int n = call->rows;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype, [&](auto t) { return calls.GetrfWork<decltype(t)>(n); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    call->factors_at = call->Take(call->count * n * n, element);
    call->pivots_at = call->Take(call->count * n, sizeof(int));
    call->info_at = call->Take(call->count, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
    call->work_at = call->Take(call->work_size, element);
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitMatrix(inputs[0]->dtype(),
                       [&](auto t) { return RunEach<decltype(t)>(*inputs[0], outputs, context); });
  }

 private:
  template <class T>
  llvm::Error RunEach(const Tensor& x, llvm::MutableArrayRef<Tensor*> outputs,
                      CUDAContext& context) const {
    const DeterminantCall& call = *context.state<DeterminantCall>();
    const int n = call.rows;
    T* factors = call.Memory<T>(context, call.factors_at);
    int* pivots = call.Memory<int>(context, call.pivots_at);
    int* is_bad = call.Memory<int>(context, call.bad_at);
    if (n > 0) {
      if (auto error = Load<T>(context, call, x, ColumnMajor(n, n), false, factors, is_bad))
        return error;
      CurrentDevice current(context.device());
      Cusolver::Calls calls(*call.solver, context);
      for (long long m = 0; m < call.count; ++m) {
        if (auto error = calls.Getrf(n, factors + m * n * n, call.Memory<T>(context, call.work_at),
                                     pivots + m * n, call.Memory<int>(context, call.info_at) + m))
          return error;
      }
    }
    T* logarithm = outputs.size() > 1 ? static_cast<T*>(outputs[1]->raw()) : nullptr;
    return Launch(context, type().c_str(), &DeterminantKernel<T>, GridFor(context, call.count),
                  dim3(kBlockThreads), call.count, n, factors, pivots, is_bad,
                  static_cast<T*>(outputs[0]->raw()), logarithm);
  }
};

// --- cofactor -----------------------------------------------------------------------------------

/// Sets factors[i] to the product of all singular values but s[i], times det(u) det(vt), which are
/// given by their LU decompositions.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    OthersKernel(long long count, int n, const T* s, const T* u, const int* u_pivots, const T* vt,
                 const int* vt_pivots, T* factors) {
  for (long long m = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; m < count;
       m += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long matrix = m * n * n;
    const bool is_negative = (Determinant::Of(u + matrix, u_pivots + m * n, n).mantissa < 0) !=
                             (Determinant::Of(vt + matrix, vt_pivots + m * n, n).mantissa < 0);
    T product = is_negative ? T(-1) : T(1);
    for (int i = 0; i < n; ++i) {
      factors[m * n + i] = product;
      product *= s[m * n + i];
    }
    product = 1;
    for (int i = n; i-- > 0;) {
      factors[m * n + i] *= product;
      product *= s[m * n + i];
    }
  }
}

struct CofactorCall : SvdCall {
  int64_t u_copy_at = 0, vt_copy_at = 0, pivots_at = 0, factors_at = 0, lu_work_at = 0;
  SumShape sum;
};

class CofactorOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<CofactorCall>();
    if (auto error = call->PrepareSvd(*this, context, false)) return error;
    if (context.inputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    const int n = call->rows, of_svd = call->work_size;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype, [&](auto t) { return calls.GetrfWork<decltype(t)>(n); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype), elements = call->count * n * n;
    call->lu_work_at = call->Take(call->work_size, element);
    call->work_size = of_svd;
    call->u_copy_at = call->Take(elements, element);
    call->vt_copy_at = call->Take(elements, element);
    call->pivots_at = call->Take(2 * call->count * n, sizeof(int));
    call->factors_at = call->Take(call->count * n, element);
    const Sizes of_matrices = {int64_t{n} * n}, of_vectors = {n}, of_states = {1};
    auto at = MakeIndexMap<4>({call->count}, {of_matrices, of_vectors, of_matrices, of_states});
    if (!at) return at.takeError();
    call->sum = {call->count, n, n, n, call->LayoutOfU(), call->LayoutOfVt(), *at};
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitMatrix(inputs[0]->dtype(), [&](auto t) {
      return RunEach<decltype(t)>(*inputs[0], outputs[0], context);
    });
  }

 private:
  // u diag(factors) vt, which is accurate for singular matrices, too.
  template <class T>
  llvm::Error RunEach(const Tensor& x, Tensor* y, CUDAContext& context) const {
    const CofactorCall& call = *context.state<CofactorCall>();
    const int n = call.rows;
    if (auto error = call.Decompose<T>(x, context)) return error;
    int* pivots = call.Memory<int>(context, call.pivots_at);
    T* u = call.Memory<T>(context, call.u_copy_at);
    T* vt = call.Memory<T>(context, call.vt_copy_at);
    const int64_t bytes = call.count * n * n * static_cast<int64_t>(sizeof(T));
    if (auto error = context.CopyWithin(u, call.U<T>(context), bytes)) return error;
    if (auto error = context.CopyWithin(vt, call.Vt<T>(context), bytes)) return error;
    if (auto error = FactorEach<T>(call, u, pivots, context)) return error;
    if (auto error = FactorEach<T>(call, vt, pivots + call.count * n, context)) return error;
    T* factors = call.Memory<T>(context, call.factors_at);
    if (auto error = Launch(context, type().c_str(), &OthersKernel<T>, GridFor(context, call.count),
                            dim3(kBlockThreads), call.count, n, call.Memory<T>(context, call.s_at),
                            u, pivots, vt, pivots + call.count * n, factors))
      return error;
    return Launch(context, type().c_str(), &SumKernel<T>, GridFor(context, y->num_elements()),
                  dim3(kBlockThreads), call.sum, call.U<T>(context), factors, call.Vt<T>(context),
                  call.Memory<int>(context, call.bad_at), static_cast<T*>(y->raw()));
  }

  template <class T>
  llvm::Error FactorEach(const CofactorCall& call, T* x, int* pivots, CUDAContext& context) const {
    const int n = call.rows;
    CurrentDevice current(context.device());
    Cusolver::Calls calls(*call.solver, context);
    for (long long m = 0; m < call.count; ++m) {
      if (auto error = calls.Getrf(n, x + m * n * n, call.Memory<T>(context, call.lu_work_at),
                                   pivots + m * n, call.Memory<int>(context, call.info_at) + m))
        return error;
    }
    return llvm::Error::success();
  }
};

}  // namespace

void AddDeterminantKernels(OpRegistry& registry) {
  registry.AddKernel("det", DeviceKind::kCUDA, &CreateKernel<DeterminantOp>);
  registry.AddKernel("slogdet", DeviceKind::kCUDA, &CreateKernel<DeterminantOp>);
  registry.AddKernel("cofactor", DeviceKind::kCUDA, &CreateKernel<CofactorOp>);
}

}  // namespace pdl::cuda
