// Export of reductions.
#include "llvm/ADT/STLExtras.h"
#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// Reduces over the axes of the call.
std::string Over(ExportCall& c, llvm::StringRef type, const std::string& x) {
  return c.Reduce(type, x, c.Axes("axes", c.type(0).rank()), c.attributes().Bool("keep"));
}

Exported Plain(ExportCall& c) {
  const llvm::StringRef op = c.op().type();
  const llvm::StringRef type = op == "sum"    ? "ReduceSum"
                               : op == "prod" ? "ReduceProd"
                               : op == "max"  ? "ReduceMax"
                               : op == "min"  ? "ReduceMin"
                               : op == "mean" ? "ReduceMean"
                               : op == "norm" ? "ReduceL2"
                                              : "ReduceLogSumExp";
  const DType dtype = op == "norm" ? WideDType(c.dtype()) : ComputeDType(c.dtype());
  return c.Out(Over(c, type, c.In(0, dtype)), dtype);
}

/// GlobalAveragePool for the mean of non-empty f32 planes.
Exported Mean(ExportCall& c) {
  const unsigned rank = c.type(0).rank();
  std::vector<int64_t> spatial;
  bool is_pool = rank >= 4 && c.dtype() == DType::kF32 && c.attributes().Bool("keep");
  for (unsigned i = 2; i < rank; ++i) {
    spatial.push_back(i);
    is_pool &= c.type(0).dims[i].ProvablyAtLeast(1);
  }
  if (is_pool && c.Axes("axes", rank) == spatial) return c.Node("GlobalAveragePool", {c.In(0)});
  return Plain(c);
}

/// Counts elements other than 0, including nan.
std::string CountNonzero(ExportCall& c, bool zeros) {
  const DType own = c.type(0).dtype;
  const DType dtype = ComputeDType(own);
  std::string is_zero = c.Node("Equal", {c.In(0, dtype), c.Scalar(0, dtype)});
  if (!zeros) is_zero = c.Node("Not", {is_zero});
  return Over(c, "ReduceSum", c.Cast(is_zero, DType::kI64));
}

Exported Count(ExportCall& c) { return CountNonzero(c, false); }
Exported Any(ExportCall& c) {
  return c.Node("Greater", {CountNonzero(c, false), c.Scalar(0, DType::kI64)});
}
Exported All(ExportCall& c) {
  return c.Node("Equal", {CountNonzero(c, true), c.Scalar(0, DType::kI64)});
}

Exported ArgMax(ExportCall& c) {
  const bool largest = c.op().type() == "argmax", keep = c.attributes().Bool("keep");
  const int64_t axis = c.Axis("axis", c.type(0).rank());
  const DType dtype = ComputeDType(c.type(0).dtype);
  if (dtype == DType::kI64) {
    // ONNX Runtime has no kernel of ArgMax for i64. Of equal elements both find the first.
    const std::string index =
        c.Nodes("TopK", {c.In(0, dtype), c.Ints({1})},
                {{"axis", axis}, {"largest", int64_t{largest}}, {"sorted", int64_t{1}}}, 2)[1];
    return keep ? index : c.Squeeze(index, {axis});
  }
  return c.Node(largest ? "ArgMax" : "ArgMin", {c.In(0, dtype)},
                {{"axis", axis}, {"keepdims", int64_t{keep}}});
}

llvm::Expected<std::string> VarianceOf(ExportCall& c, const std::string& x, DType dtype,
                                       llvm::ArrayRef<int64_t> axes, bool keep, int64_t ddof) {
  const std::string off = c.Node("Sub", {x, c.Reduce("ReduceMean", x, axes, true)});
  const std::string squares = c.Node("Mul", {off, off});
  if (ddof == 0) return c.Reduce("ReduceMean", squares, axes, keep);
  Dim count = 1;
  for (int64_t axis : axes) count = count * c.type(0).dims[static_cast<size_t>(axis)];
  // More delta degrees of freedom than elements divide by 0, as in NumPy.
  llvm::Expected<std::string> degrees = c.Number(Dim::Max(count - ddof, 0), dtype);
  if (!degrees) return degrees.takeError();
  return c.Node("Div", {c.Reduce("ReduceSum", squares, axes, keep), *degrees});
}

Exported Variance(ExportCall& c) {
  const DType dtype = WideDType(c.dtype());
  llvm::Expected<std::string> variance =
      VarianceOf(c, c.In(0, dtype), dtype, c.Axes("axes", c.type(0).rank()),
                 c.attributes().Bool("keep"), c.attributes().Int("ddof"));
  if (!variance) return variance.takeError();
  return c.Out(c.op().type() == "std" ? c.Node("Sqrt", {*variance}) : *variance, dtype);
}

Exported Moments(ExportCall& c) {
  const DType dtype = WideDType(c.dtype());
  const unsigned rank = c.type(0).rank();
  const std::vector<int64_t> kept = c.Axes("keep", rank);
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(kept, axis)) axes.push_back(axis);
  const std::string x = c.In(0, dtype);
  const std::string mean = c.Out(c.Reduce("ReduceMean", x, axes, false), dtype, 0);
  llvm::Expected<std::string> variance = VarianceOf(c, x, dtype, axes, false, 0);
  if (!variance) return variance.takeError();
  return std::vector<std::string>{mean, c.Out(*variance, dtype, 1)};
}

Exported CumSum(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const std::string axis = c.Integer(c.Axis("axis", c.type(0).rank()));
  return c.Out(c.Node("CumSum", {c.In(0, dtype), axis},
                      {{"exclusive", int64_t{c.attributes().Bool("exclusive")}},
                       {"reverse", int64_t{c.attributes().Bool("reverse")}}}),
               dtype);
}

constexpr ExportRule kReductionRules[] = {
    {"sum", Plain},         {"prod", Plain},   {"max", Plain},       {"min", Plain},
    {"mean", Mean},         {"norm", Plain},   {"logsumexp", Plain}, {"count_nonzero", Count},
    {"any", Any},           {"all", All},      {"argmax", ArgMax},   {"argmin", ArgMax},
    {"variance", Variance}, {"std", Variance}, {"moments", Moments}, {"cumsum", CumSum},
};

}  // namespace

llvm::ArrayRef<ExportRule> ReductionExportRules() { return kReductionRules; }

}  // namespace pdl
