#include "frontend/elaborate/training_values.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/sugar.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

namespace {

/// The source for a value without names of this file; nullopt for a function.
std::optional<std::string> TextOf(const Datum& datum) {
  if (datum.tensor() != nullptr) return datum.tensor()->name();
  if (const auto* number = datum.get<int64_t>()) return std::to_string(*number);
  if (const auto* real = datum.get<Datum::Real>()) return FloatToString(real->value);
  if (const auto* truth = datum.get<bool>()) return *truth ? "true" : "false";
  if (datum.list() == nullptr) return std::nullopt;
  std::vector<std::string> items;
  for (const Datum& item : *datum.list()) {
    std::optional<std::string> text = TextOf(item);
    if (!text) return std::nullopt;
    items.push_back(std::move(*text));
  }
  return "[" + llvm::join(items, ", ") + "]";
}

}  // namespace

Datum TrainingValues::EvaluateTraining(SourceRange range) {
  for (const TextFrame* frame = at_.frame; frame != nullptr; frame = frame->caller)
    if (frame->training_off) return Datum(false);
  if (training_.training == nullptr) {
    Call call;
    call.def = callees_.FindOperator(sugar::kTraining);
    call.place = range;
    Op* op = emitter_.Emit(call, graph_.NewName(sugar::kTraining));
    if (op == nullptr) return Datum();
    training_.training = op->result();
  }
  return Datum(training_.training);
}

Datum TrainingValues::EvaluateStep() {
  if (training_.step == nullptr && at_.optimizer != nullptr && !request_.training_step) {
    // Only for checking: the optimizer is discarded afterwards.
    return Datum(emitter_.EmitConstant(Constant::Scalar(DType::kI64, 0), {}, {}));
  }
  if (training_.step == nullptr) {
    Call call;
    call.def = callees_.FindOperator(sugar::kFirstStep);
    if (call.def == nullptr) return Datum();
    for (const AttributeDecl& decl : call.def->signature.attributes) {
      if (decl.kind == AttributeKind::kShape) call.attributes.push_back({decl.name, Shape{}});
      if (decl.kind == AttributeKind::kDType) call.attributes.push_back({decl.name, DType::kI64});
    }
    call.places.resize(call.attributes.size());
    call.block = graph_.AddBlock();
    Op* op = emitter_.Emit(call, graph_.NewName("step_zeros"));
    if (op == nullptr) return Datum();
    graph_.SetBlockOutputs(call.block, {op->result()});
    VariableInfo info;
    info.initializer = call.block;
    training_.step =
        graph_.AddState(graph_.NewName("step"), Type(DType::kI64, {}), std::move(info));
    graph_.SetComment(training_.step, "Steps of training done.");
  }
  return Datum(training_.step);
}

void TrainingValues::NoteOptimizerName(SourceRange range, const Datum& datum) {
  if (!budget_.SpendExtent(datum, range)) return;
  if (std::optional<std::string> text = TextOf(datum))
    (*at_.optimizer)[range.begin] = {range, std::move(*text)};
}

}  // namespace pdl
