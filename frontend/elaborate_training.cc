// What belongs to training: `training`, `step`, `minimize`, names of parameters.
#include "frontend/elaborator.h"
#include "frontend/format_tokens.h"
#include "frontend/sugar.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/attribute.h"

namespace pdl {

Datum Elaborator::EvaluateTraining(SourceRange range) {
  for (const TextFrame* frame = frame_; frame != nullptr; frame = frame->caller)
    if (frame->training_off) return Datum(false);
  if (training_ == nullptr) {
    Call call;
    call.def = FindOperator(sugar::kTraining);
    call.place = range;
    Op* op = Emit(call, graph_.NewName(sugar::kTraining));
    if (op == nullptr) return Datum();
    training_ = op->result();
  }
  return Datum(training_);
}

Datum Elaborator::EvaluateStep() {
  if (step_ == nullptr && in_minimize_ && !request_.training_step) {
    // Checked, and then forgotten.
    return Datum(EmitConstant(Constant::Scalar(DType::kI64, 0), {}, {}));
  }
  if (step_ == nullptr) {
    Call call;
    call.def = FindOperator(sugar::kFirstStep);
    if (call.def == nullptr) return Datum();
    for (const AttributeDecl& decl : call.def->signature.attributes) {
      if (decl.kind == AttributeKind::kShape) call.attributes.push_back({decl.name, Shape{}});
      if (decl.kind == AttributeKind::kDType) call.attributes.push_back({decl.name, DType::kI64});
    }
    call.places.resize(call.attributes.size());
    call.block = graph_.AddBlock();
    Op* op = Emit(call, graph_.NewName("step_zeros"));
    if (op == nullptr) return Datum();
    graph_.SetBlockOutputs(call.block, {op->result()});
    VariableInfo info;
    info.initializer = call.block;
    step_ = graph_.AddState(graph_.NewName("step"), Type(DType::kI64, {}), std::move(info));
    graph_.SetComment(step_, "Steps of training done.");
  }
  return Datum(step_);
}

// ---------------------------------------------------------------------------------------------
// Parameters by name

std::vector<std::string> Elaborator::WaysOf(llvm::StringRef name) {
  std::vector<std::string> ways;
  const auto instance = frame_->instances.find(name);
  if (instance != frame_->instances.end() && instance->second != nullptr &&
      !instance->second->path.empty()) {
    ways.push_back(instance->second->path);
  }
  if (auto found = frame_->ways.find(name); found != frame_->ways.end())
    ways.insert(ways.end(), found->second.begin(), found->second.end());
  if (auto found = frame_->scope.find(name); found != frame_->scope.end()) {
    const auto* function = found->second.get<Datum::FunctionValue>();
    if (function != nullptr && !(*function)->path.empty()) ways.push_back((*function)->path);
  }
  if (ways.empty()) ways.push_back(FullName(name));
  return ways;
}

std::vector<Value*> Elaborator::ParametersBelow(llvm::StringRef name) {
  const std::vector<std::string> ways = WaysOf(name);
  std::vector<Value*> found;
  if (IsRepeated() && !Spend(graph_.parameters().size() * ways.size() / 8, {})) return found;
  for (Value* parameter : graph_.parameters()) {
    const llvm::StringRef full = parameter->name();
    const bool is_below = llvm::any_of(ways, [&](const std::string& way) {
      return full.starts_with(way) && (full.size() == way.size() || full[way.size()] == '.');
    });
    if (is_below) found.push_back(parameter);
  }
  return found;
}

bool Elaborator::ReadParameters(const ast::Expr* expr, std::vector<Value*>* parameters) {
  if (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(expr))
    return ReadParameters(parenthesis->inner, parameters);
  if (const auto* list = llvm::dyn_cast<ast::ListExpr>(expr)) {
    bool ok = true;
    for (const ast::Argument& item : list->items) ok &= ReadParameters(item.value, parameters);
    return ok;
  }
  if (const auto* call = llvm::dyn_cast<ast::CallExpr>(expr)) {
    const Datum datum = Evaluate(call);
    if (datum.is_poison()) return false;
    for (const Datum& item : datum.list() != nullptr ? *datum.list() : std::vector<Datum>()) {
      Value* parameter = item.tensor();
      if (parameter != nullptr && parameter->kind() == ValueKind::kParameter &&
          !llvm::is_contained(*parameters, parameter))
        parameters->push_back(parameter);
    }
    if (datum.list() != nullptr) return true;
  }
  const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
  if (name == nullptr && !llvm::isa<ast::MemberExpr>(expr)) {
    Error(Code::kOperandKind, expr->range,
          "wanted the name of a layer, a value or a parameter, or a list of such");
    return false;
  }
  const llvm::StringRef text = file_->Text(expr->range);
  const std::vector<Value*> found = ParametersBelow(text);
  if (!found.empty()) {
    for (Value* parameter : found)
      if (!llvm::is_contained(*parameters, parameter)) parameters->push_back(parameter);
    return true;
  }
  const bool is_known = name != nullptr && (frame_->scope.contains(name->name) ||
                                            frame_->instances.contains(name->name));
  // The calls that would make them may have failed.
  if (IsBroken(text) || (is_known && diagnostics_->has_errors())) return false;
  if (!is_known && name != nullptr) {
    ReportUnknownName(name);
    return false;
  }
  // They may be lacking for a mistake that is known.
  auto is_spoiled = [&](const std::string& way) { return spoiled_ways_.contains(way); };
  const auto value = frame_->scope.find(text);
  if ((value != frame_->scope.end() && value->second.holds_poison()) ||
      llvm::any_of(WaysOf(text), is_spoiled)) {
    return false;
  }
  Error(Code::kUnknownName, expr->range, "there are no parameters below '" + text + "'");
  return false;
}

// ---------------------------------------------------------------------------------------------

namespace {

/// What stands for a datum in a text without the names of this one; none for a function.
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

void Elaborator::NoteOptimizerName(SourceRange range, const Datum& datum) {
  if (!SpendExtent(datum, range)) return;
  if (std::optional<std::string> text = TextOf(datum))
    optimizer_names_[range.begin] = {range, std::move(*text)};
}

std::string Elaborator::OptimizerText(SourceRange range) const {
  std::string text;
  uint32_t from = range.begin;
  for (const auto& [begin, name] : optimizer_names_) {
    text += file_->Text({from, begin});
    text += name.second;
    from = name.first.end;
  }
  return OneLine(text + file_->Text({from, range.end}).str());
}

Datum Elaborator::ReadOptimizer(const ast::Expr* expr) {
  const size_t num_ops = graph_.ops().size();
  optimizer_names_.clear();
  Value* const training = training_;
  in_minimize_ = true;
  Datum optimizer = ReadFunction(expr);
  in_minimize_ = false;
  if (request_.training_step) return optimizer;
  // What a learning rate is computed from is part of training alone.
  llvm::DenseSet<const Op*> added;
  for (const Op* op : graph_.ops().drop_front(num_ops)) added.insert(op);
  graph_.EraseOps({}, [&](const Op& op) { return added.contains(&op); });
  training_ = training;
  return optimizer;
}

void Elaborator::ElaborateMinimize(const ast::MinimizeStatement* statement) {
  frame_->base = "loss";
  const Datum loss_datum = Evaluate(statement->loss);
  bool ok = !loss_datum.holds_poison();
  Value* loss = loss_datum.tensor();
  if (ok && (loss == nullptr || !loss->type().is_scalar() || !IsFloat(loss->type().dtype))) {
    Diagnostic& diagnostic =
        Error(Code::kBadMinimize, statement->loss->range,
              "a loss is a floating-point scalar, got " +
                  (loss == nullptr ? loss_datum.Phrase() : loss->type().ToString()));
    if (loss != nullptr && IsFloat(loss->type().dtype))
      diagnostic.Note("mean(" + file_->Text(statement->loss->range).str() + ") is one");
    ok = false;
  }
  GraphTraining training;
  training.loss = loss;
  training.location = LocationAt(statement->range.begin);
  std::vector<Value*> parameters;
  if (statement->over != nullptr) {
    ok &= ReadParameters(statement->over, &parameters);
  } else {
    parameters.assign(graph_.parameters().begin(), graph_.parameters().end());
  }
  for (Value* parameter : parameters)
    if (parameter->variable().trainable) training.parameters.push_back(parameter);
  if (ok && training.parameters.empty()) {
    const SourceRange range =
        statement->over != nullptr ? statement->over->range : statement->loss->range;
    const std::string where =
        statement->over != nullptr ? " of '" + file_->Text(range).str() + "'" : "";
    Error(Code::kBadMinimize, range,
          "there is nothing to learn: no parameter" + where + " is trainable");
    ok = false;
  }
  for (const GraphTraining& other : graph_.trainings()) {
    const auto shared = llvm::find_if(training.parameters, [&](const Value* parameter) {
      return llvm::is_contained(other.parameters, parameter);
    });
    if (!ok || shared == training.parameters.end()) continue;
    const SourceRange range =
        statement->over != nullptr ? statement->over->range : statement->loss->range;
    Diagnostic& diagnostic =
        Error(Code::kBadMinimize, range,
              "'" + (*shared)->name() + "' is changed by another minimize already");
    NoteAtLocation(&diagnostic, other.location, "here");
    ok = false;
  }
  const Datum with = ReadOptimizer(statement->with);
  ok &= !with.is_poison();
  const auto* optimizer = with.get<Datum::FunctionValue>();
  if (!with.is_poison()) {
    size_t tensors = 0;
    if (optimizer != nullptr && (*optimizer)->callee.layer != nullptr) {
      for (const ast::Parameter& parameter : (*optimizer)->callee.layer->parameters) {
        tensors += parameter.type->is_tensor() && parameter.default_value == nullptr &&
                   !parameter.is_repeatable;
      }
    }
    if (tensors != 2) {
      Error(Code::kBadMinimize, statement->with->range,
            "an optimizer is a layer from a parameter and its gradient, such as adam(lr=0.001)");
      ok = false;
    }
  }
  training.optimizer = OptimizerText(statement->with->range);
  if (statement->every != nullptr) {
    const Datum every = Evaluate(statement->every);
    const auto* number = every.get<int64_t>();
    if (number == nullptr || *number < 1 || *number > INT32_MAX) {
      if (!every.holds_poison()) {
        Error(Code::kBadMinimize, statement->every->range,
              "'every' counts steps: an int of at least 1, got " + every.Phrase());
      }
      ok = false;
    } else {
      training.every = static_cast<uint32_t>(*number);
    }
  }
  if (!ok || !CheckReached(statement, &training)) return;
  if (request_.training_step) ElaborateStep(statement, **optimizer, &training);
  graph_.AddTraining(std::move(training));
}

}  // namespace pdl
