// Functions of matrices: expm.
#include "kernels/linalg/matrix_kernels.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using namespace linalg;

/// The Padé approximation of exp; see matrix_function.cc.
struct Pade {
  int degree;
  double radius;
  double coefficients[14];
};
constexpr Pade kPadeOfFloat = {
    7, 3.925724783138660, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}};
constexpr Pade kPadeOfDouble = {
    13,
    5.371920351148152,
    {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
     10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}};

/// The memory of the matrices of a call, count * n * n elements each.
template <class T>
struct ExpmMemory {
  long long count;
  int n;
  T *x, *square, *power, *next, *odd, *even;  // column-major
  int* squarings;
};

/// c = a b, by all threads of a block.
template <class T>
__device__ void Multiply(int n, const T* a, const T* b, T* c) {
  __syncthreads();
  for (long long e = threadIdx.x; e < static_cast<long long>(n) * n; e += blockDim.x) {
    const T* left = a + e % n;
    const T* right = b + e / n * n;
    T sum = 0;
    for (int k = 0; k < n; ++k) sum += left[static_cast<long long>(k) * n] * right[k];
    c[e] = sum;
  }
  __syncthreads();
}

/// Divides x by a power of 2, and sets `even` and `odd` to numerator and denominator of the
/// approximation. One block for each matrix.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    ApproximateKernel(ExpmMemory<T> s, const __grid_constant__ Pade pade) {
  __shared__ double sums[kBlockThreads];
  const long long elements = static_cast<long long>(s.n) * s.n;
  for (long long m = blockIdx.x; m < s.count; m += gridDim.x) {
    const long long first = m * elements;
    T* x = s.x + first;
    T* power = s.power + first;
    T* next = s.next + first;
    double norm = 0;
    for (long long j = threadIdx.x; j < s.n; j += blockDim.x) {
      double sum = 0;
      for (int i = 0; i < s.n; ++i) sum += fabs(static_cast<double>(x[j * s.n + i]));
      if (sum > norm) norm = sum;
    }
    sums[threadIdx.x] = norm;
    __syncthreads();
    for (unsigned i = 0; i < blockDim.x; ++i) norm = sums[i] > norm ? sums[i] : norm;
    int exponent = 0;
    const double ratio = norm / pade.radius;
    frexp(ratio < 1e300 ? ratio : 1e300, &exponent);
    if (exponent < 0) exponent = 0;
    if (threadIdx.x == 0) s.squarings[m] = exponent;
    __syncthreads();
    for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
      x[e] = ldexp(x[e], -exponent);
      const T one = e % s.n == e / s.n ? T(1) : T(0);
      power[e] = one;
      s.even[first + e] = static_cast<T>(pade.coefficients[0]) * one;
      s.odd[first + e] = static_cast<T>(pade.coefficients[1]) * one;
    }
    Multiply(s.n, x, x, s.square + first);
    for (int k = 2; k < pade.degree; k += 2) {
      Multiply(s.n, power, s.square + first, next);
      T* const swapped = power;
      power = next;
      next = swapped;
      for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
        s.even[first + e] += static_cast<T>(pade.coefficients[k]) * power[e];
        s.odd[first + e] += static_cast<T>(pade.coefficients[k + 1]) * power[e];
      }
    }
    Multiply(s.n, x, s.odd + first, next);
    for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
      const T even = s.even[first + e];
      s.even[first + e] = even + next[e];
      s.odd[first + e] = even - next[e];
    }
    __syncthreads();  // the next matrix overwrites `sums`
  }
}

/// Squares the approximations, in `even`, and stores them row-major. One block for each matrix.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    SquareKernel(ExpmMemory<T> s, const int* is_bad, T* y) {
  const long long elements = static_cast<long long>(s.n) * s.n;
  for (long long m = blockIdx.x; m < s.count; m += gridDim.x) {
    const long long first = m * elements;
    T* from = s.even + first;
    T* to = s.next + first;
    for (int i = 0; i < s.squarings[m]; ++i) {
      Multiply(s.n, from, from, to);
      T* const swapped = from;
      from = to;
      to = swapped;
    }
    __syncthreads();
    for (long long e = threadIdx.x; e < elements; e += blockDim.x) {
      y[first + e] = is_bad[m] != 0 ? Nan<T>() : from[e % s.n * s.n + e / s.n];
    }
  }
}

struct ExpmCall : MatrixCall {
  int64_t matrices_at = 0, squarings_at = 0, pivots_at = 0, info_at = 0, bad_at = 0, work_at = 0;
};

class ExpmOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<ExpmCall>();
    if (auto error = call->Read(*this, context.inputs()[0])) return error;
    if (context.inputs()[0].num_elements() == 0) return PreparationOf(std::move(call));
    const DType dtype = context.inputs()[0].dtype;
    const int n = call->rows;
    if (auto error = QueryWork(context, *call, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype, [&](auto t) { return calls.GetrfWork<decltype(t)>(n); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    call->matrices_at = call->Take(6 * call->count * n * n, element);
    call->squarings_at = call->Take(call->count, sizeof(int));
    call->pivots_at = call->Take(call->count * n, sizeof(int));
    call->info_at = call->Take(call->count + 1, sizeof(int));
    call->bad_at = call->Take(call->count, sizeof(int));
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
  llvm::Error RunEach(const Tensor& x, Tensor* y, CUDAContext& context) const {
    const ExpmCall& call = *context.state<ExpmCall>();
    const int n = call.rows;
    const long long elements = call.count * n * n;
    T* const memory = call.Memory<T>(context, call.matrices_at);
    const ExpmMemory<T> matrices{call.count,
                                 n,
                                 memory,
                                 memory + elements,
                                 memory + 2 * elements,
                                 memory + 3 * elements,
                                 memory + 4 * elements,
                                 memory + 5 * elements,
                                 call.Memory<int>(context, call.squarings_at)};
    int* is_bad = call.Memory<int>(context, call.bad_at);
    if (auto error = Load<T>(context, call, x, ColumnMajor(n, n), false, matrices.x, is_bad))
      return error;
    const dim3 grid = GridFor(context, call.count, 1);
    if (auto error =
            Launch(context, type().c_str(), &ApproximateKernel<T>, grid, dim3(kBlockThreads),
                   matrices, sizeof(T) == 4 ? kPadeOfFloat : kPadeOfDouble))
      return error;
    {
      CurrentDevice current(context.device());
      Cusolver::Calls calls(*call.solver, context);
      int* pivots = call.Memory<int>(context, call.pivots_at);
      int* info = call.Memory<int>(context, call.info_at);
      for (long long m = 0; m < call.count; ++m) {
        T* denominator = matrices.odd + m * n * n;
        if (auto error = calls.Getrf(n, denominator, call.Memory<T>(context, call.work_at),
                                     pivots + m * n, info + m))
          return error;
        if (auto error = calls.Getrs(n, n, denominator, pivots + m * n, matrices.even + m * n * n,
                                     info + call.count))
          return error;
      }
    }
    return Launch(context, type().c_str(), &SquareKernel<T>, grid, dim3(kBlockThreads), matrices,
                  is_bad, static_cast<T*>(y->raw()));
  }
};

}  // namespace

void AddMatrixFunctionKernels(OpRegistry& registry) {
  registry.AddKernel("expm", DeviceKind::kCUDA, &CreateKernel<ExpmOp>);
}

}  // namespace pdl::cuda
