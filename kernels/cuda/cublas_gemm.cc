#include "kernels/cuda/cublas_gemm.h"

#include <cublasLt.h>

#include <algorithm>

#include "runtime/cuda/cuda_error.h"

namespace pdl::cuda {
namespace {

/// NVIDIA's recommendation for Hopper; older GPUs need less.
constexpr size_t kMostWorkspace = size_t{32} << 20;
/// The alignment that cuBLASLt requires of its workspace; a Plan guarantees less.
constexpr int64_t kWorkspaceAlignment = 256;
/// Pointers with this alignment allow the widest loads.
constexpr uint32_t kWideAlignment = 16;

cudaDataType_t DataType(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return CUDA_R_16F;
    case DType::kBF16:
      return CUDA_R_16BF;
    case DType::kF64:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

bool IsAligned(const void* pointer, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

}  // namespace

// cuBLASLt matrices are column-major: it computes c transposed as b transposed times a transposed,
// so its left matrix is our b.
struct CublasGemm::Impl {
  ~Impl() {
    if (operation) cublasLtMatmulDescDestroy(operation);
    for (cublasLtMatrixLayout_t layout : {left, right, result}) {
      if (layout) cublasLtMatrixLayoutDestroy(layout);
    }
  }

  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;
  /// The algorithms for pointers aligned to kWideAlignment, and for all others.
  cublasLtMatmulAlgo_t wide, narrow;
  size_t workspace_bytes = 0;
  bool is_f64 = false;
};

namespace {

cublasStatus_t MakeLayout(cublasLtMatrixLayout_t* layout, cudaDataType_t type, int64_t rows,
                          int64_t columns, int64_t batch, int64_t stride) {
  cublasStatus_t status = cublasLtMatrixLayoutCreate(layout, type, static_cast<uint64_t>(rows),
                                                     static_cast<uint64_t>(columns), rows);
  if (status != CUBLAS_STATUS_SUCCESS || batch == 1) return status;
  const int32_t count = static_cast<int32_t>(batch);
  status = cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                            sizeof count);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                          &stride, sizeof stride);
}

cublasStatus_t SetTranspose(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which,
                            bool transpose) {
  const cublasOperation_t value = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
  return cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value);
}

class Preference {
 public:
  ~Preference() {
    if (preference_) cublasLtMatmulPreferenceDestroy(preference_);
  }
  cublasStatus_t Initialize(uint32_t alignment) {
    cublasStatus_t status = cublasLtMatmulPreferenceCreate(&preference_);
    if (status == CUBLAS_STATUS_SUCCESS)
      status = Set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
    // Partial sums are stored in the compute type.
    const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    if (status == CUBLAS_STATUS_SUCCESS)
      status = Set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
    for (const auto which :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      if (status == CUBLAS_STATUS_SUCCESS) status = Set(which, alignment);
    }
    return status;
  }
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  template <typename T>
  cublasStatus_t Set(cublasLtMatmulPreferenceAttributes_t which, T value) {
    return cublasLtMatmulPreferenceSetAttribute(preference_, which, &value, sizeof value);
  }
  cublasLtMatmulPreference_t preference_ = nullptr;
};

}  // namespace

CublasGemm::CublasGemm(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CublasGemm::~CublasGemm() = default;

llvm::Expected<std::unique_ptr<CublasGemm>> CublasGemm::Create(const CUDAContext& context,
                                                               const GemmProblem& p) {
  if (p.batch > INT32_MAX) return std::unique_ptr<CublasGemm>();
  CurrentDevice current(context.device());
  const auto check = [&](cublasStatus_t status) {
    return ToError(status, "preparing a matmul", context.device());
  };
  auto impl = std::make_unique<Impl>();
  impl->is_f64 = p.dtype == DType::kF64;
  const cudaDataType_t type = DataType(p.dtype);
  const cudaDataType_t scale_type = impl->is_f64 ? CUDA_R_64F : CUDA_R_32F;
  const cublasComputeType_t compute = impl->is_f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;

  if (auto error = check(cublasLtMatmulDescCreate(&impl->operation, compute, scale_type)))
    return error;
  if (auto error = check(SetTranspose(impl->operation, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b)))
    return error;
  if (auto error = check(SetTranspose(impl->operation, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a)))
    return error;
  // A row-major m by k matrix is a column-major k by m matrix.
  if (auto error = check(MakeLayout(&impl->left, type, p.transpose_b ? p.k : p.n,
                                    p.transpose_b ? p.n : p.k, p.batch, p.b_stride)))
    return error;
  if (auto error = check(MakeLayout(&impl->right, type, p.transpose_a ? p.m : p.k,
                                    p.transpose_a ? p.k : p.m, p.batch, p.a_stride)))
    return error;
  if (auto error = check(MakeLayout(&impl->result, type, p.n, p.m, p.batch, p.c_stride)))
    return error;

  const auto element = static_cast<uint32_t>(DTypeSize(p.dtype));
  for (const bool wide : {true, false}) {
    Preference preference;
    if (auto error = check(preference.Initialize(wide ? kWideAlignment : element))) return error;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        context.cublas(), impl->operation, impl->left, impl->right, impl->result, impl->result,
        preference.get(), 1, &found, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0))
      return std::unique_ptr<CublasGemm>();
    if (auto error = check(status)) return error;
    (wide ? impl->wide : impl->narrow) = found.algo;
    impl->workspace_bytes = std::max(impl->workspace_bytes, found.workspaceSize);
  }
  return std::unique_ptr<CublasGemm>(new CublasGemm(std::move(impl)));
}

int64_t CublasGemm::workspace_bytes() const {
  if (impl_->workspace_bytes == 0) return 0;
  return static_cast<int64_t>(impl_->workspace_bytes) + kWorkspaceAlignment;
}

llvm::Error CublasGemm::Run(const CUDAContext& context, const void* a, const void* b, void* c,
                            void* workspace) const {
  CurrentDevice current(context.device());
  static constexpr float kOne = 1, kZero = 0;
  static constexpr double kOneF64 = 1, kZeroF64 = 0;
  const void* alpha = impl_->is_f64 ? static_cast<const void*>(&kOneF64) : &kOne;
  const void* beta = impl_->is_f64 ? static_cast<const void*>(&kZeroF64) : &kZero;
  const bool wide =
      IsAligned(a, kWideAlignment) && IsAligned(b, kWideAlignment) && IsAligned(c, kWideAlignment);
  const auto address = reinterpret_cast<uintptr_t>(workspace);
  void* aligned = reinterpret_cast<void*>((address + kWorkspaceAlignment - 1) /
                                          kWorkspaceAlignment * kWorkspaceAlignment);
  const cublasStatus_t status = cublasLtMatmul(
      context.cublas(), impl_->operation, alpha, b, impl_->left, a, impl_->right, beta, c,
      impl_->result, c, impl_->result, wide ? &impl_->wide : &impl_->narrow,
      impl_->workspace_bytes == 0 ? nullptr : aligned, impl_->workspace_bytes, context.stream());
  return ToError(status, "multiplying matrices", context.device());
}

}  // namespace pdl::cuda
