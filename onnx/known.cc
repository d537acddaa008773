#include "onnx/known.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "pdl/operator.h"

namespace pdl {
namespace {

bool HasStaticDims(const Type& type) {
  return llvm::all_of(type.dims, [](const Dim& dim) { return dim.is_constant(); });
}

Sizes StaticSizes(const Type& type) {
  Sizes sizes;
  for (const Dim& dim : type.dims) sizes.push_back(dim.constant());
  return sizes;
}

/// Whether attributes name sizes that have no number yet, or a block.
bool HasOpenAttributes(const Op& op) {
  return llvm::any_of(op.attribute_values(), [](const AttributeValue& value) {
    if (const auto* shape = std::get_if<Shape>(&value))
      return llvm::any_of(*shape, [](const Dim& dim) { return !dim.is_constant(); });
    return std::holds_alternative<BlockId>(value) ||
           std::holds_alternative<std::vector<Shape>>(value);
  });
}

/// The results of a call of known operands; nullopt where it cannot be run by itself.
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
    return HasStaticDims(type) && count.is_constant() &&
           count.constant() <= KnownValues::kMaxElements;
  });
}

/// How many elements a call reads and gives, or a measure of its time where that is more.
int64_t WorkOf(const Op& op, llvm::ArrayRef<Tensor> operands) {
  int64_t read = 0, given = 0;
  for (const Tensor& operand : operands) read += operand.num_elements();
  for (const Value* result : op.results()) given += NumElements(result->type().dims).constant();
  // Products and the like may read all for each element that they give.
  constexpr int64_t kProductsAtOnce = 1024;
  const bool is_product = operands.size() > 1 && !op.def().properties().elementwise;
  return read + given + (is_product ? read * given / kProductsAtOnce : 0);
}

/// Calls that put elements elsewhere and compute nothing.
bool IsMove(llvm::StringRef type) {
  return llvm::StringSwitch<bool>(type)
      .Cases("reshape", "flatten", "squeeze", "unsqueeze", "transpose", "broadcast_to", true)
      .Cases("concat", "stack", "slice", "gather", "flip", "tile", "split", "where", true)
      .Cases("gather_nd", "take_along_axis", "stop_gradient", "write", true)
      .Default(false);
}

/// What a call that reduces makes of two sizes; null where it is no such call.
Dim (*Reduction(llvm::StringRef type))(const Dim&, const Dim&) {
  using Combine = Dim (*)(const Dim&, const Dim&);
  return llvm::StringSwitch<Combine>(type)
      .Case("sum", [](const Dim& a, const Dim& b) { return a + b; })
      .Case("prod", [](const Dim& a, const Dim& b) { return a * b; })
      .Case("min", [](const Dim& a, const Dim& b) { return Dim::Min(a, b); })
      .Case("max", [](const Dim& a, const Dim& b) { return Dim::Max(a, b); })
      .Default(nullptr);
}

/// What an integer call makes of two sizes; nullopt where that is not known of all symbols.
std::optional<Dim> Compute(llvm::StringRef type, const Dim& a, const Dim& b) {
  auto decide = [](bool yes, bool no) {
    return yes ? std::optional<Dim>(1) : no ? std::optional<Dim>(0) : std::nullopt;
  };
  const Dim difference = a - b;
  if (type == "add") return a + b;
  if (type == "sub") return difference;
  if (type == "mul") return a * b;
  if (type == "floor_div") return Dim::FloorDiv(a, b);
  if (type == "mod") return Dim::Mod(a, b);
  if (type == "minimum") return Dim::Min(a, b);
  if (type == "maximum") return Dim::Max(a, b);
  // A size that has a symbol is no sign that was put in its place.
  const bool equal = a == b;
  const bool unequal = difference.ProvablyAtLeast(1) || difference.ProvablyAtMost(-1);
  if (type == "equal") return decide(equal, unequal);
  if (type == "not_equal") return decide(unequal, equal);
  if (type == "less") return decide(difference.ProvablyAtMost(-1), difference.ProvablyAtLeast(0));
  if (type == "greater") return decide(difference.ProvablyAtLeast(1), difference.ProvablyAtMost(0));
  if (type == "less_equal")
    return decide(difference.ProvablyAtMost(0), difference.ProvablyAtLeast(1));
  if (type == "greater_equal")
    return decide(difference.ProvablyAtLeast(0), difference.ProvablyAtMost(-1));
  return std::nullopt;
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
  // Sizes that no call may have show when it runs, and not before.
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

// The call is run on the places of a list of all sizes that its operands have.
bool KnownValues::VisitMove(const Op& op) {
  if (!IsMove(op.type()) || !CanRun(op)) return false;
  const DType dtype = op.result()->type().dtype;
  if (!IsInteger(dtype)) return false;
  std::vector<Dim> all = {0};  // what gather gives for a place outside
  std::vector<Tensor> operands;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    const Value* operand = op.operands()[i];
    const bool is_index = (op.type() == "where" && i == 0) || (op.type() == "write" && i == 2) ||
                          (i == 1 && (op.type() == "gather" || op.type() == "gather_nd" ||
                                      op.type() == "take_along_axis"));
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
  if (op.results().size() != 1) return false;
  const Type& type = op.result()->type();
  if (!HasStaticDims(type) || (!IsInteger(type.dtype) && type.dtype != DType::kBool)) return false;
  llvm::SmallVector<KnownSizes, 2> operands;
  for (const Value* operand : op.operands()) {
    std::optional<KnownSizes> known = FindSizes(operand);
    if (!known) return false;
    operands.push_back(std::move(*known));
  }
  KnownSizes result;
  result.sizes = StaticSizes(type);
  const Dim count = NumElements(type.dims);
  if (!count.is_constant() || count.constant() > kMaxElements) return false;
  if (operands.size() == 1 && (op.type() == "cast" || op.type() == "neg")) {
    if (type.dtype == DType::kBool) return false;
    for (const Dim& element : operands[0].elements)
      result.elements.push_back(op.type() == "cast" ? element : Dim(0) - element);
  } else if (const auto over = Reduction(op.type()); over && operands.size() == 1) {
    // Over all elements only.
    std::vector<Dim> elements = operands[0].elements;
    if (elements.empty() && (op.type() == "sum" || op.type() == "prod"))
      elements.emplace_back(op.type() == "sum" ? 0 : 1);
    if (count.constant() != 1 || elements.empty()) return false;
    Dim total = elements[0];
    for (const Dim& element : llvm::drop_begin(elements)) total = over(total, element);
    result.elements.push_back(total);
  } else if (operands.size() == 2) {
    // Of broadcasting only that of one element, which is all that sizes need.
    const int64_t n = count.constant();
    for (const KnownSizes& operand : operands) {
      const auto size = static_cast<int64_t>(operand.elements.size());
      if (size != n && size != 1) return false;
    }
    for (int64_t i = 0; i < n; ++i) {
      auto at = [&](const KnownSizes& x) {
        return x.elements[x.elements.size() == 1 ? 0 : static_cast<size_t>(i)];
      };
      std::optional<Dim> value = Compute(op.type(), at(operands[0]), at(operands[1]));
      if (!value || !value->is_valid()) return false;
      result.elements.push_back(*value);
    }
  } else {
    return false;
  }
  if (!llvm::all_of(result.elements, [](const Dim& dim) { return dim.is_valid(); })) return false;
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
