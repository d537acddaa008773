#include <memory>
#include <type_traits>
#include <vector>

#include "kernels/core/index_map.h"
#include "kernels/cuda/cublas_gemm.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

constexpr int kTile = 16;

/// c = a b for all batches; element (i, j) of a is at a[i * a_row + j * a_column].
struct Product {
  long long m, n, k;
  long long a_row, a_column;
  long long b_row, b_column;
  /// The offsets of the matrices of a, b and c.
  IndexMap<3> batches;
};

/// Each block computes tiles of c, one element per thread. For integers, which cuBLASLt does not
/// support.
template <class T>
__global__ void __launch_bounds__(kTile* kTile)
    ProductKernel(const __grid_constant__ Product p, const T* a, const T* b, T* c) {
  using Compute = ComputeType<T>;
  // Integers wrap around.
  using Wrapping = std::conditional_t<sizeof(Compute) == 8, unsigned long long, unsigned>;
  using Sum = std::conditional_t<std::is_floating_point_v<Compute>, Compute, Wrapping>;
  __shared__ Sum left[kTile][kTile + 1];
  __shared__ Sum right[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const long long row_tiles = (p.m + kTile - 1) / kTile;
  const long long column_tiles = (p.n + kTile - 1) / kTile;
  const long long tiles = p.batches.num_elements * row_tiles * column_tiles;
  for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
    const long long column = t % column_tiles * kTile + x;
    const long long rest = t / column_tiles;
    const long long row = rest % row_tiles * kTile + y;
    const Offsets<3> offset = p.batches.At(rest / row_tiles);
    Sum sum = 0;
    for (long long k = 0; k < p.k; k += kTile) {
      __syncthreads();  // the previous tiles are still being read
      left[y][x] = row < p.m && k + x < p.k
                       ? static_cast<Sum>(Element<T>::Load(
                             a[offset.at[0] + row * p.a_row + (k + x) * p.a_column]))
                       : Sum(0);
      right[y][x] = k + y < p.k && column < p.n
                        ? static_cast<Sum>(Element<T>::Load(
                              b[offset.at[1] + (k + y) * p.b_row + column * p.b_column]))
                        : Sum(0);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kTile; ++i) sum += left[y][i] * right[i][x];
    }
    if (row < p.m && column < p.n)
      c[offset.at[2] + row * p.n + column] = Element<T>::Store(static_cast<Compute>(sum));
  }
}

struct MatmulState : CallState {
  Product product;
  /// Null if ProductKernel is used.
  std::unique_ptr<CublasGemm> gemm;
  /// The element offsets of a, b and c in each call of `gemm`.
  std::vector<Offsets<3>> calls;
};

/// The last two sizes of an operand as a matrix; a vector is a row on the left and a column on the
/// right.
struct Matrix {
  int64_t rows, columns;
  llvm::ArrayRef<int64_t> batch;
  Matrix(llvm::ArrayRef<int64_t> sizes, bool is_left) {
    if (sizes.size() >= 2) {
      rows = sizes[sizes.size() - 2];
      columns = sizes.back();
      batch = sizes.drop_back(2);
    } else {
      rows = is_left ? 1 : sizes[0];
      columns = is_left ? sizes[0] : 1;
    }
  }
  int64_t num_elements() const { return rows * columns; }
};

class MatmulOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& left = context.inputs()[0];
    const OperandType& right = context.inputs()[1];
    const OperandType& out = context.outputs()[0];
    if (auto error = RequireDType(Numbers(), left.dtype, *this)) return error;
    auto state = std::make_shared<MatmulState>();
    Preparation preparation;
    if (out.num_elements() == 0) {
      preparation.state = std::move(state);
      return preparation;
    }

    const Matrix a(left.sizes, true), b(right.sizes, false);
    Product& p = state->product;
    p.m = transpose_a_ ? a.columns : a.rows;
    p.k = transpose_a_ ? a.rows : a.columns;
    p.n = transpose_b_ ? b.rows : b.columns;
    p.a_row = transpose_a_ ? 1 : a.columns;
    p.a_column = transpose_a_ ? a.columns : 1;
    p.b_row = transpose_b_ ? 1 : b.columns;
    p.b_column = transpose_b_ ? b.columns : 1;
    if (auto error = MakeBatches(a, b, p)) return error;

    if (IsFloat(left.dtype) && p.k > 0) {
      const auto& device = static_cast<const CUDAContext&>(context.device());
      if (auto error = MakeGemm(device, left.dtype, *state)) return error;
      if (state->gemm) preparation.workspace_bytes = state->gemm->workspace_bytes();
    }
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const MatmulState& state = *context.state<MatmulState>();
    return VisitDType(Numbers(), inputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      const T* a = static_cast<const T*>(inputs[0]->raw());
      const T* b = static_cast<const T*>(inputs[1]->raw());
      T* c = static_cast<T*>(outputs[0]->raw());
      if (!state.gemm) {
        const Product& p = state.product;
        const int64_t tiles =
            p.batches.num_elements * ((p.m + kTile - 1) / kTile) * ((p.n + kTile - 1) / kTile);
        return Launch(context, type().c_str(), &ProductKernel<T>, GridFor(context, tiles, 1),
                      dim3(kTile, kTile), p, a, b, c);
      }
      for (const Offsets<3>& call : state.calls) {
        if (auto error = state.gemm->Run(context, a + call.at[0], b + call.at[1], c + call.at[2],
                                         context.workspace()))
          return error;
      }
      return llvm::Error::success();
    });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if (auto error = attributes.Get("transpose_a", &transpose_a_)) return error;
    return attributes.Get("transpose_b", &transpose_b_);
  }

 private:
  /// Sets the offsets of the matrices of each batch.
  static llvm::Error MakeBatches(const Matrix& a, const Matrix& b, Product& p) {
    // The view broadcasts matrices; its strides are in matrices at first.
    Sizes sizes;
    for (size_t i = std::max(a.batch.size(), b.batch.size()); i-- > 0;) {
      const int64_t from_a = i < a.batch.size() ? a.batch[a.batch.size() - 1 - i] : 1;
      const int64_t from_b = i < b.batch.size() ? b.batch[b.batch.size() - 1 - i] : 1;
      sizes.push_back(from_a == 1 ? from_b : from_a);
    }
    Sizes a_strides = BroadcastStrides(a.batch, sizes);
    Sizes b_strides = BroadcastStrides(b.batch, sizes);
    Sizes c_strides = DenseStrides(sizes);
    for (size_t i = 0; i < sizes.size(); ++i) {
      a_strides[i] *= a.num_elements();
      b_strides[i] *= b.num_elements();
      c_strides[i] *= p.m * p.n;
    }
    auto map = MakeIndexMap<3>(sizes, {a_strides, b_strides, c_strides});
    if (!map) return map.takeError();
    p.batches = *map;
    return llvm::Error::success();
  }

  /// Plans the matmul by cuBLASLt: one batched call for the innermost batch axis, repeated for each
  /// index of the other batch axes.
  llvm::Error MakeGemm(const CUDAContext& device, DType dtype, MatmulState& state) const {
    const Product& p = state.product;
    GemmProblem problem{dtype, p.m, p.n, p.k, transpose_a_, transpose_b_, 1, 0, 0, 0};
    int64_t outer = 1;
    if (p.batches.rank > 0) {
      const int inner = p.batches.rank - 1;
      problem.batch = p.batches.sizes[inner];
      problem.a_stride = p.batches.strides[0][inner];
      problem.b_stride = p.batches.strides[1][inner];
      problem.c_stride = p.batches.strides[2][inner];
      outer = p.batches.num_elements / problem.batch;
      // If all matrices share the right operand and their rows are contiguous, they are one taller
      // matrix.
      if (!transpose_a_ && problem.a_stride == p.m * p.k && problem.b_stride == 0) {
        problem.m *= problem.batch;
        problem.batch = 1;
      }
    }
    auto gemm = CublasGemm::Create(device, problem);
    if (!gemm) return gemm.takeError();
    state.gemm = std::move(*gemm);
    const int64_t step = p.batches.num_elements / outer;
    for (int64_t i = 0; i < outer; ++i) state.calls.push_back(p.batches.At(i * step));
    return llvm::Error::success();
  }

  bool transpose_a_ = false;
  bool transpose_b_ = false;
};

}  // namespace

void AddMatmulKernels(OpRegistry& registry) {
  registry.AddKernel("matmul", DeviceKind::kCUDA, &CreateKernel<MatmulOp>);
}

}  // namespace pdl::cuda
