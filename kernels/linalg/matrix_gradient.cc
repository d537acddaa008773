#include "kernels/linalg/matrix_gradient.h"

namespace pdl {

Value* MatrixCalls::SymmetricPart(Value* x) {
  if (x == nullptr) return nullptr;
  return g_.Mul(g_.Add(x, Transpose(x)), g_.Scalar(0.5, x));
}

Value* MatrixCalls::Reshape(Value* x, const Shape& dims) {
  if (x == nullptr || x->type().dims == dims) return x;
  return g_.Call("reshape", {x}, {{"dims", dims}});
}

Value* MatrixCalls::PerMatrix(Value* x) { return AsColumn(AsColumn(x)); }

Value* MatrixCalls::AsRow(Value* x) {
  if (x == nullptr) return nullptr;
  Shape dims = x->type().dims;
  dims.insert(dims.end() - 1, Dim(1));
  return Reshape(x, dims);
}

Value* MatrixCalls::AsColumn(Value* x) {
  if (x == nullptr) return nullptr;
  Shape dims = x->type().dims;
  dims.push_back(Dim(1));
  return Reshape(x, dims);
}

Value* MatrixCalls::Zeros(Value* x) {
  if (x == nullptr) return nullptr;
  return g_.Call("zeros", {}, {{"dims", x->type().dims}, {"dtype", x->type().dtype}});
}

Value* MatrixCalls::Eye(const Dim& size, Value* like) {
  if (like == nullptr) return nullptr;
  return g_.Call("eye", {}, {{"dims", Shape{size, size}}, {"dtype", like->type().dtype}});
}

Value* MatrixCalls::InverseGaps(Value* values) {
  if (values == nullptr) return nullptr;
  Value* gaps = g_.Sub(AsRow(values), AsColumn(values));
  Value* eye = Eye(values->type().dims.back(), values);
  // A gap of 1 on the diagonal, so that the derivative of the quotient is finite there, too.
  return g_.Div(g_.Sub(g_.Scalar(1, values), eye), g_.Add(gaps, eye));
}

Value* MatrixCalls::Slice(Value* x, int64_t axis, const Dim& begin, const Dim& end) {
  return g_.Call(
      "slice", {x},
      {{"axes", std::vector<int64_t>{axis}}, {"starts", Shape{begin}}, {"stops", Shape{end}}});
}

Equation::Equation(GradientContext& context)
    : a(context.input(0)), b(context.input(1)), x(context.output()), dx(context.output_gradient()) {
  if (b->type().rank() > 1) return;
  MatrixCalls m(context);
  b = m.AsColumn(b);
  x = m.AsColumn(x);
  dx = m.AsColumn(dx);
}

void Equation::SetGradients(GradientContext& context, Value* da, Value* db) const {
  MatrixCalls m(context);
  context.SetInputGradient(0, context.SumTo(da, a));
  context.SetInputGradient(1, m.Reshape(context.SumTo(db, b), context.input(1)->type().dims));
}

}  // namespace pdl
