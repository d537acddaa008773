// Export of calls without operands.
#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

Exported Literal(ExportCall& c) { return c.Constant(c.attributes().Tensor("value")); }

Exported Filled(ExportCall& c) {
  const llvm::StringRef op = c.op().type();
  llvm::Expected<std::string> sizes = c.Sizes(c.result().dims);
  if (!sizes) return sizes.takeError();
  const Constant scalar = op == "fill" ? c.attributes().Tensor("value")
                                       : Constant::Scalar(c.dtype(), op == "ones" ? 1 : 0);
  return c.Node("ConstantOfShape", {*sizes},
                {{"value", Constant::Copy(c.dtype(), {1}, scalar.data())}});
}

Exported Size(ExportCall& c) {
  llvm::Expected<std::string> size = c.Number(NumElements(c.attributes().Dims("dims")), c.dtype());
  if (!size) return size.takeError();
  return *size;
}

Exported Range(ExportCall& c) {
  const DType i64 = DType::kI64;
  llvm::Expected<std::string> start = c.Number(c.attributes().Dims("start")[0], i64);
  if (!start) return start.takeError();
  llvm::Expected<std::string> stop = c.Number(c.attributes().Dims("stop")[0], i64);
  if (!stop) return stop.takeError();
  return c.Out(c.Node("Range", {*start, *stop, c.Integer(c.attributes().Int("step"))}), i64);
}

Exported Linspace(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const double start = c.attributes().Float("start"), stop = c.attributes().Float("stop");
  const Dim& count = c.result().dims[0];
  llvm::Expected<std::string> number = c.Number(count, DType::kI64);
  if (!number) return number.takeError();
  llvm::Expected<std::string> steps = c.Number(Dim::Max(count - 1, 1), dtype);
  if (!steps) return steps.takeError();
  const std::string indices =
      c.Cast(c.Node("Range", {c.Scalar(0, DType::kI64), *number, c.Scalar(1, DType::kI64)}), dtype);
  const std::string part = c.Node("Div", {indices, *steps});
  const std::string way = c.Node("Mul", {part, c.Scalar(stop - start, dtype)});
  return c.Out(c.Node("Add", {way, c.Scalar(start, dtype)}), dtype);
}

constexpr ExportRule kConstantRules[] = {
    {"constant", Literal}, {"zeros", Filled}, {"ones", Filled},       {"fill", Filled},
    {"size", Size},        {"range", Range},  {"linspace", Linspace},
};

}  // namespace

llvm::ArrayRef<ExportRule> ConstantExportRules() { return kConstantRules; }

}  // namespace pdl
