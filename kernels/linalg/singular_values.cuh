// Singular value decompositions of batches of matrices, for the operators that use one.
#ifndef PDL_KERNELS_LINALG_SINGULAR_VALUES_CUH_
#define PDL_KERNELS_LINALG_SINGULAR_VALUES_CUH_

#include "kernels/linalg/matrix_kernels.cuh"

namespace pdl::cuda::linalg {

/// A call that decomposes its operand, x = (u * s) @ vt.
struct SvdCall : MatrixCall {
  bool full = false;
  int rank = 0;  // the smaller size of a matrix
  int rows_vt = 0, columns_u = 0;
  int64_t x_at = 0, tall_at = 0, s_at = 0, square_at = 0, info_at = 0, bad_at = 0, work_at = 0;

  /// Of matrices that have elements, takes the work memory.
  llvm::Error PrepareSvd(const OperatorBase& call, const PrepareContext& context, bool full_bases) {
    if (auto error = Read(call, context.inputs()[0])) return error;
    full = full_bases;
    rank = std::min(rows, columns);
    columns_u = full ? rows : rank;
    rows_vt = full ? columns : rank;
    if (context.inputs()[0].num_elements() == 0) return llvm::Error::success();
    const DType dtype = context.inputs()[0].dtype;
    if (auto error = QueryWork(context, *this, [&](Cusolver::Calls& calls) {
          return VisitMatrix(dtype,
                             [&](auto t) { return calls.GesvdWork<decltype(t)>(Long(), rank); });
        }))
      return error;
    const int64_t element = DTypeSize(dtype);
    x_at = Take(count * rows * columns, element);
    tall_at = Take(count * Long() * ColumnsOfTall(), element);
    s_at = Take(count * rank, element);
    square_at = Take(count * rank * rank, element);
    info_at = Take(count, sizeof(int));
    bad_at = Take(count, sizeof(int));
    work_at = Take(work_size, element);
    return llvm::Error::success();
  }

  /// Decomposes x, which has elements.
  template <class T>
  llvm::Error Decompose(const Tensor& x, CUDAContext& context) const {
    const long long m = Long(), n = rank;
    int* info = Memory<int>(context, info_at);
    int* is_bad = Memory<int>(context, bad_at);
    // cuSOLVER requires tall matrices: a wide one is transposed, which its row-major form is.
    const MatrixLayout to = IsWide() ? RowMajor(rows, columns) : ColumnMajor(rows, columns);
    if (auto error = Load<T>(context, *this, x, to, false, Memory<T>(context, x_at), is_bad))
      return error;
    CurrentDevice current(context.device());
    {
      Cusolver::Calls calls(*solver, context);
      for (long long i = 0; i < count; ++i) {
        if (auto error = calls.Gesvd(Long(), rank, full, Memory<T>(context, x_at) + i * m * n,
                                     Memory<T>(context, s_at) + i * n,
                                     Memory<T>(context, tall_at) + i * m * ColumnsOfTall(),
                                     Memory<T>(context, square_at) + i * n * n,
                                     Memory<T>(context, work_at), work_size, info + i))
          return error;
      }
    }
    return Mark(context, *this, info, is_bad);
  }

  template <class T>
  T* U(CUDAContext& context) const {
    return Memory<T>(context, IsWide() ? square_at : tall_at);
  }
  template <class T>
  T* Vt(CUDAContext& context) const {
    return Memory<T>(context, IsWide() ? tall_at : square_at);
  }
  /// With x^T = p s q^T, u is q, and v is p.
  MatrixLayout LayoutOfU() const {
    return IsWide() ? RowMajor(rank, rank) : ColumnMajor(rows, columns_u);
  }
  MatrixLayout LayoutOfVt() const {
    return IsWide() ? RowMajor(rows_vt, columns) : ColumnMajor(rank, rank);
  }

 private:
  bool IsWide() const { return rows < columns; }
  int Long() const { return std::max(rows, columns); }
  int ColumnsOfTall() const { return full ? Long() : rank; }
};

}  // namespace pdl::cuda::linalg

#endif  // PDL_KERNELS_LINALG_SINGULAR_VALUES_CUH_
