// Reductions, cumulative operators and order statistics.
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

// The axes of a reduction; nullopt if it does nothing.
std::optional<std::vector<int64_t>> ReducedAxes(Node& n, const Value* x, int64_t input_since) {
  const size_t rank = x->type().rank();
  std::vector<int64_t> axes;
  const bool as_input = n.opset() >= input_since;
  if (as_input && n.Has(1)) axes = n.IntsIn(1);
  if (!as_input) axes = n.Ints("axes");
  if (axes.empty()) {
    if (as_input && n.Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    return axes;
  }
  return n.Axes(axes, rank);
}

// After an error was reported, axes may be out of range.
bool HasEmpty(const Value* x, llvm::ArrayRef<int64_t> axes) {
  const Shape& dims = x->type().dims;
  return llvm::any_of(axes, [&](int64_t axis) {
    return axis < static_cast<int64_t>(dims.size()) &&
           dims[static_cast<size_t>(axis)].is_constant(0);
  });
}

Shape WithoutAxes(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<int64_t> axes, bool keep) {
  Shape rest;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i))) {
      rest.push_back(dims[i]);
    } else if (keep) {
      rest.emplace_back(1);
    }
  }
  return rest;
}

/// The largest or smallest number of a dtype.
double LimitOf(DType dtype, bool largest) {
  if (IsFloat(dtype)) return largest ? HUGE_VAL : -HUGE_VAL;
  if (dtype == DType::kBool) return largest ? 1 : 0;
  const auto bits = static_cast<int>(8 * DTypeSize(dtype));
  if (IsUnsigned(dtype)) return largest ? std::ldexp(1.0, bits) - 1 : 0;
  return largest ? std::ldexp(1.0, bits - 1) - 1 : -std::ldexp(1.0, bits - 1);
}

void ConvertReduce(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const llvm::StringRef kind = n.op_type();
  const auto axes = ReducedAxes(n, x, kind == "ReduceSum" ? 13 : 18);
  const bool keep = n.Int("keepdims", 1) != 0;
  const DType dtype = x->type().dtype;
  const bool is_real = IsFloat(dtype);
  auto reduce = [&](llvm::StringRef op, Value* of) {
    if (!axes) return of;
    return n.Call(op, {of}, {{"axes", *axes}, {"keep", keep}});
  };
  // The maximum or minimum of an empty set.
  if ((kind == "ReduceMax" || kind == "ReduceMin") && axes && HasEmpty(x, *axes)) {
    return n.Out(n.Filled(WithoutAxes(x->type().dims, *axes, keep),
                          LimitOf(dtype, kind == "ReduceMin"), dtype));
  }
  Value* y = nullptr;
  if (kind == "ReduceSum" || kind == "ReduceProd") {
    y = reduce(kind == "ReduceSum" ? "sum" : "prod", x);
  } else if (kind == "ReduceMean") {
    y = reduce("mean", is_real ? x : n.Cast(x, DType::kF64));
  } else if (kind == "ReduceMax" || kind == "ReduceMin") {
    if (dtype == DType::kBool) {
      y = reduce(kind == "ReduceMax" ? "any" : "all", x);
    } else {
      y = reduce(kind == "ReduceMax" ? "max" : "min", x);
    }
  } else if (kind == "ReduceL1") {
    y = reduce("sum", n.Call("abs", {x}));
  } else if (kind == "ReduceL2") {
    y = n.Call("sqrt", {reduce("sum", n.Call("square", {is_real ? x : n.Cast(x, DType::kF64)}))});
  } else if (kind == "ReduceSumSquare") {
    y = reduce("sum", n.Call("square", {x}));
  } else if (kind == "ReduceLogSum") {
    y = n.Call("log", {reduce("sum", is_real ? x : n.Cast(x, DType::kF64))});
  } else {
    // Without axes it is log(exp(x)), the element itself.
    y = reduce("logsumexp", is_real ? x : n.Cast(x, DType::kF64));
  }
  n.Out(n.Cast(y, dtype));
}

void ConvertArgMinMax(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned axis = n.Axis(n.Int("axis", 0), x->type().rank());
  const bool last = n.Int("select_last_index", 0) != 0;
  const bool keep = n.Int("keepdims", 1) != 0;
  if (n.failed()) return;
  const Dim size = x->type().dims[axis];
  if (last) x = n.Call("flip", {x}, {{"axes", std::vector<int64_t>{axis}}});
  Value* index = n.Call(n.op_type() == "ArgMax" ? "argmax" : "argmin", {x},
                        {{"axis", static_cast<int64_t>(axis)}, {"keep", keep}});
  if (last) index = n.Sub(n.Reshape(n.SizeValue({size - 1}), {}), index);
  n.Out(index);
}

void ConvertCumulative(Node& n) {
  Value* x = n.In(0);
  const int64_t axis = n.IntIn(1);
  n.Out(n.Call(n.op_type() == "CumSum" ? "cumsum" : "cumprod", {x},
               {{"axis", axis},
                {"exclusive", n.Int("exclusive", 0) != 0},
                {"reverse", n.Int("reverse", 0) != 0}}));
}

void ConvertTopK(Node& n) {
  Value* x = n.In(0);
  const Dim k = n.opset() >= 10 ? n.SizeIn(1) : Dim(n.Int("k", 0));
  std::vector<Value*> both = n.CallAll(
      "topk", {x},
      {{"k", Shape{k}}, {"axis", n.Int("axis", -1)}, {"largest", n.Int("largest", 1) != 0}});
  if (both.size() != 2) return;
  n.Out(0, both[0]);
  n.Out(1, both[1]);
}

void ConvertLpNormalization(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const std::vector<int64_t> axes = {n.Axis(n.Int("axis", -1), x->type().rank())};
  const bool is_l1 = n.Int("p", 2) == 1;
  Value* sum =
      n.Call("sum", {n.Call(is_l1 ? "abs" : "square", {x})}, {{"axes", axes}, {"keep", true}});
  Value* length = is_l1 ? sum : n.Call("sqrt", {sum});
  // Rows of zeros remain zeros.
  Value* zero = n.Call("equal", {length, n.Scalar(0, x)});
  Value* safe = n.Call("where", {zero, n.Scalar(1, x), length});
  n.Out(n.Div(x, safe));
}

void ConvertNonZero(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  n.Out(n.Transpose(n.Call("nonzero", {x}), {1, 0}));
}

void ConvertUnique(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  if (n.HasAttribute("axis") && x->type().rank() != 1)
    return n.Unsupported("unique parts along an axis");
  std::vector<Value*> all = n.CallAll("unique", {x}, {{"sorted", n.Int("sorted", 1) != 0}});
  if (all.size() != 4) return;
  n.Out(0, all[0]);
  n.Out(1, all[3]);
  n.Out(2, all[1]);
  n.Out(3, all[2]);
}

}  // namespace

llvm::ArrayRef<OnnxRule> ReductionRules() {
  static const OnnxRule kRules[] = {
      {"ReduceSum", ConvertReduce},    {"ReduceProd", ConvertReduce},
      {"ReduceMean", ConvertReduce},   {"ReduceMax", ConvertReduce},
      {"ReduceMin", ConvertReduce},    {"ReduceL1", ConvertReduce},
      {"ReduceL2", ConvertReduce},     {"ReduceSumSquare", ConvertReduce},
      {"ReduceLogSum", ConvertReduce}, {"ReduceLogSumExp", ConvertReduce},
      {"ArgMax", ConvertArgMinMax},    {"ArgMin", ConvertArgMinMax},
      {"CumSum", ConvertCumulative},   {"CumProd", ConvertCumulative},
      {"TopK", ConvertTopK},           {"LpNormalization", ConvertLpNormalization},
      {"NonZero", ConvertNonZero},     {"Unique", ConvertUnique}};
  return kRules;
}

}  // namespace pdl
