#include "frontend/elaborate/call_emitter.h"

#include "frontend/elaborate/bodies.h"
#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/size_constraints.h"
#include "frontend/elaborate/sugar.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/attribute_reader.h"

namespace pdl {

namespace {

/// The input that the operand belongs to; null if the operator has no inputs.
const InputDecl* InputOf(const Call& call, size_t operand) {
  const OpSignature& signature = call.def->signature;
  if (signature.inputs.empty()) return nullptr;
  if (call.counts.empty()) return &signature.inputs[std::min(operand, signature.inputs.size() - 1)];
  size_t input = 0;
  for (; input + 1 < call.counts.size() && operand >= call.counts[input]; ++input)
    operand -= call.counts[input];
  return &signature.inputs[input];
}

bool HasOwnDType(const Call& call, size_t operand) {
  const InputDecl* input = InputOf(call, operand);
  return input != nullptr && input->own_dtype;
}

/// The dtype shared by the literals among the operands; nullopt if each has its natural dtype.
std::optional<DType> SharedDType(const Call& call) {
  // The dtype of the first tensor, except for a sparse bool, which only marks positions.
  for (size_t i = 0; i < call.operands.size(); ++i) {
    Value* tensor = call.operands[i].datum.tensor();
    if (tensor == nullptr || HasOwnDType(call, i)) continue;
    const Type& type = tensor->type();
    if (!type.is_sparse() || type.dtype != DType::kBool) return type.dtype;
  }
  // If there are only literals, a float among them makes all of them floats.
  bool has_int = false, has_float = false;
  for (size_t i = 0; call.operands.size() > 1 && i < call.operands.size(); ++i) {
    const Datum& datum = call.operands[i].datum;
    const bool is_empty = datum.list() != nullptr && datum.list()->empty();
    if (!datum.is_literal() || is_empty || HasOwnDType(call, i)) continue;
    const DType natural = NaturalDType(datum);
    has_int |= natural == DType::kI64;
    has_float |= natural == DType::kF32;
  }
  return has_int && has_float ? std::optional(DType::kF32) : std::nullopt;
}

/// The dtype of a literal or a size passed to `input`.
std::optional<DType> DTypeFor(const Datum& datum, const InputDecl* input,
                              std::optional<DType> shared) {
  if (shared && (input == nullptr || !input->own_dtype)) return shared;
  const bool is_size = datum.is<Dim>();
  if (!is_size && !datum.is_literal()) return std::nullopt;
  const DType dtype = is_size ? DType::kI64 : NaturalDType(datum);
  const bool is_float_only = input != nullptr && dtype == DType::kI64 &&
                             !input->dtypes.Contains(dtype) && input->dtypes.Contains(DType::kF32);
  return is_float_only ? DType::kF32 : dtype;
}

}  // namespace

bool CallEmitter::MakeTensors(Call& call, llvm::SmallVectorImpl<Value*>* operands) {
  const std::optional<DType> shared = SharedDType(call);
  bool ok = true;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    Operand& operand = call.operands[i];
    Value* tensor = operand.datum.tensor();
    if (tensor == nullptr) {
      tensor = literals_.AsTensor(operand.datum, operand.range,
                                  DTypeFor(operand.datum, InputOf(call, i), shared), {});
      ok &= tensor != nullptr;
      if (tensor != nullptr) operand.datum = Datum(tensor);
    }
    operands->push_back(tensor);
  }
  return ok;
}

CallOptions CallEmitter::OptionsAt(SourceRange place, BlockId block) {
  CallOptions options;
  options.location = at_.AddLocation(graph_, place.begin);
  options.block = block.index == 0 && at_.body != nullptr ? at_.body->block : block;
  if (!at_.frame->path.empty())
    options.layer_path = llvm::StringRef(at_.frame->path).drop_back().str();
  return options;
}

Op* CallEmitter::Emit(Call& call, Targets targets) {
  if (call.is_poison) return nullptr;
  if (call.def == nullptr) {
    report_.Error(Code::kUnknownOperator, call.place,
                  "this program has no operator for this symbol");
    return nullptr;
  }
  const OpSignature& signature = call.def->signature;
  llvm::SmallVector<Value*, 4> operands;
  if (!MakeTensors(call, &operands) || !budget_.SpendCalls(1, call.place)) return nullptr;
  if (call.body != nullptr && !bodies_.ElaborateBody(call, operands, targets)) return nullptr;
  for (Value*& operand : operands) operand = bodies_.InBody(operand);
  CallOptions options = OptionsAt(call.place, call.block);
  options.recompute = at_.frame->recompute;
  if (call.location) options.location = *call.location;
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(signature, call.attributes);
  if (!values) {
    report_.ReportCallError(values.takeError(), call);
    return nullptr;
  }
  const auto names = ResultNames(signature, signature.NumResults(*values), targets);
  llvm::Expected<Op*> op =
      graph_.AddOpWithValues(*call.def, operands, std::move(*values), names, std::move(options));
  if (op && at_.observer != nullptr) at_.observer->OnCall(at_, call.place, **op);
  if (op) return CheckNonempty(**op, call) ? *op : nullptr;
  report_.ReportCallError(op.takeError(), call);
  return nullptr;
}

bool CallEmitter::CheckNonempty(const Op& op, const Call& call) {
  for (const DimCheck& check : op.checks()) {
    const std::optional<std::string> note = constraints_.NoteIfOnlyEmpty(check);
    if (!note) continue;
    const bool is_bound = check.relation == DimCheck::Relation::kAtLeast;
    auto error = std::make_unique<CallError>(
        Code::kShapeMismatch, check.message + ": " + check.left.ToString() +
                                  (is_bound ? " is less than " : " and ") + check.right.ToString());
    for (unsigned i = 0; i < call.operands.size(); ++i) error->inputs.push_back(i);
    report_.ReportCallError(llvm::Error(std::move(error)), call, *note);
    return false;
  }
  return true;
}

llvm::SmallVector<std::string, 1> CallEmitter::ResultNames(const OpSignature& signature,
                                                           size_t num_results, Targets targets) {
  llvm::SmallVector<std::string, 1> names;
  const std::string& base = at_.frame->base;
  for (size_t i = 0; i < num_results; ++i) {
    if (i < targets.size() && targets[i] != "_") {
      const std::string& target = targets[i];
      names.push_back(graph_.FindValue(target) == nullptr ? target : graph_.NewName(target));
    } else if (i == 0 && targets.empty()) {
      names.push_back(graph_.NewName(
          at_.frame->FullName(base.empty() ? signature.name : base + "_" + signature.name)));
    } else {
      std::string name = at_.frame->FullName((base.empty() ? signature.name : base) + "_" +
                                             signature.output(i).name);
      // All results of a repeated output have the same name.
      if (llvm::is_contained(names, name)) name += "_" + std::to_string(i + 1);
      names.push_back(graph_.NewName(name));
    }
  }
  return names;
}

CallResults CallEmitter::ResultsOf(Op* op) {
  CallResults results;
  if (op == nullptr) return results;
  const OpSignature& signature = op->def().signature;
  for (size_t i = 0; i < op->results().size(); ++i) {
    results.all.push_back({signature.output(i).name, Datum(op->results()[i]), {}});
  }
  return results;
}

Value* CallEmitter::EmitSize(const Dim& size, SourceRange range, DType dtype, Targets targets) {
  Call call;
  call.def = callees_.FindOperator(sugar::kSize);
  call.place = range;
  if (call.def != nullptr) {
    for (const AttributeDecl& decl : call.def->signature.attributes) {
      if (decl.kind == AttributeKind::kShape) call.attributes.push_back({decl.name, Shape{size}});
      if (decl.kind == AttributeKind::kDType) call.attributes.push_back({decl.name, dtype});
    }
  }
  call.places.resize(call.attributes.size(), {{}, range, nullptr, {}});
  Op* op = Emit(call, targets);
  return op == nullptr ? nullptr : op->result();
}

Value* CallEmitter::EmitConstant(Constant constant, SourceRange range, Targets targets) {
  if (!budget_.SpendCalls(1, range)) return nullptr;
  Call call;
  call.def = callees_.FindOperator(sugar::kConstant);
  call.place = range;
  if (call.def == nullptr) {
    Emit(call, targets);
    return nullptr;
  }
  const OpSignature& signature = call.def->signature;
  const AttributeDecl& decl = signature.attributes[signature.PositionalAttribute()];
  if (!decl.dtype_from.empty()) {
    call.attributes.push_back({decl.dtype_from, constant.dtype()});
    call.places.push_back({{}, range, nullptr, {}});
  }
  call.attributes.push_back({decl.name, std::move(constant)});
  call.places.push_back({{}, range, nullptr, {}});
  CallOptions options = OptionsAt(range, {});
  llvm::SmallVector<std::string, 1> names;
  if (!targets.empty()) {
    names = ResultNames(signature, 1, targets);
  } else {
    names.push_back(graph_.NewName(
        at_.frame->FullName(at_.frame->base.empty() ? "c" : at_.frame->base + "_c")));
  }
  llvm::Expected<Op*> op = graph_.AddOp(*call.def, {}, call.attributes, names, std::move(options));
  if (op) return (*op)->result();
  report_.ReportCallError(op.takeError(), call);
  return nullptr;
}

}  // namespace pdl
