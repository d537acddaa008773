// Type inference of operators on matrices, which batch over the dims before the last two.
#ifndef PDL_KERNELS_LINALG_MATRIX_INFERENCE_H_
#define PDL_KERNELS_LINALG_MATRIX_INFERENCE_H_

#include "pdl/op/inference.h"

namespace pdl {

/// The dtypes of operators that factor matrices.
inline constexpr DTypeSet kMatrixSet = DTypeSet(DType::kF32) | DTypeSet(DType::kF64);

/// The dims of an operand that is a batch of matrices, [..., rows, columns].
struct MatrixDims {
  Shape batch;
  Dim rows, columns;

  Dim SmallerSize() const { return rows == columns ? rows : Dim::Min(rows, columns); }
  /// [..., after]: the dims of a result with this batch.
  Shape With(llvm::ArrayRef<Dim> after) const;
};

/// Returns an Error if the operand has fewer than two dims.
llvm::Error RequireMatrix(InferenceContext& context, unsigned input);
/// The dims of an operand; an Error if it has fewer than two.
llvm::Expected<MatrixDims> ReadMatrices(InferenceContext& context, unsigned input);
/// As ReadMatrices; also requires the matrices to be square.
llvm::Expected<MatrixDims> ReadSquareMatrices(InferenceContext& context, unsigned input);

/// Inference of operators whose only result has the type of their operand, square matrices.
llvm::Error InferSquare(InferenceContext& context);
/// Inference of x in `a x = b`, whose operands are a, [..., M, N], and b, [..., M, K] or [M]; the
/// batch dims broadcast. `square` requires M to be N.
llvm::Error InferSolution(InferenceContext& context, bool square);

}  // namespace pdl

#endif  // PDL_KERNELS_LINALG_MATRIX_INFERENCE_H_
