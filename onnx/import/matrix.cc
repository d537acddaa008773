// Matmuls, and matmuls of quantized integers.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

void ConvertMatMul(Node& n) { n.Out(n.Call("matmul", {n.In(0), n.In(1)})); }

void ConvertGemm(Node& n) {
  Value* a = n.In(0);
  Value* b = n.In(1);
  const double alpha = n.Float("alpha", 1), beta = n.Float("beta", 1);
  Value* y =
      n.Call("matmul", {a, b},
             {{"transpose_a", n.Int("transA", 0) != 0}, {"transpose_b", n.Int("transB", 0) != 0}});
  if (alpha != 1) y = n.Mul(y, n.Scalar(alpha, y));
  if (Value* c = n.OptionalIn(2); c != nullptr && beta != 0) {
    if (beta != 1) c = n.Mul(c, n.Scalar(beta, c));
    y = n.Add(y, c);
  }
  n.Out(y);
}

/// The axis of the label at `place` of a term; those before "..." are counted from the front.
size_t AxisOfLabel(llvm::StringRef term, size_t place, size_t rank) {
  return place < term.find("...") ? place : rank - (term.size() - place);
}

/// The right-hand side of an equation without "->": the labels that occur once, in order.
std::string ImplicitTerm(llvm::StringRef terms) {
  std::string labels = terms.contains("...") ? "..." : "";
  for (char label = 'A'; label <= 'z'; ++label)
    if (llvm::isAlpha(label) && terms.count(label) == 1) labels += label;
  return labels;
}

/// Whether a term has a label for each of `rank` dims, some of which may be "...".
bool IsTerm(llvm::StringRef term, size_t rank) {
  const size_t labels = llvm::count_if(term, llvm::isAlpha), dots = term.count("...");
  return dots <= 1 && labels + 3 * dots == term.size() &&
         (dots == 1 ? labels <= rank : labels == rank);
}

/// A dim of size 1 is broadcast to the other dims of its label, as in NumPy: it is removed from the
/// operand, and its label from the equation.
std::string BroadcastLabels(Node& n, llvm::StringRef equation, std::vector<Value*>& operands) {
  const auto [left, right] = equation.split("->");
  llvm::SmallVector<llvm::StringRef, 3> terms;
  left.split(terms, ',');
  if (n.failed() || terms.size() != operands.size()) return equation.str();
  llvm::SmallVector<bool, 128> is_wide(128);
  for (auto [term, operand] : llvm::zip_equal(terms, operands)) {
    const Shape& dims = operand->type().dims;
    if (!IsTerm(term, dims.size())) return equation.str();
    for (size_t at = 0; at < term.size(); ++at)
      if (llvm::isAlpha(term[at]) && !dims[AxisOfLabel(term, at, dims.size())].is_constant(1))
        is_wide[static_cast<size_t>(term[at])] = true;
  }
  std::vector<std::string> kept;
  for (auto [term, operand] : llvm::zip_equal(terms, operands)) {
    const Shape& dims = operand->type().dims;
    std::vector<int64_t> axes;
    kept.emplace_back();
    for (size_t at = 0; at < term.size(); ++at) {
      const bool is_one = llvm::isAlpha(term[at]) && is_wide[static_cast<size_t>(term[at])] &&
                          term.count(term[at]) == 1 &&
                          dims[AxisOfLabel(term, at, dims.size())].is_constant(1);
      if (is_one)
        axes.push_back(static_cast<int64_t>(AxisOfLabel(term, at, dims.size())));
      else
        kept.back() += term[at];
    }
    if (!axes.empty()) operand = n.Call("squeeze", {operand}, {{"axes", axes}});
  }
  const std::string now = llvm::join(kept, ",");
  if (now == left) return equation.str();
  return now + "->" + (equation.contains("->") ? right.str() : ImplicitTerm(left));
}

void ConvertEinsum(Node& n) {
  std::string equation = n.String("equation", "");
  llvm::erase(equation, ' ');
  std::vector<Value*> operands = n.AllIn();
  equation = BroadcastLabels(n, equation, operands);
  n.Out(n.Call("einsum", operands, {{"equation", equation}}));
}

// --- Quantized integers -----------------------------------------------------------------------

/// A scale or zero point shaped to broadcast to x: a scalar, or one for each index of an axis, or
/// one for each block.
Value* AlongAxis(Node& n, Value* part, Value* x, unsigned axis, int64_t block) {
  if (part == nullptr || x == nullptr) return nullptr;
  const unsigned rank = x->type().rank();
  if (part->type().rank() == 0) return part;
  if (part->type().rank() == 1 && block == 0) {
    if (part->type().dims[0].is_constant(1)) return n.Reshape(part, {});
    if (axis >= rank) {
      n.Fail("there is no axis {0} for the scales", axis);
      return nullptr;
    }
    Shape dims(rank, Dim(1));
    dims[axis] = part->type().dims[0];
    return n.Reshape(part, dims);
  }
  if (part->type().rank() != rank || axis >= rank || block < 1) {
    n.Fail("the scale has {0} dims", part->type().rank());
    return nullptr;
  }
  // Each element is repeated over a block of x.
  Shape apart = part->type().dims, repeated = part->type().dims, joined = part->type().dims;
  apart.insert(apart.begin() + axis + 1, Dim(1));
  repeated.insert(repeated.begin() + axis + 1, Dim(block));
  joined[axis] = joined[axis] * block;
  Value* all =
      n.Reshape(n.Call("broadcast_to", {n.Reshape(part, apart)}, {{"dims", repeated}}), joined);
  if (joined[axis] == x->type().dims[axis]) return all;
  return n.Call("slice", {all},
                {{"axes", std::vector<int64_t>{axis}},
                 {"starts", Shape{0}},
                 {"stops", Shape{x->type().dims[axis]}}});
}

std::pair<double, double> Range(DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return {-128, 127};
    case DType::kI16:
      return {-32768, 32767};
    case DType::kU16:
      return {0, 65535};
    default:
      return {0, 255};
  }
}

void ConvertQuantizeLinear(Node& n) {
  Value* x = n.In(0);
  Value* scale = n.In(1);
  if (x == nullptr || scale == nullptr) return;
  Value* zero = n.OptionalIn(2);
  if (n.failed()) return;
  DType dtype = zero != nullptr ? zero->type().dtype : DType::kU8;
  if (const int64_t given = n.Int("output_dtype", 0); given != 0)
    dtype = n.TypeAttribute("output_dtype", dtype);
  const int64_t block = n.Int("block_size", 0);
  const unsigned rank = x->type().rank();
  const unsigned axis = rank == 0 ? 0 : n.Axis(n.Int("axis", 1), std::max(rank, 2u));
  const bool is_byte = dtype == DType::kU8 || dtype == DType::kI8;
  if (!IsInteger(dtype)) return n.Unsupported("results of {0}", DTypeName(dtype));
  if (is_byte && block == 0 && scale->type().rank() <= 1) {
    std::vector<Value*> operands = {x, n.Cast(scale, x->type().dtype)};
    if (scale->type().rank() == 1 && scale->type().dims[0].is_constant(1)) {
      operands[1] = n.Reshape(operands[1], {});
      if (zero != nullptr) zero = n.Reshape(zero, {});
    }
    if (zero != nullptr) operands.push_back(zero);
    return n.Out(
        n.Call("quantize", operands, {{"axis", static_cast<int64_t>(axis)}, {"dtype", dtype}}));
  }
  const auto [low, high] = Range(dtype);
  if (DTypeSize(x->type().dtype) == 2 && !is_byte) x = n.Cast(x, DType::kF32);
  Value* y =
      n.Call("round", {n.Div(x, n.Cast(AlongAxis(n, scale, x, axis, block), x->type().dtype))});
  if (zero != nullptr) y = n.Add(y, n.Cast(AlongAxis(n, zero, x, axis, block), x->type().dtype));
  n.Out(n.Cast(n.Call("clip", {y}, {{"low", low}, {"high", high}}), dtype));
}

void ConvertDequantizeLinear(Node& n) {
  Value* x = n.In(0);
  Value* scale = n.In(1);
  if (x == nullptr || scale == nullptr) return;
  Value* zero = n.OptionalIn(2);
  const unsigned rank = x->type().rank();
  const unsigned axis = rank == 0 ? 0 : n.Axis(n.Int("axis", 1), std::max(rank, 2u));
  const int64_t block = n.Int("block_size", 0);
  if (n.failed()) return;
  Value* wide = n.Cast(x, DType::kI32);
  if (zero != nullptr) wide = n.Sub(wide, n.Cast(AlongAxis(n, zero, x, axis, block), DType::kI32));
  const DType real = scale->type().dtype;
  n.Out(n.Mul(n.Cast(wide, real), AlongAxis(n, scale, x, axis, block)));
}

void ConvertDynamicQuantizeLinear(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  Value* zero = n.Scalar(0, x);
  Value* low = n.Call("minimum", {zero, n.Call("min", {x})});
  Value* high = n.Call("maximum", {zero, n.Call("max", {x})});
  Value* scale = n.Div(n.Sub(high, low), n.Scalar(255, x));
  Value* point = n.Call(
      "round", {n.Call("clip", {n.Sub(zero, n.Div(low, scale))}, {{"low", 0.0}, {"high", 255.0}})});
  point = n.Cast(point, DType::kU8);
  n.Out(0, n.Call("quantize", {x, scale, point}));
  n.Out(1, scale);
  n.Out(2, point);
}

/// Subtracts the zero point, which is one number or one for each row or column.
Value* Centred(Node& n, Value* x, Value* zero, bool by_row) {
  Value* wide = n.Cast(x, DType::kI32);
  if (zero == nullptr || wide == nullptr) return wide;
  zero = n.Cast(zero, DType::kI32);
  if (by_row && zero != nullptr && zero->type().rank() == 1 && !zero->type().dims[0].is_constant(1))
    zero = n.Reshape(zero, {zero->type().dims[0], 1});
  return n.Sub(wide, zero);
}

void ConvertMatMulInteger(Node& n) {
  Value* a = n.In(0);
  Value* b = n.In(1);
  n.Out(n.Call("matmul",
               {Centred(n, a, n.OptionalIn(2), true), Centred(n, b, n.OptionalIn(3), false)}));
}

void ConvertQLinearMatMul(Node& n) {
  Value* a = Centred(n, n.In(0), n.In(2), true);
  Value* b = Centred(n, n.In(3), n.In(5), false);
  Value* product = n.Call("matmul", {a, b});
  Value* a_scale = n.In(1);
  Value* b_scale = n.In(4);
  Value* y_scale = n.In(6);
  Value* zero = n.In(7);
  if (product == nullptr || a_scale == nullptr || b_scale == nullptr || y_scale == nullptr ||
      zero == nullptr)
    return;
  const DType dtype = zero->type().dtype;
  if (dtype != DType::kU8 && dtype != DType::kI8)
    return n.Unsupported("results of {0}", DTypeName(dtype));
  if (a_scale->type().rank() == 1 && !a_scale->type().dims[0].is_constant(1))
    a_scale = n.Reshape(a_scale, {a_scale->type().dims[0], 1});
  // In f32 for any dtype of the scales: f16 and bf16 are not precise enough for the sums.
  auto real = [&](Value* x) { return n.Cast(x, DType::kF32); };
  Value* y = n.Mul(real(product), n.Div(n.Mul(real(a_scale), real(b_scale)), real(y_scale)));
  y = n.Add(n.Call("round", {y}), real(zero));
  const auto [low, high] = Range(dtype);
  n.Out(n.Cast(n.Call("clip", {y}, {{"low", low}, {"high", high}}), dtype));
}

}  // namespace

llvm::ArrayRef<OnnxRule> MatrixRules() {
  static const OnnxRule kRules[] = {{"MatMul", ConvertMatMul},
                                    {"Gemm", ConvertGemm},
                                    {"Einsum", ConvertEinsum},
                                    {"QuantizeLinear", ConvertQuantizeLinear},
                                    {"DequantizeLinear", ConvertDequantizeLinear},
                                    {"DynamicQuantizeLinear", ConvertDynamicQuantizeLinear},
                                    {"MatMulInteger", ConvertMatMulInteger},
                                    {"QLinearMatMul", ConvertQLinearMatMul}};
  return kRules;
}

}  // namespace pdl
