// Shared parts of gradient rules of operators on matrices. As in GradientContext, all functions
// accept and return null after an error.
#ifndef PDL_KERNELS_LINALG_MATRIX_GRADIENT_H_
#define PDL_KERNELS_LINALG_MATRIX_GRADIENT_H_

#include "pdl/op/gradient.h"

namespace pdl {

/// Emits calls on batches of matrices.
class MatrixCalls {
 public:
  explicit MatrixCalls(GradientContext& context) : g_(context) {}

  /// a @ b, a^T @ b and a @ b^T.
  Value* Product(Value* a, Value* b) { return g_.Call("matmul", {a, b}); }
  Value* ProductTN(Value* a, Value* b) {
    return g_.Call("matmul", {a, b}, {{"transpose_a", true}});
  }
  Value* ProductNT(Value* a, Value* b) {
    return g_.Call("matmul", {a, b}, {{"transpose_b", true}});
  }
  Value* Transpose(Value* x) { return g_.Call("transpose", {x}); }
  /// (x + x^T) / 2.
  Value* SymmetricPart(Value* x);
  /// x - x^T.
  Value* SkewPart(Value* x) { return g_.Sub(x, Transpose(x)); }
  /// x with another number of dims or other sizes, which have the same product.
  Value* Reshape(Value* x, const Shape& dims);
  /// A value for each matrix, [...], as [..., 1, 1].
  Value* PerMatrix(Value* x);
  /// A row of each matrix, [..., N], as [..., 1, N], and a column as [..., N, 1].
  Value* AsRow(Value* x);
  Value* AsColumn(Value* x);
  /// Zeros of the type of x.
  Value* Zeros(Value* x);
  /// [size, size] with ones on the diagonal, of the dtype of `like`.
  Value* Eye(const Dim& size, Value* like);
  /// Of values [..., N]: 1 / (values[j] - values[i]) at (i, j), and 0 on the diagonal.
  Value* InverseGaps(Value* values);
  /// Rows or columns [begin, end) of matrices.
  Value* Rows(Value* x, const Dim& begin, const Dim& end) { return Slice(x, -2, begin, end); }
  Value* Columns(Value* x, const Dim& begin, const Dim& end) { return Slice(x, -1, begin, end); }

 private:
  Value* Slice(Value* x, int64_t axis, const Dim& begin, const Dim& end);

  GradientContext& g_;
};

/// The two operands of `a x = b` and the result, as matrices: a vector b is one column.
struct Equation {
  /// Reads the operands of the call, and `gradient`, which has the type of the result.
  explicit Equation(GradientContext& context);

  Value* a = nullptr;
  Value* b = nullptr;
  Value* x = nullptr;
  Value* dx = nullptr;

  /// Sets the gradients of the call's operands, each summed over the dims that were broadcast; da
  /// and db are matrices.
  void SetGradients(GradientContext& context, Value* da, Value* db) const;
};

}  // namespace pdl

#endif  // PDL_KERNELS_LINALG_MATRIX_GRADIENT_H_
