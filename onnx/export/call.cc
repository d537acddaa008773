#include "onnx/export/call.h"

#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"

namespace pdl {

DType ComputeDType(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return DType::kF32;
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16:
    case DType::kBool:
      return DType::kI32;
    case DType::kU32:
      return DType::kI64;
    default:
      return dtype;
  }
}

DType RepeatedDType(DType dtype) { return dtype == DType::kBF16 ? DType::kF32 : dtype; }

DType WideDType(DType dtype) { return dtype == DType::kF16 ? DType::kF32 : ComputeDType(dtype); }

int64_t ExportCall::Axis(llvm::StringRef name, unsigned rank) const {
  const int64_t axis = attributes_.Int(name);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> ExportCall::Axes(llvm::StringRef name, unsigned rank) const {
  std::vector<int64_t> axes;
  if (!attributes_.Has(name)) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  for (int64_t axis : attributes_.Ints(name)) axes.push_back(axis < 0 ? axis + rank : axis);
  return axes;
}

std::optional<unsigned> ExportCall::Find(llvm::StringRef name) const {
  const int index = op_.def().signature.FindInput(name);
  if (index < 0 || static_cast<size_t>(index) >= op_.operands().size()) return std::nullopt;
  return static_cast<unsigned>(index);
}

std::string ExportCall::In(unsigned input, DType dtype) {
  const std::string name = In(input);
  return type(input).dtype == dtype ? name : Cast(name, dtype);
}

std::string ExportCall::Out(std::string name, DType from, unsigned index) {
  return result(index).dtype == from ? name : Cast(name, result(index).dtype);
}

std::string ExportCall::Node(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                             llvm::ArrayRef<OnnxAttribute> attributes) {
  return exporter_.AddNode(type, inputs, attributes, 1).front();
}

std::vector<std::string> ExportCall::Nodes(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                                           llvm::ArrayRef<OnnxAttribute> attributes,
                                           unsigned outputs) {
  return exporter_.AddNode(type, inputs, attributes, outputs);
}

std::string ExportCall::Cast(const std::string& name, DType to) {
  return Node("Cast", {name}, {{"to", int64_t{DTypeToOnnx(to)}}});
}

std::string ExportCall::Scalar(double value, DType dtype) {
  return exporter_.AddConstant(pdl::Constant::Scalar(dtype, value));
}

std::string ExportCall::Zeros(DType dtype, const std::string& sizes) {
  const DType repeated = RepeatedDType(dtype);
  const std::string zeros = Node("Expand", {Scalar(0, repeated), sizes});
  return repeated == dtype ? zeros : Cast(zeros, dtype);
}

llvm::Expected<std::string> ExportCall::Number(const Dim& dim, DType dtype) {
  if (dim.is_constant() && dtype != DType::kI64)
    return Scalar(static_cast<double>(dim.constant()), dtype);
  llvm::Expected<std::string> size = Size(dim);
  if (!size) return size.takeError();
  const std::string scalar = Squeeze(*size, {0});
  return dtype == DType::kI64 ? scalar : Cast(scalar, dtype);
}

llvm::Expected<std::string> ExportCall::Reshape(const std::string& name, llvm::ArrayRef<Dim> from,
                                                llvm::ArrayRef<Dim> to) {
  // One unknown size can be inferred, as long as none of the others can be 0.
  std::vector<int64_t> sizes;
  unsigned unknown = 0;
  bool has_zero = false;
  for (const Dim& dim : to) {
    sizes.push_back(dim.is_constant() ? dim.constant() : -1);
    unknown += dim.is_constant() ? 0 : 1;
    has_zero |= dim.is_constant(0);
  }
  if (llvm::equal(from, to)) return name;
  if (unknown <= 1 && !has_zero) return Node("Reshape", {name, Ints(sizes)});
  llvm::Expected<std::string> shape = Sizes(to);
  if (!shape) return shape.takeError();
  return Node("Reshape", {name, *shape}, {{"allowzero", int64_t{1}}});
}

std::string ExportCall::Where(const std::string& condition, const std::string& x,
                              const std::string& y, DType dtype) {
  // Where of ONNX Runtime supports neither bool nor bf16 nor all integers.
  const DType computed = dtype == DType::kBool ? DType::kU8 : ComputeDType(dtype);
  if (computed == dtype) return Node("Where", {condition, x, y});
  return Cast(Node("Where", {condition, Cast(x, computed), Cast(y, computed)}), dtype);
}

std::string ExportCall::Transpose(const std::string& name, llvm::ArrayRef<int64_t> perm) {
  bool is_same = true;
  for (size_t i = 0; i < perm.size(); ++i) is_same &= perm[i] == static_cast<int64_t>(i);
  return is_same ? name : Node("Transpose", {name}, {{"perm", perm.vec()}});
}

std::string ExportCall::Unsqueeze(const std::string& name, llvm::ArrayRef<int64_t> axes) {
  return axes.empty() ? name : Node("Unsqueeze", {name, Ints(axes)});
}

std::string ExportCall::Squeeze(const std::string& name, llvm::ArrayRef<int64_t> axes) {
  return axes.empty() ? name : Node("Squeeze", {name, Ints(axes)});
}

std::string ExportCall::Reduce(llvm::StringRef type, const std::string& name,
                               llvm::ArrayRef<int64_t> axes, bool keep) {
  // Without axes ONNX would reduce all of them.
  return Node(type, {name, Ints(axes)},
              {{"keepdims", int64_t{keep}}, {"noop_with_empty_axes", int64_t{1}}});
}

llvm::Expected<std::vector<int64_t>> ExportCall::Fixed(llvm::ArrayRef<Dim> dims,
                                                       llvm::StringRef what) const {
  std::vector<int64_t> sizes;
  for (const Dim& dim : dims) {
    if (!dim.is_constant()) return Reject(what + " must be known at export");
    sizes.push_back(dim.constant());
  }
  return sizes;
}

llvm::Error ExportCall::Reject(const llvm::Twine& reason) const {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), reason);
}

const ExportRule* FindExportRule(const OpDef& def) {
  static const auto& rules = *[] {
    auto* map = new llvm::StringMap<const ExportRule*>;
    for (llvm::ArrayRef<ExportRule> family :
         {ElementwiseExportRules(), ActivationExportRules(), IntegerExportRules(),
          ReductionExportRules(), ShapeExportRules(), ConstantExportRules(), IndexExportRules(),
          ProductExportRules(), WindowExportRules(), PoolExportRules(), NormalizationExportRules(),
          LossExportRules(), LoopExportRules()})
      for (const ExportRule& rule : family) (*map)[rule.op] = &rule;
    return map;
  }();
  if (const ExportRule* rule = rules.lookup(def.name())) return rule;
  return def.properties().onnx_name.empty() ? nullptr : &SameNameExportRule();
}

}  // namespace pdl
