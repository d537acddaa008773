#include "kernels/linalg/matrix_inference.h"

#include "kernels/core/inference_helpers.h"

namespace pdl {

Shape MatrixDims::With(llvm::ArrayRef<Dim> after) const {
  Shape dims = batch;
  dims.append(after.begin(), after.end());
  return dims;
}

llvm::Error RequireMatrix(InferenceContext& context, unsigned input) {
  const Type& x = context.input(input);
  if (x.rank() >= 2) return llvm::Error::success();
  return context.FailAt({input}, Code::kRank, "'{0}' must have at least two dims, got {1}",
                        context.def().signature.inputs[input].name, x.ToString());
}

llvm::Expected<MatrixDims> ReadMatrices(InferenceContext& context, unsigned input) {
  if (llvm::Error error = RequireMatrix(context, input)) return error;
  const llvm::ArrayRef<Dim> dims = context.input(input).dims;
  MatrixDims matrices;
  matrices.batch.assign(dims.begin(), dims.end() - 2);
  matrices.rows = dims[dims.size() - 2];
  matrices.columns = dims[dims.size() - 1];
  return matrices;
}

llvm::Expected<MatrixDims> ReadSquareMatrices(InferenceContext& context, unsigned input) {
  llvm::Expected<MatrixDims> matrices = ReadMatrices(context, input);
  if (!matrices) return matrices.takeError();
  const std::string message =
      "the matrices of '" + context.def().signature.inputs[input].name + "' must be square";
  if (llvm::Error error =
          context.RequireEqual(matrices->rows, matrices->columns, {input}, message)) {
    return error;
  }
  return matrices;
}

llvm::Error InferSquare(InferenceContext& context) {
  llvm::Expected<MatrixDims> x = ReadSquareMatrices(context, 0);
  if (!x) return x.takeError();
  return InferSameAsFirst(context);
}

llvm::Error InferSolution(InferenceContext& context, bool square) {
  if (llvm::Error error = RequireSameDType(context, 0, 1)) return error;
  llvm::Expected<MatrixDims> a = square ? ReadSquareMatrices(context, 0) : ReadMatrices(context, 0);
  if (!a) return a.takeError();
  const Type& b = context.input(1);
  if (b.rank() == 0) {
    return context.FailAt({1}, Code::kRank, "'b' must have at least one dim, got {0}",
                          b.ToString());
  }
  const bool is_vector = b.rank() == 1;
  const Dim& rows = b.dims[is_vector ? 0 : b.rank() - 2];
  if (llvm::Error error = context.RequireEqual(a->rows, rows, {0, 1}, "the numbers of rows differ"))
    return error;
  if (is_vector) {
    context.SetOutput(Type(b.dtype, a->With({a->columns})));
    return llvm::Error::success();
  }
  llvm::Expected<Shape> batch =
      BroadcastDims(context, a->batch, llvm::ArrayRef<Dim>(b.dims).drop_back(2));
  if (!batch) return batch.takeError();
  batch->push_back(a->columns);
  batch->push_back(b.dims.back());
  context.SetOutput(Type(b.dtype, std::move(*batch)));
  return llvm::Error::success();
}

}  // namespace pdl
