// The part of cuBLASLt that CublasGemm uses, as documented in its manual: column-major matrices.
#include <cublasLt.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pdl/op/half.h"

namespace {

struct Operation {
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
};
struct Layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t stride = 0;

  int64_t At(int64_t matrix, uint64_t row, uint64_t column) const {
    return matrix * stride + static_cast<int64_t>(row) + static_cast<int64_t>(column) * leading;
  }
};
struct Preference {
  uint32_t alignment = 256;
};

constexpr size_t kWorkspace = 1000;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "cuBLASLt is used wrongly: %s\n", what);
  std::abort();
}

template <typename T>
T Value(const void* from, size_t bytes) {
  Require(bytes == sizeof(T), "size of an attribute");
  T value;
  std::memcpy(&value, from, bytes);
  return value;
}

double Read(const void* from, cudaDataType_t type, int64_t i) {
  switch (type) {
    case CUDA_R_16F:
      return static_cast<float>(static_cast<const pdl::float16*>(from)[i]);
    case CUDA_R_16BF:
      return static_cast<float>(static_cast<const pdl::bfloat16*>(from)[i]);
    case CUDA_R_32F:
      return static_cast<const float*>(from)[i];
    default:
      return static_cast<const double*>(from)[i];
  }
}

void Write(void* to, cudaDataType_t type, int64_t i, double value) {
  switch (type) {
    case CUDA_R_16F:
      static_cast<pdl::float16*>(to)[i] = pdl::float16(static_cast<float>(value));
      return;
    case CUDA_R_16BF:
      static_cast<pdl::bfloat16*>(to)[i] = pdl::bfloat16(static_cast<float>(value));
      return;
    case CUDA_R_32F:
      static_cast<float*>(to)[i] = static_cast<float>(value);
      return;
    default:
      static_cast<double*>(to)[i] = value;
  }
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return *handle = nullptr, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasLtGetStatusName(cublasStatus_t) { return "emulated"; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t,
                                        cudaDataType_t) {
  *operation = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete reinterpret_cast<Operation*>(operation);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  auto* op = reinterpret_cast<Operation*>(operation);
  Require(attribute == CUBLASLT_MATMUL_DESC_TRANSA || attribute == CUBLASLT_MATMUL_DESC_TRANSB,
          "attribute of an operation");
  (attribute == CUBLASLT_MATMUL_DESC_TRANSA ? op->transpose_a : op->transpose_b) =
      Value<cublasOperation_t>(value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
  Require(rows > 0 && columns > 0 && leading >= static_cast<int64_t>(rows), "sizes of a layout");
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
  auto* it = reinterpret_cast<Layout*>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    it->batch = Value<int32_t>(value, bytes);
  } else {
    Require(attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, "attribute of a layout");
    it->stride = Value<int64_t>(value, bytes);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<Preference*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    Require(Value<uint64_t>(value, bytes) >= kWorkspace, "room for a workspace");
  } else if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES) {
    reinterpret_cast<Preference*>(preference)->alignment = Value<uint32_t>(value, bytes);
  } else {
    Value<uint32_t>(value, bytes);
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Returns an algorithm with the requested alignment; none for long inner dims, so that our own
/// kernel is tested, too.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t preference, int,
                                              cublasLtMatmulHeuristicResult_t* result, int* count) {
  const auto& left = *reinterpret_cast<Layout*>(a);
  const bool transposed = reinterpret_cast<Operation*>(operation)->transpose_a != CUBLAS_OP_N;
  *count = 0;
  if ((transposed ? left.rows : left.columns) > 100) return CUBLAS_STATUS_NOT_SUPPORTED;
  *count = 1;
  result->algo.data[0] = reinterpret_cast<Preference*>(preference)->alignment;
  result->workspaceSize = kWorkspace;
  result->state = CUBLAS_STATUS_SUCCESS;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void*,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void*, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t) {
  const auto& op = *reinterpret_cast<Operation*>(operation);
  const auto& left = *reinterpret_cast<Layout*>(a_layout);
  const auto& right = *reinterpret_cast<Layout*>(b_layout);
  const auto& out = *reinterpret_cast<Layout*>(d_layout);
  Require(c == d, "c is d");
  Require(workspace && reinterpret_cast<uintptr_t>(workspace) % 256 == 0 &&
              workspace_bytes >= kWorkspace,
          "workspace");
  std::memset(workspace, 0x55, kWorkspace);
  for (const void* pointer : {a, b, static_cast<const void*>(d)})
    Require(reinterpret_cast<uintptr_t>(pointer) % algo->data[0] == 0, "alignment");
  const bool ta = op.transpose_a != CUBLAS_OP_N, tb = op.transpose_b != CUBLAS_OP_N;
  const uint64_t inner = ta ? left.rows : left.columns;
  Require(inner == (tb ? right.columns : right.rows) &&
              out.rows == (ta ? left.columns : left.rows) &&
              out.columns == (tb ? right.rows : right.columns) && left.batch == out.batch &&
              right.batch == out.batch,
          "sizes");
  for (int32_t matrix = 0; matrix < out.batch; ++matrix) {
    for (uint64_t i = 0; i < out.rows; ++i) {
      for (uint64_t j = 0; j < out.columns; ++j) {
        double sum = 0;
        for (uint64_t k = 0; k < inner; ++k) {
          sum += Read(a, left.type, left.At(matrix, ta ? k : i, ta ? i : k)) *
                 Read(b, right.type, right.At(matrix, tb ? j : k, tb ? k : j));
        }
        Write(d, out.type, out.At(matrix, i, j), sum);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
