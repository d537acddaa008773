#include "onnx/import/static_values.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

Sizes StaticSizes(const Type& type) {
  Sizes sizes;
  for (const Dim& dim : type.dims) sizes.push_back(dim.constant());
  return sizes;
}

/// Whether attributes contain symbolic sizes or a block.
bool HasOpenAttributes(const Op& op) {
  return llvm::any_of(op.attribute_values(), [](const AttributeValue& value) {
    if (const auto* shape = std::get_if<Shape>(&value))
      return llvm::any_of(*shape, [](const Dim& dim) { return !dim.is_constant(); });
    return std::holds_alternative<BlockId>(value) ||
           std::holds_alternative<std::vector<Shape>>(value);
  });
}

/// Runs a call with known operands; nullopt if its operator cannot be run separately.
std::optional<std::vector<Tensor>> Run(const Op& op, llvm::ArrayRef<Tensor> operands) {
  OperatorArguments arguments;
  arguments.def = &op.def();
  arguments.attributes = op.attribute_values().vec();
  Scope scope;
  for (const Tensor& operand : operands) {
    arguments.inputs.push_back("in" + std::to_string(arguments.inputs.size()));
    arguments.input_dtypes.push_back(operand.dtype());
    scope.Create(arguments.inputs.back())->Set(operand);
  }
  for (const Value* result : op.results()) {
    arguments.outputs.push_back(result->name());
    arguments.output_dtypes.push_back(result->type().dtype);
  }
  auto created = CreateOperator(arguments, DeviceKind::kCPU);
  if (!created) {
    llvm::consumeError(created.takeError());
    return std::nullopt;
  }
  CPUContext context;
  if (llvm::Error error = (*created)->Run(&scope, &context)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  std::vector<Tensor> results;
  for (const std::string& name : arguments.outputs)
    results.push_back(*scope.Find(name)->Get<Tensor>());
  return results;
}

bool CanRun(const Op& op) {
  const OpDef& def = op.def();
  if (def.properties().random || def.properties().has_side_effect ||
      def.properties().is_training_flag || def.properties().is_plan_select ||
      def.properties().defines_size || def.kernel(DeviceKind::kCPU) == nullptr ||
      HasOpenAttributes(op))
    return false;
  return llvm::all_of(op.results(), [](const Value* result) {
    const Type& type = result->type();
    const Dim count = NumElements(type.dims);
    return type.has_constant_dims() && count.is_constant() &&
           count.constant() <= KnownValues::kMaxElements;
  });
}

/// The number of elements that a call reads and writes, or an estimate of its time if that is
/// larger.
int64_t WorkOf(const Op& op, llvm::ArrayRef<Tensor> operands) {
  int64_t read = 0, given = 0;
  for (const Tensor& operand : operands) read += operand.num_elements();
  for (const Value* result : op.results()) given += NumElements(result->type().dims).constant();
  // Matmuls and similar operators may read all elements for each one that they compute.
  constexpr int64_t kProductsAtOnce = 1024;
  const bool is_product = operands.size() > 1 && !op.def().properties().elementwise;
  return read + given + (is_product ? read * given / kProductsAtOnce : 0);
}

}  // namespace

void KnownValues::SetConstant(const Value* value, Constant constant) {
  constants_[value] = std::move(constant);
}

void KnownValues::SetSizes(const Value* value, KnownSizes sizes) {
  sizes_[value] = std::move(sizes);
}

const Constant* KnownValues::FindConstant(const Value* value) const {
  auto found = constants_.find(value);
  return found == constants_.end() ? nullptr : &found->second;
}

bool KnownValues::Spend(int64_t elements) const {
  if (elements <= kFewElements) return true;
  spent_ += std::min(elements, kMaxTotal);
  return spent_ <= kMaxTotal;
}

std::optional<KnownSizes> KnownValues::FindSizes(const Value* value) const {
  if (auto found = sizes_.find(value); found != sizes_.end()) {
    if (!Spend(static_cast<int64_t>(found->second.elements.size()))) return std::nullopt;
    return found->second;
  }
  const Constant* constant = FindConstant(value);
  if (constant == nullptr || constant->num_elements() > kMaxElements ||
      !Spend(constant->num_elements()))
    return std::nullopt;
  KnownSizes known;
  known.sizes.assign(constant->sizes().begin(), constant->sizes().end());
  for (int64_t i = 0; i < constant->num_elements(); ++i) {
    switch (constant->dtype()) {
      case DType::kI64:
        known.elements.emplace_back(constant->values<int64_t>()[static_cast<size_t>(i)]);
        break;
      case DType::kI32:
      case DType::kI16:
      case DType::kI8:
      case DType::kU8:
      case DType::kU16:
      case DType::kU32:
      case DType::kBool:
        known.elements.emplace_back(static_cast<int64_t>(constant->ElementAsDouble(i)));
        break;
      default:
        return std::nullopt;
    }
  }
  return known;
}

bool KnownValues::VisitConstants(const Op& op) {
  llvm::SmallVector<Tensor, 2> operands;
  for (const Value* operand : op.operands()) {
    const Constant* constant = FindConstant(operand);
    if (constant == nullptr) return false;
    operands.push_back(Tensor::FromConstant(*constant));
  }
  if (!CanRun(op) || !Spend(WorkOf(op, operands))) return false;
  std::optional<std::vector<Tensor>> results = Run(op, operands);
  if (!results) return false;
  // Invalid sizes are found when the call runs, not before.
  for (size_t i = 0; i < results->size(); ++i) {
    const Type& type = op.results()[i]->type();
    if ((*results)[i].dtype() != type.dtype ||
        (*results)[i].sizes() != llvm::ArrayRef<int64_t>(StaticSizes(type))) {
      return false;
    }
  }
  for (size_t i = 0; i < results->size(); ++i)
    SetConstant(op.results()[i], (*results)[i].ToConstant());
  return true;
}

// Runs the call on indices into a list of all sizes in its operands.
bool KnownValues::VisitMove(const Op& op) {
  if (!op.def().properties().moves_elements || !CanRun(op)) return false;
  const DType dtype = op.result()->type().dtype;
  if (!IsInteger(dtype)) return false;
  std::vector<Dim> all = {0};  // the result of gather for an index outside
  std::vector<Tensor> operands;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const Value* operand = op.operands()[i];
    const bool is_index = op.def().signature.InputOf(i, op.attribute_values()).is_selector;
    const std::optional<KnownSizes> known = FindSizes(operand);
    if (!known) return false;
    std::vector<int64_t> values;
    for (const Dim& element : known->elements) {
      if (is_index && !element.is_constant()) return false;
      values.push_back(is_index ? element.constant() : static_cast<int64_t>(all.size()));
      if (!is_index) all.push_back(element);
    }
    if (operand->type().dtype == DType::kBool) {
      const llvm::SmallVector<bool, 16> flags(values.begin(), values.end());
      operands.push_back(Tensor::FromValues<bool>(DType::kBool, known->sizes, flags));
    } else if (dtype == DType::kI32 || operand->type().dtype == DType::kI32) {
      const llvm::SmallVector<int32_t, 16> narrow(values.begin(), values.end());
      operands.push_back(Tensor::FromValues<int32_t>(DType::kI32, known->sizes, narrow));
    } else if (operand->type().dtype == DType::kI64) {
      operands.push_back(Tensor::FromValues<int64_t>(DType::kI64, known->sizes, values));
    } else {
      return false;
    }
    if (operands.back().dtype() != operand->type().dtype) return false;
  }
  if (!Spend(NumElements(op.result()->type().dims).constant())) return false;
  std::optional<std::vector<Tensor>> results = Run(op, operands);
  if (!results) return false;
  for (size_t r = 0; r < results->size(); ++r) {
    const Tensor& places = (*results)[r];
    KnownSizes known;
    known.sizes = Sizes(places.sizes());
    for (int64_t i = 0; i < places.num_elements(); ++i) {
      const int64_t place =
          dtype == DType::kI32 ? places.data<int32_t>()[i] : places.data<int64_t>()[i];
      known.elements.push_back(all[static_cast<size_t>(place)]);
    }
    SetSizes(op.results()[r], std::move(known));
  }
  return true;
}

bool KnownValues::VisitArithmetic(const Op& op) {
  const SizeArithmetic compute = op.def().properties().size_arithmetic;
  if (compute == nullptr || op.results().size() != 1) return false;
  const Type& type = op.result()->type();
  if (!type.has_constant_dims() || (!IsInteger(type.dtype) && type.dtype != DType::kBool))
    return false;
  llvm::SmallVector<KnownSizes, 2> operands;
  for (const Value* operand : op.operands()) {
    std::optional<KnownSizes> known = FindSizes(operand);
    if (!known) return false;
    operands.push_back(std::move(*known));
  }
  const Dim count = NumElements(type.dims);
  if (!count.is_constant() || count.constant() > kMaxElements) return false;
  KnownSizes result;
  result.sizes = StaticSizes(type);
  const auto add = [&](llvm::ArrayRef<Dim> elements) {
    const std::optional<Dim> value = compute(op, elements);
    if (value) result.elements.push_back(*value);
    return value && value->is_valid();
  };
  if (!op.def().properties().elementwise) {
    // Only reductions over all elements.
    if (operands.size() != 1 || count.constant() != 1 || !add(operands[0].elements)) return false;
    SetSizes(op.result(), std::move(result));
    return true;
  }
  // Only scalars are broadcast, which is sufficient for sizes.
  const int64_t n = count.constant();
  for (const KnownSizes& operand : operands) {
    const auto size = static_cast<int64_t>(operand.elements.size());
    if (size != n && size != 1) return false;
  }
  for (int64_t i = 0; i < n; ++i) {
    llvm::SmallVector<Dim, 2> elements;
    for (const KnownSizes& operand : operands)
      elements.push_back(
          operand.elements[operand.elements.size() == 1 ? 0 : static_cast<size_t>(i)]);
    if (!add(elements)) return false;
  }
  SetSizes(op.result(), std::move(result));
  return true;
}

void KnownValues::Visit(const Op& op) {
  if (op.results().empty()) return;
  if (VisitConstants(op)) return;
  if (op.operands().empty()) return;
  if (!VisitMove(op)) VisitArithmetic(op);
}

}  // namespace pdl
