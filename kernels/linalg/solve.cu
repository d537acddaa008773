// Systems of linear equations: solve, triangular_solve, inverse.
#include "kernels/linalg/matrix_kernels.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using namespace linalg;

/// The operand b and the result of `a x = b`.
struct Equation : MatrixCall {
  int right_sides = 1;
  Sizes result_batch;
  long long result_count = 1;
  IndexMap<1> b_at, a_of;  // the elements of b, and the number of a, for each result

  llvm::Error ReadEquation(const OperatorBase& op, const PrepareContext& context) {
    if (auto error = Read(op, context.inputs()[0])) return error;
    const llvm::ArrayRef<int64_t> b = context.inputs()[1].sizes, x = context.outputs()[0].sizes;
    const bool is_vector = b.size() == 1;
    if (!is_vector && b.back() > INT_MAX)
      return MakeUserError(Code::kAttributeRange, "more than {0} right sides on cuda", INT_MAX);
    right_sides = is_vector ? 1 : static_cast<int>(b.back());
    const llvm::ArrayRef<int64_t> of_results = x.drop_back(is_vector ? 1 : 2);
    result_batch.assign(of_results.begin(), of_results.end());
    for (const int64_t size : result_batch) result_count *= size;
    auto from =
        BroadcastMap(b.drop_back(is_vector ? 1 : 2), result_batch, int64_t{rows} * right_sides);
    if (!from) return from.takeError();
    b_at = *from;
    auto numbers = BroadcastMap(batch, result_batch, 1);
    if (!numbers) return numbers.takeError();
    a_of = *numbers;
    return llvm::Error::success();
  }
};

// --- solve --------------------------------------------------------------------------------------

struct SolveCall : Equation {
  int64_t factors_at = 0, pivots_at = 0, info_at = 0, bad_at = 0, x_at = 0, work_at = 0;
};

class SolveOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<SolveCall>();
    call->problem = "is singular";
    if (auto error = call->ReadEquation(*this, context)) return error;
    if (context.outputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    const int n = call->rows;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype, [&](auto t) { return calls.GetrfWork<decltype(t)>(n); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    call->factors_at = call->Take(call->count * n * n, element);
    call->pivots_at = call->Take(call->count * n, sizeof(int));
    call->info_at = call->Take(call->count + 1, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
    call->x_at = call->Take(call->result_count * n * call->right_sides, element);
    call->work_at = call->Take(call->work_size, element);
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitMatrix(inputs[0]->dtype(), [&](auto t) {
      return RunEach<decltype(t)>(*inputs[0], *inputs[1], outputs[0], context);
    });
  }

 private:
  template <class T>
  llvm::Error RunEach(const Tensor& a, const Tensor& b, Tensor* y, CUDAContext& context) const {
    const SolveCall& call = *context.state<SolveCall>();
    const int n = call.rows, k = call.right_sides;
    T* factors = call.Memory<T>(context, call.factors_at);
    T* x = call.Memory<T>(context, call.x_at);
    int* pivots = call.Memory<int>(context, call.pivots_at);
    int* info = call.Memory<int>(context, call.info_at);
    int* is_bad = call.Memory<int>(context, call.bad_at);
    if (auto error = Load<T>(context, call, a, ColumnMajor(n, n), false, factors, is_bad))
      return error;
    const LoadShape right{call.result_count, n, k, ColumnMajor(n, k), false};
    if (auto error = Launch(context, type().c_str(), &SpreadKernel<T>,
                            GridFor(context, call.result_count, 1), dim3(kBlockThreads), right,
                            call.b_at, static_cast<const T*>(b.raw()), x))
      return error;
    {
      CurrentDevice current(context.device());
      Cusolver::Calls calls(*call.solver, context);
      T* work = call.Memory<T>(context, call.work_at);
      for (long long m = 0; m < call.count; ++m) {
        if (auto error = calls.Getrf(n, factors + m * n * n, work, pivots + m * n, info + m))
          return error;
      }
      for (long long m = 0; m < call.result_count; ++m) {
        const long long of = call.a_of.At(m).at[0];
        if (auto error = calls.Getrs(n, k, factors + of * n * n, pivots + of * n, x + m * n * k,
                                     info + call.count))
          return error;
      }
    }
    if (auto error = ReportFailures(context, call, info, is_bad)) return error;
    const StoreShape store{call.result_count, n, k, ColumnMajor(n, k)};
    return Store<T>(context, call, store, call.a_of, x, is_bad, nullptr, y);
  }
};

// --- inverse ------------------------------------------------------------------------------------

struct InverseCall : MatrixCall {
  int64_t factors_at = 0, pivots_at = 0, info_at = 0, bad_at = 0, y_at = 0, work_at = 0;
};

class InverseOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<InverseCall>();
    call->problem = "is singular";
    if (auto error = call->Read(*this, context.inputs()[0])) return error;
    if (context.outputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    const int n = call->rows;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype, [&](auto t) { return calls.GetrfWork<decltype(t)>(n); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    call->factors_at = call->Take(call->count * n * n, element);
    call->pivots_at = call->Take(call->count * n, sizeof(int));
    call->info_at = call->Take(call->count + 1, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
    call->y_at = call->Take(call->count * n * n, element);
    call->work_at = call->Take(call->work_size, element);
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
  template <class T>
  llvm::Error RunEach(const Tensor& x, Tensor* result, CUDAContext& context) const {
    const InverseCall& call = *context.state<InverseCall>();
    const int n = call.rows;
    T* factors = call.Memory<T>(context, call.factors_at);
    T* y = call.Memory<T>(context, call.y_at);
    int* pivots = call.Memory<int>(context, call.pivots_at);
    int* info = call.Memory<int>(context, call.info_at);
    int* is_bad = call.Memory<int>(context, call.bad_at);
    if (auto error = Load<T>(context, call, x, ColumnMajor(n, n), false, factors, is_bad))
      return error;
    const StoreShape identity{call.count, n, n, {}};
    if (auto error =
            Launch(context, type().c_str(), &StoreKernel<T>, GridFor(context, call.count * n * n),
                   dim3(kBlockThreads), identity, IndexMap<1>(), nullptr, nullptr, nullptr, y))
      return error;
    {
      CurrentDevice current(context.device());
      Cusolver::Calls calls(*call.solver, context);
      T* work = call.Memory<T>(context, call.work_at);
      for (long long m = 0; m < call.count; ++m) {
        T* matrix = factors + m * n * n;
        if (auto error = calls.Getrf(n, matrix, work, pivots + m * n, info + m)) return error;
        if (auto error =
                calls.Getrs(n, n, matrix, pivots + m * n, y + m * n * n, info + call.count))
          return error;
      }
    }
    if (auto error = ReportFailures(context, call, info, is_bad)) return error;
    const StoreShape store{call.count, n, n, ColumnMajor(n, n)};
    return Store<T>(context, call, store, EachItsOwn(call.count), y, is_bad, nullptr, result);
  }
};

// --- triangular_solve ---------------------------------------------------------------------------

struct Triangle {
  long long count;
  int n, right_sides;
  bool upper, transpose, unit;
};

/// Sets is_bad[m] if the triangle of matrix m has a nan or an infinity, and info[m] to 1 if its
/// diagonal has a 0. One block for each matrix.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    TriangleKernel(Triangle s, const T* a, int* info, int* is_bad) {
  __shared__ int not_finite, zero;
  const long long elements = static_cast<long long>(s.n) * s.n;
  for (long long m = blockIdx.x; m < s.count; m += gridDim.x) {
    if (threadIdx.x == 0) not_finite = zero = 0;
    __syncthreads();
    for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
      const long long i = e / s.n, j = e % s.n;
      if (s.upper ? i > j : i < j) continue;
      if (i == j && s.unit) continue;
      const T value = a[m * elements + e];
      if (!IsFinite(value)) not_finite = 1;
      if (i == j && value == T(0)) zero = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      is_bad[m] = not_finite;
      info[m] = zero;
    }
    __syncthreads();  // the next matrix sets both
  }
}

/// One thread for each column of the result, by substitution.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SubstituteKernel(Triangle s, const __grid_constant__ IndexMap<1> b_at,
                     const __grid_constant__ IndexMap<1> a_of, const T* a, const T* b,
                     const int* is_bad, T* x) {
  const long long total = s.count * s.right_sides;
  const long long n = s.n, columns = s.right_sides;
  const long long of_row = s.transpose ? 1 : n, of_column = s.transpose ? n : 1;
  const bool backwards = s.upper != s.transpose;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < total;
       at += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long m = at / columns, j = at % columns, of = a_of.At(m).at[0];
    const T* matrix = a + of * n * n;
    const T* right = b + b_at.At(m).at[0] + j;
    T* result = x + m * n * columns + j;
    for (long long step = 0; step < n; ++step) {
      const long long i = backwards ? n - 1 - step : step;
      T sum = right[i * columns];
      for (long long done = 0; done < step; ++done) {
        const long long k = backwards ? n - 1 - done : done;
        sum -= matrix[i * of_row + k * of_column] * result[k * columns];
      }
      if (!s.unit) sum /= matrix[i * n + i];
      result[i * columns] = sum;
    }
    if (is_bad[of] == 0) continue;
    for (long long i = 0; i < n; ++i) result[i * columns] = Nan<T>();
  }
}

struct TriangularCall : Equation {
  int64_t info_at = 0, bad_at = 0;
};

class TriangularSolveOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<TriangularCall>();
    call->problem = "has a 0 on its diagonal";
    if (auto error = call->ReadEquation(*this, context)) return error;
    call->info_at = call->Take(call->count, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    return VisitMatrix(inputs[0]->dtype(), [&](auto t) -> llvm::Error {
      using T = decltype(t);
      const TriangularCall& call = *context.state<TriangularCall>();
      int* info = call.Memory<int>(context, call.info_at);
      int* is_bad = call.Memory<int>(context, call.bad_at);
      const T* a = static_cast<const T*>(inputs[0]->raw());
      Triangle shape{call.count, call.rows, call.right_sides, upper_, transpose_, unit_};
      if (auto error =
              Launch(context, type().c_str(), &TriangleKernel<T>, GridFor(context, call.count, 1),
                     dim3(kBlockThreads), shape, a, info, is_bad))
        return error;
      if (auto error = ReportFailures(context, call, info, is_bad)) return error;
      shape.count = call.result_count;
      return Launch(context, type().c_str(), &SubstituteKernel<T>,
                    GridFor(context, call.result_count * call.right_sides), dim3(kBlockThreads),
                    shape, call.b_at, call.a_of, a, static_cast<const T*>(inputs[1]->raw()), is_bad,
                    static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    upper_ = attributes.Bool("upper");
    transpose_ = attributes.Bool("transpose_a");
    unit_ = attributes.Bool("unit_diagonal");
    return llvm::Error::success();
  }

 private:
  bool upper_ = false, transpose_ = false, unit_ = false;
};

}  // namespace

void AddSolveKernels(OpRegistry& registry) {
  registry.AddKernel("solve", DeviceKind::kCUDA, &CreateKernel<SolveOp>);
  registry.AddKernel("triangular_solve", DeviceKind::kCUDA, &CreateKernel<TriangularSolveOp>);
  registry.AddKernel("inverse", DeviceKind::kCUDA, &CreateKernel<InverseOp>);
}

}  // namespace pdl::cuda
