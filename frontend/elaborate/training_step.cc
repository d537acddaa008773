#include "frontend/elaborate/training_step.h"

#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/gradients.h"
#include "frontend/elaborate/layer_calls.h"
#include "frontend/elaborate/operator_expressions.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/sugar.h"
#include "frontend/elaborate/training_values.h"
#include "frontend/elaborate/type_reader.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

bool TrainingStep::MakeGradients(const ast::MinimizeStatement* statement, bool is_lazy,
                                 const GraphTraining& training, std::vector<Update>* updates) {
  const SourceRange place = statement->with->range;
  const Operand loss{Datum(training.loss), statement->loss->range};
  llvm::SmallVector<Operand, 4> parameters;
  llvm::SmallVector<std::string, 4> names;
  for (Value* parameter : training.parameters) {
    parameters.push_back({Datum(parameter), place});
    names.push_back(graph_.NewName(parameter->name() + ".grad"));
  }
  Op* op = gradients_.EmitGradient(loss, std::nullopt, parameters, statement->loss->range, names);
  if (op == nullptr) return false;
  for (auto [parameter, gradient] : llvm::zip_equal(training.parameters, op->results()))
    updates->push_back({parameter, {Datum(parameter), place}, {Datum(gradient), place}});
  if (is_lazy)
    for (Update& update : *updates)
      if (!MakeLazy(&update.gradient)) return false;
  // In 16 bits, squares of gradients, small constants and averages over many steps lose precision:
  // the update of such a parameter, and the state of its optimizer, are computed in f32.
  for (Update& update : *updates) {
    if (DTypeSize(update.parameter->type().dtype) != 2) continue;
    if (!Cast(&update.now, DType::kF32) || !Cast(&update.gradient, DType::kF32)) return false;
  }
  return true;
}

void TrainingStep::ElaborateStep(const ast::MinimizeStatement* statement, const Function& optimizer,
                                 GraphTraining* training) {
  const SourceRange place = last_optimizer_ = statement->with->range;
  std::vector<Update> updates;
  if (!MakeGradients(statement, optimizer.arguments.lazy, *training, &updates)) return;
  // First clipped by value, then by the common norm; the decay is added last.
  for (auto& [parameter, now, gradient] : updates) {
    const double bound = parameter->variable().gradient_clipping;
    if (bound == 0) continue;
    Value* clipped = CallStandardLayer("clip_gradient", gradient, {{"bound", bound}},
                                       parameter->name() + ".clipped", place);
    if (clipped == nullptr) return;
    gradient.datum = Datum(clipped);
  }
  std::optional<Operand> factor;
  if (optimizer.arguments.clip_norm) {
    llvm::SmallVector<Operand, 4> gradients;
    for (const Update& update : updates) gradients.push_back(update.gradient);
    Value* scale =
        CallStandardLayer("norm_factor", gradients, {{"limit", *optimizer.arguments.clip_norm}},
                          training->loss->name() + ".norm", place);
    if (scale == nullptr) return;
    factor = Operand{Datum(scale), place};
  }
  std::vector<GraphUpdate>* const outer = std::exchange(at_.step_updates, &training->updates);
  for (const Update& update : updates) {
    Value* next = NextValue(optimizer, update, factor, place);
    if (next == nullptr) break;
    training->updates.push_back({update.parameter, next});
  }
  at_.step_updates = outer;
}

Value* TrainingStep::NextValue(const Function& optimizer, const Update& update,
                               const std::optional<Operand>& factor, SourceRange place) {
  Value* const parameter = update.parameter;
  const double lr_scale = parameter->variable().lr_scale;
  const double decay = parameter->variable().weight_decay;
  const double l1 = parameter->variable().l1;
  Operand gradient = update.gradient;
  if (decay > 0 || l1 > 0 || factor) {
    llvm::SmallVector<Operand, 3> operands = {update.now, gradient};
    if (factor) operands.push_back(*factor);
    Value* regular =
        CallStandardLayer("regularize_gradient", operands, {{"decay", decay}, {"l1", l1}},
                          parameter->name() + ".regular", place);
    if (regular == nullptr) return nullptr;
    gradient.datum = Datum(regular);
  }
  Value* next = CallOptimizer(optimizer, parameter, update.now, gradient, place);
  if (next != nullptr && lr_scale != 1) {
    next = CallStandardLayer("scale_step", {update.now, {Datum(next), place}},
                             {{"scale", lr_scale}}, parameter->name() + ".step", place);
  }
  if (next == nullptr) return nullptr;
  Operand result{Datum(next), place};
  return Cast(&result, parameter->type().dtype) ? result.datum.tensor() : nullptr;
}

Value* TrainingStep::CallOptimizer(const Function& optimizer, Value* parameter, const Operand& now,
                                   const Operand& gradient, SourceRange place) {
  LayerArguments arguments = optimizer.arguments;
  arguments.place = place;
  arguments.operands = {now, gradient};
  const std::string path = parameter->name() + "." + optimizer.callee.name.str();
  const CallResults results = layers_.CallLayer(optimizer.callee, arguments, path,
                                                /*is_instance=*/false, optimizer.active, {});
  const Datum next = expressions_.UseFirst(results, place);
  if (next.holds_poison()) return nullptr;
  if (next.tensor() == nullptr) {
    report_.Error(Code::kBadMinimize, place,
                  "an optimizer returns the new value of a parameter, got " + next.Phrase());
    return nullptr;
  }
  if (!types_.CheckType(next.tensor()->type(), now.datum.tensor()->type(), place,
                        "the new value of '" + parameter->name() + "'"))
    return nullptr;
  return next.tensor();
}

Value* TrainingStep::CallStandardLayer(
    llvm::StringRef name, llvm::ArrayRef<Operand> operands,
    llvm::ArrayRef<std::pair<llvm::StringRef, double>> attributes, llvm::StringRef path,
    SourceRange place) {
  auto standard = files_.standard_layers.find(name);
  if (standard == files_.standard_layers.end()) {
    report_.Error(Code::kUnknownOperator, place, "there is no standard layer '" + name + "'");
    return nullptr;
  }
  Callee callee;
  callee.name = standard->first();
  callee.module = standard->second;
  callee.layer = standard->second->layers.lookup(name);
  LayerArguments arguments;
  arguments.file = at_.file;
  arguments.place = place;
  arguments.operands.append(operands.begin(), operands.end());
  for (const auto& [attribute, value] : attributes)
    arguments.named.push_back(
        {ast::Identifier{attribute, place}, Datum(Datum::Real{value}), place});
  const CallResults results =
      layers_.CallLayer(callee, arguments, path, /*is_instance=*/false, at_.frame->active, {});
  return expressions_.UseFirst(results, place).tensor();
}

bool TrainingStep::MakeLazy(Operand* gradient) {
  Call call;
  call.def = callees_.FindOperator(sugar::kLazyRows);
  call.place = gradient->range;
  call.operands = {*gradient};
  const Value* value = gradient->datum.tensor();
  Op* op = emitter_.Emit(call, graph_.NewName(value->name() + ".lazy"));
  if (op != nullptr) gradient->datum = Datum(op->result());
  return op != nullptr;
}

bool TrainingStep::Cast(Operand* operand, DType dtype) {
  const Value* value = operand->datum.tensor();
  if (value->type().dtype == dtype) return true;
  Call call;
  call.def = callees_.FindOperator(sugar::kCast);
  call.place = operand->range;
  call.operands = {*operand};
  call.attributes.push_back({sugar::kCastTo.str(), dtype});
  Op* op = emitter_.Emit(call, graph_.NewName(value->name() + "." + DTypeName(dtype).str()));
  if (op != nullptr) operand->datum = Datum(op->result());
  return op != nullptr;
}

void TrainingStep::CountStep() {
  if (training_.step == nullptr) {
    // Flat source declares it.
    Value* declared = graph_.FindValue("step");
    const bool is_free = declared != nullptr && declared->kind() == ValueKind::kState &&
                         declared->type() == Type(DType::kI64, {}) &&
                         llvm::none_of(graph_.updates(), [&](const GraphUpdate& update) {
                           return update.state == declared;
                         });
    if (is_free) training_.step = declared;
  }
  const Value* step = training_values_.EvaluateStep().tensor();
  if (step == nullptr) return;
  at_.frame->base = "step";
  const Operand now{Datum(training_.step), last_optimizer_};
  const Operand one{Datum(int64_t{1}), last_optimizer_};
  const Datum next = operators_.EvaluateInfix({ast::Operator::kAdd, last_optimizer_}, now, one, {});
  if (next.tensor() != nullptr) graph_.AddUpdate(training_.step, next.tensor());
}

}  // namespace pdl
