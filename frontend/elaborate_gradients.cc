// `grad`, and what a step of training does with gradients.
#include "frontend/elaborator.h"
#include "frontend/sugar.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/differentiate.h"

namespace pdl {

void Elaborator::NoteAtLocation(Diagnostic* diagnostic, LocationId id, std::string text) {
  if (id == kUnknownLocation) return;
  const Location& location = graph_.locations()[id];
  for (const Module& module : modules_) {
    if (module.file_index != location.file || location.line > module.file->num_lines()) continue;
    // Columns count characters.
    const llvm::StringRef line = module.file->Line(location.line);
    size_t offset = 0;
    for (uint32_t column = 1; column < location.column && offset < line.size(); ++column) {
      do {
        ++offset;
      } while (offset < line.size() && (static_cast<unsigned char>(line[offset]) & 0xC0) == 0x80);
    }
    const auto begin = module.file->LineBegin(location.line) + static_cast<uint32_t>(offset);
    const size_t length = line.drop_front(offset)
                              .take_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
                              .size();
    diagnostic->NoteAt(module.file,
                       {begin, begin + static_cast<uint32_t>(std::max<size_t>(length, 1))},
                       std::move(text));
    return;
  }
}

bool Elaborator::CheckFlow(const GradientFlow& flow, SourceRange place, const llvm::Twine& from,
                           const llvm::Twine& to) {
  if (flow.without_rule != nullptr) {
    Diagnostic& diagnostic =
        Error(Code::kBadGradient, place,
              "the way back from '" + from + "' to " + to + " leads through '" +
                  flow.without_rule->type() + "', which has no gradient");
    NoteAtLocation(&diagnostic, flow.without_rule->location(), "here");
    diagnostic.Note("stop_gradient(…) in front of it counts what it is given as a constant");
    return false;
  }
  if (llvm::is_contained(flow.reaches, true)) return true;
  Diagnostic& diagnostic =
      Error(Code::kBadGradient, place, "no change of " + to + " moves '" + from + "'");
  if (flow.stop != nullptr) {
    NoteAtLocation(&diagnostic, flow.stop->location(),
                   "'" + flow.stop->type() + "' gives " + flow.stop->result()->type().ToString() +
                       ", which changes by jumps only");
  }
  return false;
}

namespace {

// Whether `value` is computed from `from`, by whatever calls.
bool DependsOn(Value* value, const Value* from) {
  llvm::SmallVector<Value*, 16> pending = {value};
  llvm::DenseSet<const Value*> seen;
  while (!pending.empty()) {
    Value* next = pending.pop_back_val();
    if (next == from) return true;
    if (next->producer() == nullptr || !seen.insert(next).second) continue;
    pending.append(next->producer()->operands().begin(), next->producer()->operands().end());
  }
  return false;
}

}  // namespace

void Elaborator::ReportIndependence(const Operand& y, const Operand& x) {
  Diagnostic& diagnostic = Error(Code::kBadGradient, x.range,
                                 "'" + file_->Text(y.range) + "' does not depend on '" +
                                     file_->Text(x.range) + "' as it is here");
  // Where the name was given another value after the loss had used it.
  const llvm::StringRef name = file_->Text(x.range);
  if (const auto last = frame_->assigned.find(name); last != frame_->assigned.end())
    diagnostic.NoteAt(file_, last->second, "'" + name.str() + "' was assigned here");
}

bool Elaborator::CheckDerivedBy(const Operand& x) {
  const Value* tensor = x.datum.tensor();
  if (tensor == nullptr) {
    Error(Code::kOperandKind, x.range,
          "a gradient is by a tensor, or by a list of them, got " + x.datum.Phrase());
    return false;
  }
  if (IsFloat(tensor->type().dtype) && !tensor->type().is_sparse()) return true;
  Error(Code::kBadGradient, x.range,
        "a gradient is by a dense or ragged tensor of floats, got " + tensor->type().ToString());
  return false;
}

Op* Elaborator::EmitGradient(const Operand& y, std::optional<Operand> dy,
                             llvm::ArrayRef<Operand> xs, SourceRange place, Targets targets) {
  const Type type = y.datum.tensor()->type();
  if (!dy) {
    // A loss counts as itself.
    Value* one = EmitConstant(Constant::Scalar(type.dtype, 1), y.range, {});
    if (one == nullptr) return nullptr;
    dy = Operand{Datum(one), y.range};
  }
  Call call;
  call.def = FindOperator(sugar::kGradient);
  call.place = place;
  call.operands = {y, *dy};
  call.operands.append(xs.begin(), xs.end());
  call.attributes.push_back({sugar::kGradientCount.str(), static_cast<int64_t>(xs.size())});
  call.places.resize(1, {{}, place, nullptr, {}});
  return Emit(call, targets);
}

Elaborator::Results Elaborator::EvaluateGrad(const ast::CallExpr* expr, const Operand* piped,
                                             Targets targets) {
  Results results;
  if (body_ != nullptr) {
    NotYet(expr->callee->range, "'grad' in the body of a loop is");
    return results;
  }
  llvm::SmallVector<Operand, 3> given;
  if (piped != nullptr) given.push_back(*piped);
  bool ok = true;
  for (const ast::Argument& argument : expr->arguments) {
    if (argument.is_named()) {
      Error(Code::kUnknownAttribute, argument.name.range,
            "'grad' has no attributes: grad(loss, x), or grad(y, x, dy)");
      return results;
    }
    given.push_back({Evaluate(argument.value), argument.value->range});
  }
  for (const Operand& operand : given) ok &= !operand.datum.holds_poison();
  if (!ok) return results;
  if (given.size() < 2 || given.size() > 3) {
    Error(Code::kOperandCount, expr->callee->range,
          "'grad' takes a loss and what it is derived by, got " + llvm::Twine(given.size()) +
              (given.size() == 1 ? " input" : " inputs"));
    return results;
  }
  const Operand& y = given[0];
  Value* output = y.datum.tensor();
  if (output == nullptr || !IsFloat(output->type().dtype) || output->type().is_sparse()) {
    Error(Code::kBadGradient, y.range,
          "a gradient is of a tensor of floats, got " +
              (output == nullptr ? y.datum.Phrase() : output->type().ToString()));
    return results;
  }
  if (given.size() == 2 && !output->type().is_scalar()) {
    Error(Code::kBadGradient, y.range,
          "a gradient is of a scalar, got " + output->type().ToString())
        .Note("sum(…) or mean(…) makes one; grad(y, x, dy) takes the cotangent of y");
    return results;
  }
  const bool is_list = given[1].datum.list() != nullptr;
  llvm::SmallVector<Operand, 4> xs;
  if (is_list) {
    for (const Datum& item : *given[1].datum.list()) xs.push_back({item, given[1].range});
    const auto* list = llvm::dyn_cast<ast::ListExpr>(expr->arguments[piped == nullptr].value);
    for (size_t i = 0; list != nullptr && i < xs.size(); ++i) {
      if (list->items.size() == xs.size()) xs[i].range = list->items[i].value->range;
    }
  } else {
    xs.push_back(given[1]);
  }
  if (xs.empty()) {
    Error(Code::kBadGradient, given[1].range, "there is nothing to derive by: the list is empty");
    return results;
  }
  for (const Operand& x : xs) ok &= CheckDerivedBy(x);
  if (!ok) return results;
  // The way back is as long as what the loss is computed from.
  if (IsRepeated() && !SpendCalls(graph_.ops().size(), expr->range)) return results;
  for (const Operand& x : xs) {
    Value* value = x.datum.tensor();
    if (!DependsOn(output, value)) {
      ReportIndependence(y, x);
      return results;
    }
    const GradientFlow flow = FindGradientFlow(graph_, output, value);
    if (!CheckFlow(flow, x.range, file_->Text(y.range), "'" + file_->Text(x.range) + "'"))
      return results;
  }
  std::optional<Operand> dy;
  if (given.size() == 3) {
    dy = given[2];
    Value* cotangent = AsTensor(dy->datum, dy->range, output->type().dtype, {});
    if (cotangent == nullptr ||
        !CheckType(cotangent->type(), output->type(), dy->range, "the cotangent"))
      return results;
    dy->datum = Datum(cotangent);
  }
  const bool is_named = targets.size() == xs.size() || (targets.size() == 1 && !is_list);
  Op* op = EmitGradient(y, dy, xs, expr->callee->range, is_named ? targets : Targets());
  if (op == nullptr) return results;
  if (!is_list || targets.size() > 1) return ResultsOf(op);
  std::vector<Datum> items;
  for (Value* result : op->results()) items.push_back(Datum(result));
  if (IsRepeated() && !MayGrow(0, items.size(), expr->range)) return results;
  results.all.push_back({"", MakeList(std::move(items), expr->range), expr->range});
  return results;
}

// ---------------------------------------------------------------------------------------------
// A step

bool Elaborator::CheckReached(const ast::MinimizeStatement* statement, GraphTraining* training) {
  const GradientFlow flow = FindGradientFlow(graph_, training->loss, training->parameters);
  const bool is_said = statement->over != nullptr;
  const SourceRange place = is_said ? statement->over->range : statement->loss->range;
  const std::string over = is_said ? "'" + file_->Text(place).str() + "'" : "any parameter";
  if (!CheckFlow(flow, place, file_->Text(statement->loss->range), over)) return false;
  // What it does not move is left as it is.
  std::vector<Value*> reached;
  for (auto [parameter, reaches] : llvm::zip_equal(training->parameters, flow.reaches))
    if (reaches) reached.push_back(parameter);
  training->parameters = std::move(reached);
  return true;
}

Value* Elaborator::CallStandardLayer(llvm::StringRef name, llvm::ArrayRef<Operand> operands,
                                     llvm::ArrayRef<std::pair<llvm::StringRef, double>> attributes,
                                     llvm::StringRef path, SourceRange place) {
  auto standard = standard_layers_.find(name);
  if (standard == standard_layers_.end()) {
    Error(Code::kUnknownOperator, place, "there is no standard layer '" + name + "'");
    return nullptr;
  }
  Callee callee;
  callee.name = standard->first();
  callee.module = standard->second;
  callee.layer = standard->second->layers.lookup(name);
  LayerArguments arguments;
  arguments.file = file_;
  arguments.place = place;
  arguments.operands.append(operands.begin(), operands.end());
  for (const auto& [attribute, value] : attributes)
    arguments.named.push_back(
        {ast::Identifier{attribute, place}, Datum(Datum::Real{value}), place});
  const Results results =
      CallLayer(callee, arguments, path, /*is_instance=*/false, frame_->active, {});
  return UseFirst(results, place).tensor();
}

Value* Elaborator::CallOptimizer(const Function& optimizer, Value* parameter, const Operand& now,
                                 const Operand& gradient, SourceRange place) {
  LayerArguments arguments = optimizer.arguments;
  arguments.place = place;
  arguments.operands = {now, gradient};
  const std::string way = parameter->name() + "." + optimizer.callee.name.str();
  const Results results =
      CallLayer(optimizer.callee, arguments, way, /*is_instance=*/false, optimizer.active, {});
  const Datum next = UseFirst(results, place);
  if (next.holds_poison()) return nullptr;
  if (next.tensor() == nullptr) {
    Error(Code::kBadMinimize, place,
          "an optimizer gives the next value of a parameter, got " + next.Phrase());
    return nullptr;
  }
  if (!CheckType(next.tensor()->type(), now.datum.tensor()->type(), place,
                 "the next value of '" + parameter->name() + "'"))
    return nullptr;
  return next.tensor();
}

bool Elaborator::MakeLazy(Operand* gradient) {
  Call call;
  call.def = FindOperator(sugar::kLazyRows);
  call.place = gradient->range;
  call.operands = {*gradient};
  const Value* value = gradient->datum.tensor();
  Op* op = Emit(call, graph_.NewName(value->name() + ".lazy"));
  if (op != nullptr) gradient->datum = Datum(op->result());
  return op != nullptr;
}

bool Elaborator::Cast(Operand* operand, DType dtype) {
  const Value* value = operand->datum.tensor();
  if (value->type().dtype == dtype) return true;
  Call call;
  call.def = FindOperator(sugar::kCast);
  call.place = operand->range;
  call.operands = {*operand};
  call.attributes.push_back({sugar::kCastTo.str(), dtype});
  Op* op = Emit(call, graph_.NewName(value->name() + "." + DTypeName(dtype).str()));
  if (op != nullptr) operand->datum = Datum(op->result());
  return op != nullptr;
}

void Elaborator::ElaborateStep(const ast::MinimizeStatement* statement, const Function& optimizer,
                               GraphTraining* training) {
  const SourceRange place = statement->with->range;
  const Operand loss{Datum(training->loss), statement->loss->range};
  llvm::SmallVector<Operand, 4> parameters, gradients;
  llvm::SmallVector<std::string, 4> names;
  for (Value* parameter : training->parameters) {
    parameters.push_back({Datum(parameter), place});
    names.push_back(graph_.NewName(parameter->name() + ".grad"));
  }
  Op* op = EmitGradient(loss, std::nullopt, parameters, statement->loss->range, names);
  if (op == nullptr) return;
  for (Value* gradient : op->results()) gradients.push_back({Datum(gradient), place});
  if (optimizer.arguments.lazy)
    for (Operand& gradient : gradients)
      if (!MakeLazy(&gradient)) return;
  // In 16 bits squares of gradients, small constants and averages over many steps are lost: the
  // step of such a parameter, and the state of its optimizer, are of f32.
  for (auto [now, gradient] : llvm::zip_equal(parameters, gradients)) {
    if (DTypeSize(now.datum.tensor()->type().dtype) != 2) continue;
    if (!Cast(&now, DType::kF32) || !Cast(&gradient, DType::kF32)) return;
  }
  // By value first, then by the norm of all, then the decay.
  for (auto [gradient, parameter] : llvm::zip_equal(gradients, training->parameters)) {
    const double bound = parameter->variable().gradient_clipping;
    if (bound == 0) continue;
    Value* clipped = CallStandardLayer("clip_gradient", gradient, {{"bound", bound}},
                                       parameter->name() + ".clipped", place);
    if (clipped == nullptr) return;
    gradient.datum = Datum(clipped);
  }
  std::optional<Operand> factor;
  if (optimizer.arguments.clip_norm) {
    Value* scale =
        CallStandardLayer("norm_factor", gradients, {{"limit", *optimizer.arguments.clip_norm}},
                          training->loss->name() + ".norm", place);
    if (scale == nullptr) return;
    factor = Operand{Datum(scale), place};
  }
  std::vector<GraphUpdate>* const outer = std::exchange(step_updates_, &training->updates);
  for (auto [gradient, now, parameter] :
       llvm::zip_equal(gradients, parameters, training->parameters)) {
    const VariableInfo& info = parameter->variable();
    const double lr_scale = info.lr_scale;
    if (info.weight_decay > 0 || factor) {
      llvm::SmallVector<Operand, 3> operands = {now, gradient};
      if (factor) operands.push_back(*factor);
      Value* regular =
          CallStandardLayer("regularize_gradient", operands, {{"decay", info.weight_decay}},
                            parameter->name() + ".regular", place);
      if (regular == nullptr) break;
      gradient.datum = Datum(regular);
    }
    Value* next = CallOptimizer(optimizer, parameter, now, gradient, place);
    if (next != nullptr && lr_scale != 1) {
      next = CallStandardLayer("scale_step", {now, {Datum(next), place}}, {{"scale", lr_scale}},
                               parameter->name() + ".step", place);
    }
    if (next == nullptr) break;
    Operand result{Datum(next), place};
    if (!Cast(&result, parameter->type().dtype)) break;
    training->updates.push_back({parameter, result.datum.tensor()});
  }
  step_updates_ = outer;
}

void Elaborator::CountStep() {
  if (step_ == nullptr) {
    // Flat text declares it.
    Value* declared = graph_.FindValue("step");
    const bool is_free = declared != nullptr && declared->kind() == ValueKind::kState &&
                         declared->type() == Type(DType::kI64, {}) &&
                         llvm::none_of(graph_.updates(), [&](const GraphUpdate& update) {
                           return update.state == declared;
                         });
    if (is_free) step_ = declared;
  }
  const Value* step = EvaluateStep().tensor();
  if (step == nullptr) return;
  frame_->base = "step";
  const Operand now{Datum(step_), {}};
  const Operand one{Datum(int64_t{1}), {}};
  const Datum next = EvaluateInfix({ast::Operator::kAdd, {}}, now, one, {});
  if (next.tensor() != nullptr) graph_.AddUpdate(step_, next.tensor());
}

}  // namespace pdl
