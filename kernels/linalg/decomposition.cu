// Decompositions of matrices into triangular factors: cholesky, qr.
#include "kernels/linalg/matrix_kernels.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using namespace linalg;

// --- cholesky -----------------------------------------------------------------------------------

struct CholeskyCall : MatrixCall {
  int64_t factors_at = 0, info_at = 0, bad_at = 0, work_at = 0;
};

class CholeskyOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<CholeskyCall>();
    call->problem = "is not positive definite";
    if (auto error = call->Read(*this, context.inputs()[0])) return error;
    if (context.outputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    const int n = call->rows;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype, [&](auto t) { return calls.PotrfWork<decltype(t)>(n); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    call->factors_at = call->Take(call->count * n * n, element);
    call->info_at = call->Take(call->count, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
    call->work_at = call->Take(call->work_size, element);
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitMatrix(inputs[0]->dtype(), [&](auto t) -> llvm::Error {
      using T = decltype(t);
      const CholeskyCall& call = *context.state<CholeskyCall>();
      const int n = call.rows;
      T* factors = call.Memory<T>(context, call.factors_at);
      int* info = call.Memory<int>(context, call.info_at);
      int* is_bad = call.Memory<int>(context, call.bad_at);
      if (auto error = Load<T>(context, call, *inputs[0], ColumnMajor(n, n), true, factors, is_bad))
        return error;
      {
        CurrentDevice current(context.device());
        Cusolver::Calls calls(*call.solver, context);
        for (long long m = 0; m < call.count; ++m) {
          if (auto error =
                  calls.Potrf(n, factors + m * n * n, call.Memory<T>(context, call.work_at),
                              call.work_size, info + m))
            return error;
        }
      }
      if (auto error = ReportFailures(context, call, info, is_bad)) return error;
      MatrixLayout from = ColumnMajor(n, n);
      if (upper_) from = Transposed(from);
      const StoreShape store{call.count, n, n, from, upper_ ? Part::kUpper : Part::kLower};
      return Store<T>(context, call, store, EachItsOwn(call.count), factors, is_bad, nullptr,
                      outputs[0]);
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    upper_ = attributes.Bool("upper");
    return llvm::Error::success();
  }

 private:
  bool upper_ = false;
};

// --- qr -----------------------------------------------------------------------------------------

/// Sets the signs that make the diagonal of r, in column-major matrices, nonnegative.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    DiagonalSignKernel(long long count, int rank, long long stride, int leading, const T* r,
                       T* signs) {
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < count * rank; at += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long i = at % rank;
    signs[at] = signbit(r[at / rank * stride + i * leading + i]) ? T(-1) : T(1);
  }
}

struct QrCall : MatrixCall {
  int rank = 0;  // of r
  int columns_q = 0;
  int64_t r_at = 0, q_at = 0, tau_at = 0, signs_at = 0, info_at = 0, bad_at = 0, work_at = 0;
};

class QrOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<QrCall>();
    if (auto error = call->Read(*this, context.inputs()[0])) return error;
    const int m = call->rows, n = call->columns;
    call->rank = std::min(m, n);
    call->columns_q = full_ ? m : call->rank;
    if (context.inputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(
              dtype, [&](auto t) { return calls.QrWork<decltype(t)>(m, n, call->columns_q); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    call->r_at = call->Take(call->count * m * n, element);
    call->q_at = call->Take(call->count * m * call->columns_q, element);
    call->tau_at = call->Take(call->count * call->rank, element);
    call->signs_at = call->Take(call->count * call->rank, element);
    call->info_at = call->Take(1, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
    call->work_at = call->Take(call->work_size, element);
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return VisitMatrix(inputs[0]->dtype(),
                       [&](auto t) { return RunEach<decltype(t)>(*inputs[0], outputs, context); });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    full_ = attributes.Bool("full_matrices");
    return llvm::Error::success();
  }

 private:
  template <class T>
  llvm::Error RunEach(const Tensor& x, llvm::MutableArrayRef<Tensor*> outputs,
                      CUDAContext& context) const {
    const QrCall& call = *context.state<QrCall>();
    const int m = call.rows, n = call.columns;
    // Without columns, or without rows, r has no elements.
    if (x.num_elements() == 0)
      return StoreIdentity<T>(context, call, m, call.columns_q, outputs[0]);
    T* r = call.Memory<T>(context, call.r_at);
    T* signs = call.Memory<T>(context, call.signs_at);
    int* is_bad = call.Memory<int>(context, call.bad_at);
    if (auto error = Load<T>(context, call, x, ColumnMajor(m, n), false, r, is_bad)) return error;
    if (auto error = Factor<T>(call, context)) return error;
    if (auto error = Launch(context, type().c_str(), &DiagonalSignKernel<T>,
                            GridFor(context, call.count * call.rank), dim3(kBlockThreads),
                            call.count, call.rank, static_cast<long long>(m) * n, m, r, signs))
      return error;
    const IndexMap<1> each = EachItsOwn(call.count);
    const StoreShape store_q{call.count, m,        call.columns_q, ColumnMajor(m, call.columns_q),
                             Part::kAll, call.rank};
    const T* q = call.Memory<T>(context, call.q_at);
    if (auto error = Store<T>(context, call, store_q, each, q, is_bad, signs, outputs[0]))
      return error;
    const StoreShape store_r{call.count,   call.columns_q, n,   ColumnMajor(m, n),
                             Part::kUpper, call.rank,      true};
    return Store<T>(context, call, store_r, each, r, is_bad, signs, outputs[1]);
  }

  template <class T>
  llvm::Error Factor(const QrCall& call, CUDAContext& context) const {
    const long long m = call.rows, n = call.columns;
    T* work = call.Memory<T>(context, call.work_at);
    int* info = call.Memory<int>(context, call.info_at);
    CurrentDevice current(context.device());
    Cusolver::Calls calls(*call.solver, context);
    for (long long i = 0; i < call.count; ++i) {
      T* r = call.Memory<T>(context, call.r_at) + i * m * n;
      T* q = call.Memory<T>(context, call.q_at) + i * m * call.columns_q;
      T* tau = call.Memory<T>(context, call.tau_at) + i * call.rank;
      if (auto error = calls.Geqrf(call.rows, call.columns, r, tau, work, call.work_size, info))
        return error;
      const auto bytes = static_cast<int64_t>(sizeof(T)) * m * call.rank;
      if (auto error = context.CopyWithin(q, r, bytes)) return error;
      if (auto error =
              calls.Orgqr(call.rows, call.columns_q, call.rank, q, tau, work, call.work_size, info))
        return error;
    }
    return llvm::Error::success();
  }

  bool full_ = false;
};

}  // namespace

void AddDecompositionKernels(OpRegistry& registry) {
  registry.AddKernel("cholesky", DeviceKind::kCUDA, &CreateKernel<CholeskyOp>);
  registry.AddKernel("qr", DeviceKind::kCUDA, &CreateKernel<QrOp>);
}

}  // namespace pdl::cuda
