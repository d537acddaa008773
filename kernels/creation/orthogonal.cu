#include "kernels/creation/orthogonal.h"

#include "kernels/reduction/block_reduction.cuh"
#include "pdl/op/op_registry.h"
#include "runtime/philox.h"

namespace pdl::cuda {
namespace {

__global__ void __launch_bounds__(kBlockThreads)
    NormalsKernel(random::Stream stream, long long pairs, double* x) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < pairs;
       i += step) {
    const auto pair = random::NormalsOf(random::Philox(stream, static_cast<uint64_t>(i)));
    x[2 * i] = pair.first;
    x[2 * i + 1] = pair.second;
  }
}

struct Products {
  double own, mutual;
};

/// Each block subtracts the projection onto vector `done` from one of the later vectors.
__global__ void __launch_bounds__(kBlockThreads)
    ProjectKernel(long long done, long long length, double* x) {
  __shared__ Products shared[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const double* a = x + done * length;
  double* b = x + (done + 1 + blockIdx.x) * length;
  Products sums = {0, 0};
  for (long long i = thread; i < length; i += kBlockThreads) {
    sums.own += a[i] * a[i];
    sums.mutual += a[i] * b[i];
  }
  sums = MergeParts(shared, sums, {0, thread, 1}, kBlockThreads, [](Products p, Products q) {
    return Products{p.own + q.own, p.mutual + q.mutual};
  });
  const double factor = sums.mutual / sums.own;
  for (long long i = thread; i < length; i += kBlockThreads) b[i] -= factor * a[i];
}

/// Each block normalizes a vector to the norm `gain` and writes it.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    WriteKernel(long long count, long long length, bool are_columns, double gain, const double* x,
                T* y) {
  __shared__ double shared[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const long long vector = blockIdx.x;
  const double* a = x + vector * length;
  double square = 0;
  for (long long i = thread; i < length; i += kBlockThreads) square += a[i] * a[i];
  square = MergeParts(shared, square, {0, thread, 1}, kBlockThreads,
                      [](double p, double q) { return p + q; });
  const double factor = gain / sqrt(square);
  for (long long i = thread; i < length; i += kBlockThreads) {
    const long long at = are_columns ? i * count + vector : vector * length + i;
    y[at] = Element<T>::Store(static_cast<ComputeType<T>>(factor * a[i]));
  }
}

class OrthogonalOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& y = context.outputs()[0];
    if (auto error = RequireDType(Floats(), y.dtype, *this)) return error;
    Preparation preparation;
    preparation.workspace_bytes = (y.num_elements() + 1) * int64_t{sizeof(double)};
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const random::OrthogonalVectors vectors(outputs[0]->sizes());
    auto* x = static_cast<double*>(context.workspace());
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, stream_key());
    const int64_t pairs = (n + 1) / 2;
    if (auto error = Launch(context, type().c_str(), &NormalsKernel, GridFor(context, pairs),
                            dim3(kBlockThreads), stream, pairs, x))
      return error;
    for (int64_t done = 0; done + 1 < vectors.count; ++done) {
      const dim3 grid(static_cast<unsigned>(vectors.count - done - 1));
      if (auto error = Launch(context, type().c_str(), &ProjectKernel, grid, dim3(kBlockThreads),
                              done, vectors.length, x))
        return error;
    }
    return VisitDType(Floats(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      return Launch(context, type().c_str(), &WriteKernel<T>,
                    dim3(static_cast<unsigned>(vectors.count)), dim3(kBlockThreads), vectors.count,
                    vectors.length, vectors.are_columns, gain_, static_cast<const double*>(x),
                    static_cast<T*>(outputs[0]->raw()));
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    return attributes.Get("gain", &gain_);
  }

 private:
  double gain_ = 1;
};

}  // namespace

void AddOrthogonalKernels(OpRegistry& registry) {
  registry.AddKernel("orthogonal", DeviceKind::kCUDA, &CreateKernel<OrthogonalOp>);
}

}  // namespace pdl::cuda
