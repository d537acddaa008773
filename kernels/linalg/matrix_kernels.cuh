// Kernels on batches of matrices around cuSOLVER's routines, and the operators' common parts.
//
// cuSOLVER's matrices are column-major, so operands are copied to work memory, and results from it.
// A matrix with a nan or an infinity is replaced by an identity matrix, and its result is nan.
#ifndef PDL_KERNELS_LINALG_MATRIX_KERNELS_CUH_
#define PDL_KERNELS_LINALG_MATRIX_KERNELS_CUH_

#include <climits>
#include <memory>

#include "kernels/core/index_map.h"
#include "kernels/cuda/cuda_launch.h"
#include "kernels/cuda/cusolver.h"
#include "kernels/cuda/deferred_check.h"
#include "kernels/linalg/matrix_error.h"
#include "runtime/call_error.h"

namespace pdl::cuda::linalg {

using MatrixTypes = TypeList<float, double>;

/// A matrix in memory: element (i, j) of matrix number m is at m * stride + i * row + j * column.
struct MatrixLayout {
  long long stride = 0, row = 0, column = 0;
};
inline MatrixLayout RowMajor(long long rows, long long columns) {
  return {rows * columns, columns, 1};
}
inline MatrixLayout ColumnMajor(long long rows, long long columns) {
  return {rows * columns, 1, rows};
}
inline MatrixLayout Transposed(const MatrixLayout& x) { return {x.stride, x.column, x.row}; }

template <class T>
__device__ bool IsFinite(T x) {
  return x - x == T(0);
}
template <class T>
__device__ T Nan() {
  return static_cast<T>(NAN);
}

// --- Loading ------------------------------------------------------------------------------------

struct LoadShape {
  long long count;
  int rows, columns;
  MatrixLayout to;
  /// (x + x^T) / 2 instead of x.
  bool is_symmetric;
};

/// Copies row-major matrices and sets is_bad[m] to 1 if matrix m is not finite, else to 0. One
/// block for each matrix.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    LoadKernel(LoadShape s, const T* x, T* work, int* is_bad) {
  __shared__ int found;
  const long long elements = static_cast<long long>(s.rows) * s.columns;
  for (long long m = blockIdx.x; m < s.count; m += gridDim.x) {
    const T* from = x + m * elements;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
      if (!IsFinite(from[e])) found = 1;
    }
    __syncthreads();
    const bool is_replaced = found != 0;
    for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
      const long long i = e / s.columns, j = e % s.columns;
      T value = from[e];
      if (s.is_symmetric) {
        const T other = from[j * s.columns + i];
        if (value != other) value = value / 2 + other / 2;
      }
      if (is_replaced) value = i == j ? T(1) : T(0);
      work[m * s.to.stride + i * s.to.row + j * s.to.column] = value;
    }
    if (threadIdx.x == 0) is_bad[m] = is_replaced ? 1 : 0;
    __syncthreads();  // the next matrix sets `found`
  }
}

/// Copies matrices that are broadcast: those of matrix m begin at element from.At(m) of x.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SpreadKernel(LoadShape s, const __grid_constant__ IndexMap<1> from, const T* x, T* work) {
  const long long elements = static_cast<long long>(s.rows) * s.columns;
  for (long long m = blockIdx.x; m < s.count; m += gridDim.x) {
    const T* matrix = x + from.At(m).at[0];
    for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
      work[m * s.to.stride + e / s.columns * s.to.row + e % s.columns * s.to.column] = matrix[e];
    }
  }
}

// --- Storing ------------------------------------------------------------------------------------

enum class Part { kAll, kLower, kUpper };

struct StoreShape {
  long long count;
  int rows, columns;
  MatrixLayout from;
  /// Elements outside of it are 0.
  Part part = Part::kAll;
  /// If not 0, column j (or row j) is multiplied by signs[m * num_signs + j], for j < num_signs.
  int num_signs = 0;
  bool signs_of_rows = false;
};

/// Copies results to row-major matrices, with nan for those whose operand, number states.At(m), is
/// bad. Without `work`, they are identity matrices.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    StoreKernel(StoreShape s, const __grid_constant__ IndexMap<1> states, const T* work,
                const int* is_bad, const T* signs, T* y) {
  const long long elements = static_cast<long long>(s.rows) * s.columns;
  const long long total = s.count * elements;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < total;
       at += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long m = at / elements, i = at % elements / s.columns, j = at % s.columns;
    T value = i == j ? T(1) : T(0);
    if (work != nullptr) {
      const bool is_inside = s.part == Part::kAll || (s.part == Part::kLower ? i >= j : i <= j);
      value = is_inside ? work[m * s.from.stride + i * s.from.row + j * s.from.column] : T(0);
      const long long which = s.signs_of_rows ? i : j;
      if (which < s.num_signs) value *= signs[m * s.num_signs + which];
      if (is_bad[states.At(m).at[0]] != 0) value = Nan<T>();
    }
    y[at] = value;
  }
}

/// Sets signs[m * columns + j] to the sign that makes the element of column j with the largest
/// absolute value positive. Of elements that are nearly as large, the first one counts.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    OrientKernel(StoreShape s, int columns, const T* x, T* signs) {
  const long long total = s.count * columns;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < total;
       at += static_cast<long long>(gridDim.x) * blockDim.x) {
    const T* column = x + at / columns * s.from.stride + at % columns * s.from.column;
    T largest = 0;
    for (int i = 0; i < s.rows; ++i) {
      const T value = column[i * s.from.row];
      const T size = value < 0 ? -value : value;
      if (size > largest) largest = size;
    }
    T sign = 1;
    for (int i = 0; i < s.rows; ++i) {
      const T value = column[i * s.from.row];
      if ((value < 0 ? -value : value) < T(0.999) * largest) continue;
      sign = value < 0 ? T(-1) : T(1);
      break;
    }
    signs[at] = sign;
  }
}

// --- Products -----------------------------------------------------------------------------------

/// c[i, j] = sum over k of a[i, k] factors[k] b[k, j], for small sums around a decomposition.
struct SumShape {
  long long count;
  int rows, columns, steps;
  MatrixLayout a, b;
  /// The first elements of a, factors and b, and the number of the operand of matrix m.
  IndexMap<4> at;
};

/// Row-major results. `factors` and `is_bad` may be null.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SumKernel(const __grid_constant__ SumShape s, const T* a, const T* factors, const T* b,
              const int* is_bad, T* c) {
  const long long elements = static_cast<long long>(s.rows) * s.columns;
  const long long total = s.count * elements;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < total;
       at += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long i = at % elements / s.columns, j = at % s.columns;
    const Offsets<4> first = s.at.At(at / elements);
    T sum = 0;
    for (int k = 0; k < s.steps; ++k) {
      T value = a[first.at[0] + i * s.a.row + k * s.a.column];
      if (factors != nullptr) value *= factors[first.at[1] + k];
      sum += value * b[first.at[2] + k * s.b.row + j * s.b.column];
    }
    if (is_bad != nullptr && is_bad[first.at[3]] != 0) sum = Nan<T>();
    c[at] = sum;
  }
}

// --- Checks -------------------------------------------------------------------------------------

/// Marks the matrices whose decomposition did not converge; Info is int. One block.
template <class Info>
__global__ void __launch_bounds__(kBlockThreads)
    MarkKernel(long long count, const Info* info, int* is_bad) {
  for (long long m = threadIdx.x; m < count; m += blockDim.x) {
    if (info[m] != 0) is_bad[m] = 1;
  }
}

/// Reports the first matrix that is finite and whose info is positive; Info is int. One thread.
template <class Info>
__global__ void FailureKernel(long long count, const Info* info, const int* is_bad,
                              const DeferredCheck* check, CheckFailure* failure) {
  if (failure->check != nullptr) return;
  for (long long m = 0; m < count; ++m) {
    if (info[m] <= 0 || is_bad[m] != 0) continue;
    failure->element = m;
    failure->check = check;
    return;
  }
}

// --- Calls of operators -------------------------------------------------------------------------

/// A call of an operator on batches of matrices, with its work memory.
struct MatrixCall : CallState, DeferredCheck {
  const OperatorBase* op = nullptr;
  /// Why a matrix has no result.
  const char* problem = "";
  Sizes batch;  // of the operand that is decomposed
  long long count = 1;
  int rows = 0, columns = 0;
  std::shared_ptr<Cusolver> solver;
  int work_size = 0;
  int64_t bytes = 0;  // of the work memory

  /// Reads the sizes of an operand [..., M, N].
  llvm::Error Read(const OperatorBase& call, const OperandType& x) {
    op = &call;
    const llvm::ArrayRef<int64_t> sizes = x.sizes;
    if (sizes[sizes.size() - 2] > INT_MAX || sizes.back() > INT_MAX)
      return MakeUserError(Code::kAttributeRange,
                           "matrices of more than {0} rows or columns cannot be decomposed on cuda",
                           INT_MAX);
    rows = static_cast<int>(sizes[sizes.size() - 2]);
    columns = static_cast<int>(sizes.back());
    batch.assign(sizes.begin(), sizes.end() - 2);
    for (const int64_t size : batch) count *= size;
    return llvm::Error::success();
  }
  /// Adds work memory, and returns its offset.
  int64_t Take(int64_t elements, int64_t element_bytes) {
    const int64_t at = bytes;
    bytes += (elements * element_bytes + 255) / 256 * 256;
    return at;
  }
  template <class T>
  T* Memory(CUDAContext& context, int64_t at) const {
    // A Plan guarantees less alignment than cuSOLVER requires.
    const auto address = (reinterpret_cast<uintptr_t>(context.workspace()) + 255) / 256 * 256;
    return reinterpret_cast<T*>(address + static_cast<uintptr_t>(at));
  }

  llvm::Error Failure(int64_t element, int64_t) const override {
    return AboutCall(op->arguments(), pdl::linalg::MatrixError(op->def().signature.inputs[0].name,
                                                               batch, element, problem));
  }
};

/// The Preparation of a call, whose Take has been called for all its memory.
template <class Call>
Preparation PreparationOf(std::shared_ptr<Call> call) {
  Preparation preparation;
  preparation.workspace_bytes = call->bytes == 0 ? 0 : call->bytes + 256;
  preparation.state = std::move(call);
  return preparation;
}

/// Sets the size of cuSOLVER's work memory to what `query` returns for its Calls.
template <class Query>
llvm::Error QueryWork(const PrepareContext& context, MatrixCall& call, Query query) {
  const auto& device = static_cast<const CUDAContext&>(context.device());
  auto solver = Cusolver::Get(device);
  if (!solver) return solver.takeError();
  call.solver = std::move(*solver);
  CurrentDevice current(device.device());
  Cusolver::Calls calls(*call.solver, device);
  llvm::Expected<int> size = query(calls);
  if (!size) return size.takeError();
  call.work_size = *size;
  return llvm::Error::success();
}

/// Calls visit(T()) for the dtype of an operand.
template <class Visit>
auto VisitMatrix(DType dtype, Visit visit) {
  return dtype == DType::kF32 ? visit(float()) : visit(double());
}

/// The map of a batch whose matrix m is number m.
inline IndexMap<1> EachItsOwn(long long count) {
  return llvm::cantFail(MakeIndexMap<1>({count}, {llvm::ArrayRef<int64_t>(1)}));
}
/// The map from the matrices of a result's batch to those of an operand, `elements` apart.
inline llvm::Expected<IndexMap<1>> BroadcastMap(llvm::ArrayRef<int64_t> from,
                                                llvm::ArrayRef<int64_t> to, int64_t elements) {
  Sizes strides = BroadcastStrides(from, to);
  for (int64_t& stride : strides) stride *= elements;
  return MakeIndexMap<1>(to, {strides});
}

/// Loads the call's operand; see LoadKernel.
template <class T>
llvm::Error Load(CUDAContext& context, const MatrixCall& call, const Tensor& x,
                 const MatrixLayout& to, bool is_symmetric, T* work, int* is_bad) {
  const LoadShape shape{call.count, call.rows, call.columns, to, is_symmetric};
  return Launch(context, call.op->type().c_str(), &LoadKernel<T>, GridFor(context, call.count, 1),
                dim3(kBlockThreads), shape, static_cast<const T*>(x.raw()), work, is_bad);
}
template <class T>
llvm::Error Store(CUDAContext& context, const MatrixCall& call, const StoreShape& shape,
                  const IndexMap<1>& states, const T* work, const int* is_bad, const T* signs,
                  Tensor* y) {
  if (y->num_elements() == 0) return llvm::Error::success();
  return Launch(context, call.op->type().c_str(), &StoreKernel<T>,
                GridFor(context, y->num_elements()), dim3(kBlockThreads), shape, states, work,
                is_bad, signs, static_cast<T*>(y->raw()));
}
/// Identity matrices, for operands without elements.
template <class T>
llvm::Error StoreIdentity(CUDAContext& context, const MatrixCall& call, int rows, int columns,
                          Tensor* y) {
  const StoreShape shape{call.count, rows, columns, {}};
  return Store<T>(context, call, shape, IndexMap<1>(), nullptr, nullptr, nullptr, y);
}
template <class T>
llvm::Error Orient(CUDAContext& context, const MatrixCall& call, const StoreShape& shape,
                   int columns, const T* x, T* signs) {
  return Launch(context, call.op->type().c_str(), &OrientKernel<T>,
                GridFor(context, shape.count * columns), dim3(kBlockThreads), shape, columns, x,
                signs);
}
inline llvm::Error Mark(CUDAContext& context, const MatrixCall& call, const int* info,
                        int* is_bad) {
  return Launch(context, call.op->type().c_str(), &MarkKernel<int>, dim3(1), dim3(kBlockThreads),
                call.count, info, is_bad);
}
inline llvm::Error ReportFailures(CUDAContext& context, const MatrixCall& call, const int* info,
                                  const int* is_bad) {
  return LaunchWithFailure(context, [&](CUDAContext& run, CheckFailure* failure) {
    return Launch(run, call.op->type().c_str(), &FailureKernel<int>, dim3(1), dim3(1), call.count,
                  info, is_bad, static_cast<const DeferredCheck*>(&call), failure);
  });
}

}  // namespace pdl::cuda::linalg

#endif  // PDL_KERNELS_LINALG_MATRIX_KERNELS_CUH_
