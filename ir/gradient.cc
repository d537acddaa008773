#include "pdl/op/gradient.h"

#include <stdexcept>

#include "ir/error_text.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/op/error.h"

namespace pdl {

GradientContext::GradientContext(Graph& graph, const OpRegistry& registry, const Op& op,
                                 llvm::ArrayRef<Value*> output_gradients, Source* source)
    : graph_(&graph),
      registry_(&registry),
      op_(&op),
      source_(source),
      output_gradients_(output_gradients.begin(), output_gradients.end()),
      input_gradients_(op.operands().size(), nullptr) {}

Value* GradientContext::Call(llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                             llvm::ArrayRef<NamedAttribute> attributes) {
  if (!error_.empty()) return nullptr;
  for (Value* operand : operands)
    if (!operand) return nullptr;
  const OpDef* def = registry_->Find(name);
  if (!def) {
    error_ = "no operator is called '" + name.str() + "'";
    return nullptr;
  }
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(def->signature, attributes);
  if (!values) {
    error_ = name.str() + ": " + llvm::toString(values.takeError());
    return nullptr;
  }
  llvm::SmallVector<std::string, 1> names;
  for (size_t i = 0; i < def->signature.NumResults(*values); ++i) {
    const std::string base = "d_" + op_->result()->name();
    names.push_back(graph_->NewName(i == 0 ? base : base + "." + std::to_string(i)));
  }
  CallOptions options;
  options.location = op_->location();
  options.block = op_->block();
  options.layer_path = op_->layer_path();
  llvm::Expected<Op*> call =
      graph_->AddOpWithValues(*def, operands, std::move(*values), names, std::move(options));
  if (!call) {
    error_ = name.str() + ": " + llvm::toString(call.takeError());
    return nullptr;
  }
  return (*call)->result();
}

Value* GradientContext::Scalar(double value, Value* like) {
  if (!like) return nullptr;
  DType dtype = like->type().dtype;
  return Call("constant", {}, {{"value", Constant::Scalar(dtype, value)}, {"dtype", dtype}});
}

Value* GradientContext::SumTo(Value* gradient, Value* to) {
  if (!gradient || !to) return nullptr;
  const Shape& from_dims = gradient->type().dims;
  const Shape& to_dims = to->type().dims;
  if (from_dims == to_dims) return gradient;
  // Dims that broadcasting added in front, and those that it expanded from a literal 1.
  std::vector<int64_t> axes;
  size_t added = from_dims.size() - to_dims.size();
  for (size_t axis = 0; axis < from_dims.size(); ++axis)
    if (axis < added || (to_dims[axis - added].is_constant(1) && !from_dims[axis].is_constant(1)))
      axes.push_back(static_cast<int64_t>(axis));
  Value* sum = axes.empty() ? gradient : Call("sum", {gradient}, {{"axes", axes}, {"keep", false}});
  if (!sum || sum->type().dims == to_dims) return sum;
  return Call("reshape", {sum}, {{"dims", to_dims}});
}

void GradientContext::SetInputGradient(unsigned index, Value* gradient) {
  input_gradients_[Checked(index, input_gradients_.size(), "operand")] = gradient;
}

void GradientContext::ThrowNo(const char* what, unsigned index, size_t count) {
  throw std::out_of_range(llvm::formatv("it uses {0} {1} of {2}", what, index, count).str());
}

llvm::Expected<Value*> GradientContext::FitGradient(unsigned index) {
  Value* gradient = input_gradients_[index];
  if (gradient == nullptr) return nullptr;
  const Type& expected = op_->operands()[index]->type();
  const Type& found = gradient->type();
  if (found.dtype == expected.dtype && found.dims == expected.dims) return gradient;
  auto may_differ = [](const Dim& a, const Dim& b) {
    return a.is_constant() && b.is_constant() && a != b;
  };
  bool fits = found.dtype == expected.dtype && found.rank() == expected.rank();
  for (unsigned axis = 0; fits && axis < expected.rank(); ++axis)
    fits = !may_differ(found.dims[axis], expected.dims[axis]);
  if (fits) {
    gradient = Call("reshape", {gradient}, {{"dims", expected.dims}});
    if (llvm::Error error = TakeError()) return error;
    return gradient;
  }
  return MakeUserError(Code::kBadGradient,
                       "gradient of '{0}': the gradient of operand {1} is {2}, the operand {3}",
                       op_->type(), index, found.ToString(), expected.ToString());
}

llvm::Error GradientContext::TakeError() {
  if (error_.empty()) return llvm::Error::success();
  std::string text = std::move(error_);
  error_.clear();
  return MakeUserError(Code::kBadGradient, "gradient of '{0}': {1}", op_->type(),
                       WithoutCodes(std::move(text)));
}

}  // namespace pdl
